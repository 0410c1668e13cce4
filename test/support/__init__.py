# SPDX-License-Identifier: Apache-2.0
"""What several tests need: chains, an outside oracle, tolerances."""
