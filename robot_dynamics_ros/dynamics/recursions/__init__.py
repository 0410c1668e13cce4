# SPDX-License-Identifier: Apache-2.0
"""The recursions that the package runs, each written once over scalars."""
