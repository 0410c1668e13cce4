# SPDX-License-Identifier: Apache-2.0
"""What nodes are made of: base classes, settings, messages, diagnostics."""
