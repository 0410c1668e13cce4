# SPDX-License-Identifier: Apache-2.0
"""
A client that asks a dynamics server many times and prints how many answers it got.

``python -m support.storm_client <service> <calls> <in flight> <default|ours>``: the last word says
with which quality of service; the default one is for a single client with 10 calls in flight.
"""

import sys
import time

import rclpy
from rclpy.qos import qos_profile_services_default

from robot_dynamics_interfaces.srv import GetDynamics, GetMlc
from robot_dynamics_ros.nodes.support.services import SERVICE

#: No answer for this long: those that are missing were forgotten [s].
SILENCE = 120.0
#: Longest wait for the server [s].
PATIENCE = 240.0
REQUESTS = {'get_dynamics': (GetDynamics, {'position': [0.1, 0.2]}), 'get_mlc': (GetMlc, {})}


def storm(node, name, calls, in_flight, quality):
    """Return how many of the calls were answered with success."""
    kind, fields = REQUESTS[name]
    client = node.create_client(kind, f'/dynamics_server/{name}', qos_profile=quality)
    if not client.wait_for_service(PATIENCE):
        return 0
    first = None  # both directions must have met before the storm: an answer shows it
    while first is None or not first.done():
        first = client.call_async(kind.Request(**fields))
        rclpy.spin_until_future_complete(node, first, timeout_sec=2.0)
    open_calls, sent, answered, heard = [], 0, 0, time.monotonic()
    while answered < calls and time.monotonic() - heard < SILENCE:
        while sent < calls and len(open_calls) < in_flight:
            open_calls.append(client.call_async(kind.Request(**fields)))
            sent += 1
        rclpy.spin_once(node, timeout_sec=0.1)
        done = [call for call in open_calls if call.done()]
        if done:
            heard = time.monotonic()
            answered += sum(call.result().success for call in done)
            open_calls = [call for call in open_calls if not call.done()]
    return answered


def main():
    """Ask and tell."""
    name, calls, in_flight, quality = sys.argv[1:]
    rclpy.init()
    node = rclpy.create_node('storm_client')
    chosen = SERVICE if quality == 'ours' else qos_profile_services_default
    print('answered', storm(node, name, int(calls), int(in_flight), chosen), 'of', calls)
    rclpy.shutdown()


if __name__ == '__main__':
    main()
