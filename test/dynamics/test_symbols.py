# SPDX-License-Identifier: Apache-2.0
"""The symbol table, and the promise that a recursion needs nothing but + - * /."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from support.chains import random_chain
from support.counting import Counted, cosine, number, sine
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import dynamics
from robot_dynamics_ros.dynamics.formulations.kane import kane
from robot_dynamics_ros.dynamics.formulations.lagrange import Lagrange
from robot_dynamics_ros.dynamics.formulations.lin import GENERAL, LinConstants, lin_newton_euler
from robot_dynamics_ros.dynamics.formulations.lu_meng import closed_form, momentum_split, recursive
from robot_dynamics_ros.dynamics.minimal.lin_set import lin_forms
from robot_dynamics_ros.dynamics.minimal.structure import structure
from robot_dynamics_ros.dynamics.recursions.body import Body, bodies
from robot_dynamics_ros.dynamics.recursions.composite import inertia_constants
from robot_dynamics_ros.dynamics.recursions.forward_dynamics import (
    by_mass_matrix,
    customized_recursion,
    linear_recursion,
)
from robot_dynamics_ros.dynamics.recursions.mass_matrix import (
    composite_bodies,
    renaud,
    renaud_gravity,
)
from robot_dynamics_ros.dynamics.recursions.motion import reference_motion
from robot_dynamics_ros.dynamics.recursions.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.recursions.regressor import link_twists, regressor, regressor_rows
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector, joint_frames


def table_rows():
    """Return the code-name column of the symbol table."""
    lines = dynamics.__doc__.splitlines()
    edges = [k for k, line in enumerate(lines) if line.startswith('=====')]
    start, stop = re.search(r' (=+)', lines[edges[0]]).span(1)
    return [line[start:stop].strip() for line in lines[edges[1] + 1:edges[2]]]


def test_every_name_of_the_symbol_table_is_used():
    source = '\n'.join(path.read_text(encoding='utf-8')
                       for path in Path(dynamics.__file__).parent.rglob('[!_]*.py'))
    names = {name.strip() for row in table_rows() for name in row.split(',') if name.strip()}
    assert len(names) > 40
    missing = [name for name in names if not re.search(rf'\b{re.escape(name)}\b', source)]
    assert missing == []


def minimal(chain, wrap):
    groups = structure(chain)
    forms = lin_forms(chain, groups)
    values = {name: wrap(x) for name, x in
              zip(forms.names, (forms.matrix @ chain.standard_parameters).tolist())}
    return LinConstants.from_names(len(chain), values)


def wrapped_bodies(chain, wrap):
    return [Body(wrap(body.mass), tuple(map(wrap, body.centre)),
                 tuple(tuple(map(wrap, row)) for row in body.tensor)) for body in bodies(chain)]


RECURSIONS = {
    'newton_euler': lambda c, F, P, qd, qdd, g, wrap: newton_euler(F, P, qd, qdd, g),
    'kane': lambda c, F, P, qd, qdd, g, wrap: kane(F, wrapped_bodies(c, wrap), qd, qdd, g),
    'lin': lambda c, F, P, qd, qdd, g, wrap: lin_newton_euler(
        F, minimal(c, wrap), structure(c), qd, qdd, g),
    'lin_general': lambda c, F, P, qd, qdd, g, wrap: lin_newton_euler(
        F, LinConstants.of_all_joints(inertia_constants(F, P)), GENERAL, qd, qdd, g),
    'lagrange': lambda c, F, P, qd, qdd, g, wrap: Lagrange(F, P, g).torque(qd, qdd),
    'energies': lambda c, F, P, qd, qdd, g, wrap: [
        Lagrange(F, P, g).kinetic_energy(qd), Lagrange(F, P, g).potential_energy()],
    'regressor': lambda c, F, P, qd, qdd, g, wrap: regressor(F, qd, qdd, g),
    'reference_regressor': lambda c, F, P, qd, qdd, g, wrap: regressor_rows(
        reference_motion(F, qd, qdd[::-1], qdd, g), link_twists(F)),
    'closed_form': lambda c, F, P, qd, qdd, g, wrap: closed_form(F, qd, qdd, g),
    'recursive': lambda c, F, P, qd, qdd, g, wrap: recursive(F, qd, qdd, g),
    'momentum_split': lambda c, F, P, qd, qdd, g, wrap: momentum_split(F, qd, g),
    'composite_bodies': lambda c, F, P, qd, qdd, g, wrap: composite_bodies(F, P),
    'renaud': lambda c, F, P, qd, qdd, g, wrap: renaud(
        F, minimal(c, wrap).representative(structure(c))),
    'renaud_gravity': lambda c, F, P, qd, qdd, g, wrap: renaud_gravity(
        F, inertia_constants(F, P), g),
    'by_mass_matrix': lambda c, F, P, qd, qdd, g, wrap: by_mass_matrix(F, P, qd, qdd, g),
    'linear_recursion': lambda c, F, P, qd, qdd, g, wrap: linear_recursion(F, P, qd, qdd, g),
    'customized_recursion': lambda c, F, P, qd, qdd, g, wrap: customized_recursion(
        F, P, qd, qdd, g),
}


def flat(result):
    if isinstance(result, (list, tuple)):
        return [x for part in result for x in flat(part)]
    return [number(result)]


@pytest.mark.parametrize('types', ['RRPR', 'PRPRR'])
@pytest.mark.parametrize('name', RECURSIONS)
def test_a_recursion_needs_only_the_four_operations(rng, name, types):
    """Run on scalars that cannot be compared or turned into floats, as graph nodes cannot."""
    n, counter = len(types), [0]
    chain = random_chain(rng, n, types=types)
    numbers = rng.normal(size=(3, n)).tolist()

    def result(wrap, cos, sin):
        q, qd, qdd = ([wrap(x) for x in row] for row in numbers)
        links = [[wrap(x) for x in link.standard_parameters.tolist()] for link in chain.links]
        return flat(RECURSIONS[name](chain, joint_frames(chain, q, cos, sin), links, qd, qdd,
                                     gravity_vector(chain), wrap))

    counted = result(lambda x: Counted(x, counter), cosine, sine)
    assert counter[0] > 0
    assert_close(counted, np.array(result(float, math.cos, math.sin)), SAME_ALGEBRA)
