# SPDX-License-Identifier: Apache-2.0
"""Compiled models: the recursions of dynamics/ behind one fast interface."""
