# SPDX-License-Identifier: Apache-2.0
"""The nearest inertias that real bodies can have."""
