# SPDX-License-Identifier: Apache-2.0
"""A payload in the words of those who need it: joints.yaml, our nodes, the robot's controller."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.estimation.payload.estimate import PayloadEstimate

#: Names and places of the six moments of inertia.
AXES = ('xx', 'xy', 'xz', 'yy', 'yz', 'zz')
PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def joints_entry(load: PayloadEstimate) -> dict[str, Any]:
    """Return the payload as joints.yaml has it; a point mass where the inertia is not known."""
    body = load.inertia
    return {'tip': load.tip, 'mass': body.mass, 'centre_of_mass': body.centre_of_mass.tolist(),
            'inertia': [float(body.central_tensor[place]) for place in PLACES]}


def service_call(load: PayloadEstimate) -> str:
    """Return the `ros2 service call` that sets the payload."""
    body = load.inertia
    c, J = body.centre_of_mass, body.central_tensor
    entries = ', '.join(f'i{axes}: {J[place]:.9g}' for axes, place in zip(AXES, PLACES))
    return ('ros2 service call /dynamics_server/set_payload '
            'robot_dynamics_interfaces/srv/SetPayload '
            f'"{{payload: {{header: {{frame_id: {load.tip}}}, inertia: {{m: {body.mass:.9g}, '
            f'com: {{x: {c[0]:.9g}, y: {c[1]:.9g}, z: {c[2]:.9g}}}, {entries}}}}}}}"')


def payload_lines(load: PayloadEstimate) -> list[str]:
    """Return what is known with its confidence, and how to tell whom."""
    deviations = load.centre_standard_deviations
    lines = [f'mass {load.mass:.4g} +- {load.mass_standard_deviation:.2g} kg'
             f'{"" if load.mass_known else " (not determined)"}',
             *(f'centre {axis} {value:.4f} +- {deviation:.2g} m'
               f'{"" if known else " (not determined)"}' for axis, value, deviation, known in zip(
                   'xyz', load.centre, deviations, load.centre_known)),
             *(f'inertia {axes} {load.tensor[place]:.4g} +- '
               f'{load.tensor_standard_deviations[place]:.2g} kg m^2'
               f'{"" if load.tensor_known else " (not determined)"}'
               for axes, place in zip(AXES, PLACES))]
    lines += [f'not identifiable: {reason}' for reason in load.reasons]
    lines += [f'assumed: {each}' for each in load.assumptions]
    return [*lines, *controller_lines(load)] if load.known else lines


def controller_lines(load: PayloadEstimate) -> list[str]:
    """
    Return how to tell a payload to our nodes and to the controllers of known robots.

    Centre and inertia are in the frame of the tip link; a controller may want another frame.
    """
    body = load.inertia
    m, c, J = body.mass, body.centre_of_mass, body.central_tensor
    centre = ', '.join(f'{x:.5f}' for x in c)
    six = ', '.join(f'{J[place]:.6g}' for place in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2),
                                                    (1, 2)))
    nine = ', '.join(f'{x:.6g}' for x in np.ravel(J, order='F'))
    return [f'our nodes: {service_call(load)}',
            f"the robot's own controller (values in the frame of {load.tip}; turn them into its "
            'flange frame where that is another one):',
            f'  UR (URScript): set_target_payload({m:.5f}, [{centre}], [{six}])',
            f'  Franka (libfranka): robot.setLoad({m:.5f}, {{{centre}}}, {{{nine}}})',
            f'  others: mass {m:.4f} kg, centre [{centre}] m, inertia about the centre '
            f'Ixx, Iyy, Izz, Ixy, Ixz, Iyz = [{six}] kg m^2']
