# SPDX-License-Identifier: Apache-2.0
"""
Other physics as judge (``make proof``): the package against engines that others have written.

Each engine reads URDFs with its own reader. Two questions: does it compute the torques that our
rigid model computes, and does an arm that lives in it, and that its URDF describes wrongly, follow
better with what our package has learned from its joint states?
"""
