# SPDX-License-Identifier: Apache-2.0
"""Other people's identification, side by side with ours: the same rows, the same held-out part."""
