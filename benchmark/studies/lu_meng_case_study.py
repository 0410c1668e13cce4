# SPDX-License-Identifier: Apache-2.0
"""
The case study of Lu & Meng (1993), section V-B: a four-joint arm with a payload it does not know.

The paper gives masses, trajectory and 20 % initial error. It does not give lengths (those of
urdf/puma_4dof.urdf are used), omega, gains, the sign of the initial error or the first velocity:
those below were chosen so that all laws settle in about the time that the paper reports.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.codegen.runtime.model import compile_model
from robot_dynamics_ros.control.adaptive.adaptation import Adaptation
from robot_dynamics_ros.control.adaptive.laws import AdaptiveLaw, Craig, SlotineLi
from robot_dynamics_ros.control.adaptive.learned_model import LearnedModel
from robot_dynamics_ros.control.adaptive.unknown_parameters import load_mass_unknown
from robot_dynamics_ros.motion.trajectory import TrajectorySample
from studies.continuous_loop import ContinuousLoop

#: modified: Lu & Meng with K = lambda H_hat (94)-(96); modified_constant: with constant K (88),
#: (89); original: Slotine & Li with K = lambda H_hat; craig.
CaseLaw = Literal['modified', 'modified_constant', 'original', 'craig']
CASE_LAWS: tuple[CaseLaw, ...] = get_args(CaseLaw)

#: Place of the payload in the frame of link 4 [m].
LOAD_PLACE = (0.25, 0.0, 0.0)
#: Mass that the controller has to find [kg]; it starts from none.
LOAD_MASS = 0.5
#: Duration of the motion [s].
DURATION = 2.0
#: Gamma [kg^2/J] of each law.
GAMMA: dict[CaseLaw, float] = {'modified': 0.1, 'modified_constant': 0.2, 'original': 0.1,
                               'craig': 0.005}

_OMEGA = 2.0 * np.pi
_LAMBDA = 20.0
_MIDDLE = np.pi * np.array([8 / 9, 2 / 3, 3 / 4, 15 / 18])
_AMPLITUDE = np.pi * np.array([4 / 9, 1 / 3, 1 / 4, 8 / 18])
_FREQUENCY = _OMEGA / np.arange(1.0, 5.0)
#: sin, cos, sin, cos
_PHASE = np.array([0.0, 0.5 * np.pi, 0.0, 0.5 * np.pi])


def desired_motion(t: float) -> TrajectorySample:
    """Return the motion of the paper at a time [s], (4,) each."""
    phase = _FREQUENCY * t + _PHASE
    return TrajectorySample(_MIDDLE + _AMPLITUDE * np.sin(phase),
                            _AMPLITUDE * _FREQUENCY * np.cos(phase),
                            -_AMPLITUDE * _FREQUENCY**2 * np.sin(phase), np.zeros(4))


def case_law(name: CaseLaw) -> AdaptiveLaw:
    """Return one of the laws with its gains."""
    bandwidth = np.full(4, _LAMBDA)
    if name == 'craig':
        return Craig.critically_damped(_LAMBDA, 4)
    if name == 'modified_constant':
        return SlotineLi(bandwidth, np.array([40.0, 40.0, 20.0, 2.0]), modified=True)
    return SlotineLi(bandwidth, modified=name == 'modified')


def case_study(chain: Chain, name: CaseLaw, *, gamma: float | None = None,
               bounded: bool = False) -> ContinuousLoop:
    """
    Return the closed loop of the case study.

    :param chain: urdf/puma_4dof.urdf, which carries the payload.
    :param name: the law.
    :param gamma: adaptation gain [kg^2/J]; 0 = without learning, None = that of GAMMA.
    :param bounded: keep the estimate between 0 and 1 kg; the paper does not.
    """
    load = Inertia.from_centre_of_mass(LOAD_MASS, LOAD_PLACE, np.zeros((3, 3)))
    known = compile_model(chain.with_payload(Inertia.from_standard_parameters(
        -load.standard_parameters)))
    unknowns = load_mass_unknown(known, LOAD_PLACE)
    unknowns = unknowns.with_bounds(0.0, 1.0) if bounded else unknowns.with_bounds(-np.inf, np.inf)
    gains = np.array([GAMMA[name] if gamma is None else gamma])
    return ContinuousLoop(compile_model(chain), case_law(name), LearnedModel(known, unknowns),
                          Adaptation(unknowns, gains, np.zeros(4)), desired_motion)


def first_state() -> tuple[Array, Array]:
    """Return positions (4,) with 20 % error, and the velocities of the motion."""
    first = desired_motion(0.0)
    return 0.8 * first.q, first.qd
