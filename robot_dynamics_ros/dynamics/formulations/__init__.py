# SPDX-License-Identifier: Apache-2.0
"""The formulations of the papers, to study and to check each other."""
