# SPDX-License-Identifier: Apache-2.0
"""From recordings and streams of joint states to minimal parameters with confidence."""
