# SPDX-License-Identifier: Apache-2.0
"""Commands that read recordings, and what was learned from them."""
