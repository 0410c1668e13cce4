# SPDX-License-Identifier: Apache-2.0
"""Recordings: reading, writing, checking and cleaning them, and joint torques from efforts."""
