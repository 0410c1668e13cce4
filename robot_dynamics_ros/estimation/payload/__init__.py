# SPDX-License-Identifier: Apache-2.0
"""What a robot carries, and the gains of its drives."""
