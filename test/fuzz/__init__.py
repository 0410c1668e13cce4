# SPDX-License-Identifier: Apache-2.0
"""Damaged and hostile input, made from valid examples: nothing but our own errors may come out."""
