# SPDX-License-Identifier: Apache-2.0
"""What the recursions are written in: vectors, wrenches, frames and series over scalars."""
