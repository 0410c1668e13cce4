# SPDX-License-Identifier: Apache-2.0
"""URDF text to Chain and back: checked XML, tree of links, joint axes, reader, writer."""
