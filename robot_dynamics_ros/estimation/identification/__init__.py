# SPDX-License-Identifier: Apache-2.0
"""Identification from recordings: least squares, held-out test, verdict, report."""
