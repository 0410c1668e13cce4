# SPDX-License-Identifier: Apache-2.0
"""The calibration of a robot, step by step: what is tested, played, watched, kept and judged."""
