# SPDX-License-Identifier: Apache-2.0
"""Recordings: read, written, checked, cleaned, with efforts as joint torques."""
