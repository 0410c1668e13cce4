# SPDX-License-Identifier: Apache-2.0
"""The robot-dynamics command; thin."""
