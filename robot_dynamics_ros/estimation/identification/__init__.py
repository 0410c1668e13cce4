# SPDX-License-Identifier: Apache-2.0
"""Identification of a recording: settings, study, verdict, result, report."""
