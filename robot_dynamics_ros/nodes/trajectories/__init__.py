# SPDX-License-Identifier: Apache-2.0
"""Trajectories on their way through a node: read, filled, relayed, and float without one."""
