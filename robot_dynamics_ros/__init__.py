# SPDX-License-Identifier: Apache-2.0
"""URDF in, feedforward torque out, minimal parameters learned while the robot works."""
