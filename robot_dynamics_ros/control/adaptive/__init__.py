# SPDX-License-Identifier: Apache-2.0
"""Adaptive control: the laws of Lu and Meng, Craig, and Slotine and Li, sampled and streamed."""
