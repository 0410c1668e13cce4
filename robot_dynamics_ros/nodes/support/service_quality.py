# SPDX-License-Identifier: Apache-2.0
"""
Quality of service of our services: no request and no response is forgotten.

The default of ROS 2 keeps the last 10 of each, and silently drops others while a process is busy.
A client has a history of its own, and in Fast DDS it hears the responses to all clients of the
service: a client that is late by ten answers to others has lost its own, without having done
anything wrong. Clients of a service that others use, too, need this profile.
"""

from rclpy.qos import QoSProfile

#: Number of requests that may wait. Bounded: a client that never stops must not fill the memory.
WAITING_REQUESTS = 2000

SERVICE = QoSProfile(depth=WAITING_REQUESTS)
