# SPDX-License-Identifier: Apache-2.0
"""
The generated models beside other people's software, in one run: ``make bench-peers``.

Every peer gets the same robot and the same states, and its results are compared with ours before
it is timed. What a peer cannot do, or where it does not install, is left out, and said.
"""
