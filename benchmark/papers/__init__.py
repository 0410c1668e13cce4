# SPDX-License-Identifier: Apache-2.0
"""docs/papers.md: the tables, examples and errata of the five papers, calculated anew."""
