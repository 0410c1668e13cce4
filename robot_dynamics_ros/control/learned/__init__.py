# SPDX-License-Identifier: Apache-2.0
"""Learned parameters on their way into a running model: judged, blended in, taken back."""
