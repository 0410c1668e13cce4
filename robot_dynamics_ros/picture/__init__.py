# SPDX-License-Identifier: Apache-2.0
"""Pictures of a robot: all links of its description as triangles, drawn without a window."""
