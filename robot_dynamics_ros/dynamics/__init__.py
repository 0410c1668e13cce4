# SPDX-License-Identifier: Apache-2.0
"""The equations of motion of the papers, each written once over plain scalars."""
