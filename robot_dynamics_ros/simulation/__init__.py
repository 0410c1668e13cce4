# SPDX-License-Identifier: Apache-2.0
"""A robot to talk to when there is none."""
