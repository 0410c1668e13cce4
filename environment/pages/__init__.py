# SPDX-License-Identifier: Apache-2.0
"""Pages of docs/ that are written by the code they are about; ``python environment/pages``."""
