# SPDX-License-Identifier: Apache-2.0
"""The bodies to stay near to: those of the URDF, and solid ones where it has none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.estimation.consistency.hull import BodyHull

#: Mass of a link without inertia in a URDF that has others, as part of their mean.
_LIGHT = 0.01

#: Density where nothing else says how heavy a robot is [kg/m^3].
_DENSITY = 1000.0

#: Distance beyond its geometry from which a centre of mass of the URDF is a finding [m].
_OUTSIDE = 1e-3


@dataclass(frozen=True, eq=False)
class ReferenceBodies:
    """
    What is believed before the estimate is seen.

    :param bodies: bodies to stay near to.
    :param start: bodies that satisfy all conditions strictly: solid ones.
    :param band: least and largest total mass [kg]; None = not known.
    :param findings: findings about bodies that the URDF does not give, or puts elsewhere.
    """

    bodies: tuple[Inertia, ...]
    start: tuple[Inertia, ...]
    band: tuple[float, float] | None
    findings: tuple[Finding, ...]


def reference_bodies(names: Sequence[str], own: Sequence[Inertia], hulls: Sequence[BodyHull],
                     misfit: Callable[[Sequence[Inertia]], tuple[Array, Array]],
                     band: tuple[float, float] | None) -> ReferenceBodies:
    """
    Return the references of all bodies.

    :param names: names of the links.
    :param own: bodies of the URDF, without what they carry.
    :param hulls: space of each body.
    :param misfit: function from bodies to what they predict and what was estimated, in standard
        deviations.
    :param band: least and largest total mass [kg]; None = not known.
    """
    missing = [name for name, body in zip(names, own) if body.mass <= 0.0]
    findings = _assumed(names, hulls, missing)
    if len(missing) == len(own):
        solids = [_scaled(hull.solid, _DENSITY * hull.volume) for hull in hulls]
        total = sum(body.mass for body in solids)
        if band is not None:
            factor = 0.5 * (band[0] + band[1]) / total
        else:
            predicted, wanted = misfit(solids)
            factor = max(float(predicted @ wanted) / float(predicted @ predicted), 1e-3)
            findings.append(Finding('unknown_mass', '', 'the URDF has no masses: the total mass '
                                    'is not bounded; state it', factor * total))
        bodies = [_scaled(solid, factor * solid.mass) for solid in solids]
    else:
        mean = float(np.mean([body.mass for body in own if body.mass > 0.0]))
        bodies = [body if body.mass > 0.0 else _scaled(hull.solid, _LIGHT * mean)
                  for body, hull in zip(own, hulls)]
        findings += _outside(names, own, hulls)
    total = sum(body.mass for body in bodies)
    factor = 1.0 if band is None else 0.5 * (band[0] + band[1]) / total
    start = [_scaled(hull.solid, factor * body.mass) for body, hull in zip(bodies, hulls)]
    return ReferenceBodies(tuple(bodies), tuple(start), band, tuple(findings))


def _scaled(body: Inertia, mass: float) -> Inertia:
    """Return a body of 1 kg, or any other, with another mass and the same shape."""
    return Inertia.from_standard_parameters(mass / body.mass * body.standard_parameters)


def _assumed(names: Sequence[str], hulls: Sequence[BodyHull],
             missing: Sequence[str]) -> list[Finding]:
    """Say which bodies and hulls are assumptions."""
    findings = []
    if missing:
        findings.append(Finding('assumed_inertia', '', 'no inertia in the URDF, taken as solid '
                                f'bodies: {", ".join(missing)}', float(len(missing))))
    reach = [name for name, hull in zip(names, hulls) if not hull.measured]
    if reach:
        findings.append(Finding('assumed_geometry', '', 'no geometry that could be read, taken as '
                                'boxes around joints and the masses of the URDF: '
                                f'{", ".join(reach)}', float(len(reach))))
    return findings


def _outside(names: Sequence[str], own: Sequence[Inertia],
             hulls: Sequence[BodyHull]) -> list[Finding]:
    """Say which bodies of the URDF are not inside their own geometry."""
    findings = []
    for name, body, hull in zip(names, own, hulls):
        if body.mass > 0.0 and hull.measured and not hull.holds(body):
            distance = hull.distance_outside(body.centre_of_mass)
            what = (f'its centre of mass is {distance:.3g} m outside' if distance > _OUTSIDE
                    else 'its inertia is larger than that of any body inside')
            findings.append(Finding('outside_geometry', name, 'the inertia of the URDF does not '
                                    f'fit its geometry: {what}; it is moved inside', distance))
    return findings
