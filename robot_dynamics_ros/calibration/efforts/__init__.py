# SPDX-License-Identifier: Apache-2.0
"""What efforts mean, found out from slow motion."""
