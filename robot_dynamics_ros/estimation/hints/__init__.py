# SPDX-License-Identifier: Apache-2.0
"""Hints at the cause where a recording does not fit its robot, each with its remedy."""
