# SPDX-License-Identifier: Apache-2.0
"""Trajectory to torque: splines, feedforward, computed torque, streaming."""
