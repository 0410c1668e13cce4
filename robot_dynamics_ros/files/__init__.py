# SPDX-License-Identifier: Apache-2.0
"""Files that people exchange: checked YAML, CSV tables, writes that are whole or not there."""
