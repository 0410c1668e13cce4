# SPDX-License-Identifier: Apache-2.0
"""Files with results: parameters, identified URDF, history, checkpoints."""
