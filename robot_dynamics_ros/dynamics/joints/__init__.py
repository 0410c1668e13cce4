# SPDX-License-Identifier: Apache-2.0
"""What joints add to the rigid links: rotors, friction, transmissions, springs."""
