# SPDX-License-Identifier: Apache-2.0
"""The Model and the compiled functions behind it."""
