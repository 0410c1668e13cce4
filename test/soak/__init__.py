# SPDX-License-Identifier: Apache-2.0
"""Nodes under load for minutes: make soak."""
