# SPDX-License-Identifier: Apache-2.0
"""Programs as source for people: Python, C, and stand-alone files."""
