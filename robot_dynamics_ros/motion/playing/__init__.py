# SPDX-License-Identifier: Apache-2.0
"""A motion that is played, and how it was tracked."""
