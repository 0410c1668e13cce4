# SPDX-License-Identifier: Apache-2.0
"""Parts of the nodes: base classes, settings, messages, diagnostics."""
