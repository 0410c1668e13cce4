# SPDX-License-Identifier: Apache-2.0
"""Recursive least squares for streams: updates, outliers, standard deviations, learning state."""
