# SPDX-License-Identifier: Apache-2.0
"""Sets of minimal linear combinations (MLCs) of the link inertias, and estimates of them."""
