# SPDX-License-Identifier: Apache-2.0
"""Studies of the papers: the case study of Lu and Meng, and its Lyapunov function."""
