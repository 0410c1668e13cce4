# SPDX-License-Identifier: Apache-2.0
"""Files that people exchange: checked YAML, CSV and npz, writes that are whole or not there."""
