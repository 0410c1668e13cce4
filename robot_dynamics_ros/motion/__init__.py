# SPDX-License-Identifier: Apache-2.0
"""Trajectories, joint states and limits: what moves, when, and how far it may."""
