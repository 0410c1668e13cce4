# SPDX-License-Identifier: Apache-2.0
"""Rows of the regressor, the unknowns, and their least squares."""
