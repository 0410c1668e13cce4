# SPDX-License-Identifier: Apache-2.0
"""The two demos: nodes, robot and report in one command."""
