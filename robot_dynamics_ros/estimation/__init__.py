# SPDX-License-Identifier: Apache-2.0
"""Minimal parameters with their accuracy, from recordings and streams of joint states."""
