# SPDX-License-Identifier: Apache-2.0
"""What was learned, in files: parameters, URDF, history, the state of an estimator."""
