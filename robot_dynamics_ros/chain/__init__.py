# SPDX-License-Identifier: Apache-2.0
"""URDF text to Chain: joints in normal driving-axis frames, link inertias, limits, physics."""
