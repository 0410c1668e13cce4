# SPDX-License-Identifier: Apache-2.0
"""Physically consistent inertias: the nearest ones that real bodies can have."""
