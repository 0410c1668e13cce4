# SPDX-License-Identifier: Apache-2.0
"""What commands share: arguments, tables, progress, installed files."""
