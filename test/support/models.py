# SPDX-License-Identifier: Apache-2.0
"""Robots whose models are tested, states of them, and the loop form as judge."""

import numpy as np

from robot_dynamics_ros import JointPhysics, chain_from_urdf, minimal_parameters
from robot_dynamics_ros.codegen.functions import INPUTS
from robot_dynamics_ros.codegen.grouping import grouping_of
from robot_dynamics_ros.codegen.loop_form import loop_form
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm, joint_parameters
from support.chains import random_chain
from support.robots import URDF_FOLDER

BACKENDS = ['python', 'numpy', 'llvm']
WITH_WRENCH = ['inverse_dynamics', 'torque', 'forward_dynamics']
COUNT = 11  # not a multiple of any number of lanes


def physics_of(rng, n, *, coupled=False, stribeck=False, loaded=False, coulomb_velocity=0.01):
    """Return joint physics with every term."""
    values = {name: rng.uniform(0.1, 1.0, n)
              for name in ('rotor_inertia', 'viscous', 'coulomb', 'offset')}
    if stribeck:
        values |= {'static': values['coulomb'] + 0.3, 'stribeck_velocity': np.full(n, 0.4)}
    if loaded:
        values |= {'load_friction': rng.uniform(0.05, 0.3, n),
                   'viscous_asymmetry': 0.5 * values['viscous'] * rng.uniform(-1.0, 1.0, n)}
    if coupled:
        values['coupling'] = np.eye(n) + 0.3 * rng.normal(size=(n, n))
    return JointPhysics(**values, coulomb_velocity=coulomb_velocity)


def chains():
    rng = np.random.default_rng(7)
    result = {name: chain_from_urdf(URDF_FOLDER / f'{name}.urdf')
              for name in ('planar_2r', 'stanford', 'demo_arm')}
    result['random'] = random_chain(rng, 5, types='RPRRP')
    result['coupled'] = random_chain(rng, 3, types='RRR')
    result['one rail'] = random_chain(rng, 1, types='P')
    return {name: chain.with_joint_physics(physics_of(
        rng, len(chain), coupled=name == 'coupled', stribeck=name == 'stanford',
        loaded=name in ('coupled', 'random', 'one rail')))
        for name, chain in result.items()}


CHAINS = chains()


def judged(chain, name, **arrays):
    """Return the result of the loop form."""
    mlc = minimal_parameters(chain)
    values = {'mlc': mlc.values.tolist(), **joint_parameters(chain.joint_physics)}
    return loop_form(chain, grouping_of(chain, mlc), name, JointForm.of(chain.joint_physics),
                     values, arrays)


def states_of(chain, name, rng, kind='normal', count=COUNT):
    """Return the inputs of a function, each (count, n)."""
    n = len(chain)
    inputs = {key: rng.normal(size=(count, n)) for key in INPUTS[name]}
    if 'q' in inputs:
        largest = 1e3 if kind == 'far' else np.pi
        inputs['q'] = rng.uniform(-largest, largest, (count, n))
    if kind == 'at rest':
        for key in set(inputs) - {'q', 'tau'}:
            inputs[key] = np.zeros((count, n))
    return inputs


def call(model, name, inputs, **options):
    """Call a function of a model by its name in INPUTS."""
    if name == 'regressor_with_joint_terms':
        return model.regressor(**inputs, joint_terms=True, **options)
    return getattr(model, name)(*inputs.values(), **options)
