# SPDX-License-Identifier: Apache-2.0
"""Design of exciting trajectories for identification."""
