# SPDX-License-Identifier: Apache-2.0
"""Smoothed positions, velocities and accelerations, from a recording or from a stream."""
