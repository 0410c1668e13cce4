# SPDX-License-Identifier: Apache-2.0
"""Programs as LLVM instructions, and from there as machine code."""
