# SPDX-License-Identifier: Apache-2.0
"""The page in the browser: a robot, its dynamics, and what is learned while it works."""
