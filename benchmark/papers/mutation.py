# SPDX-License-Identifier: Apache-2.0
"""What the slips of benchmark/mutation.py met, and why those may live that no test sees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from papers.markdown import table

RESULTS = Path(__file__).with_name('mutation.json')

_TREES = 'killed since: `test_formulations_that_take_trees_agree_on_them`'
_KINEMATICS = ('seen outside of `test/dynamics`: '
               '`test_every_function_is_that_of_pinocchio_on_random_chains`')
_OPERATIONS = ('costs operations, not correctness: seen by '
               '`test_general_parameters_need_fewer_operations_than_published`')

#: Why a slip may live, or what has killed it since, by module and slip; by line, too, where the
#: same slip means something else in the same module.
VERDICTS: dict[tuple[str, str] | tuple[str, str, int], str] = {
    ('formulations/comparison.py', '2.0 -> 3.0'):
        'equal: range of the random states that are compared',
    ('formulations/comparison.py', '0.0 -> 1.0'):
        'killed since: '
        '`test_robots_without_mass_and_without_mass_centres_are_checked_as_far_as_they_can`',
    ('formulations/comparison.py', '{*FORMULATIONS, *MASS_MATRICES, *GRAVITY_TORQUES} - '
     '{*FOR_TREES} -> {*FORMULATIONS, *MASS_MATRICES, *GRAVITY_TORQUES} + {*FOR_TREES}'): _TREES,
    ('formulations/equations_of_motion.py', 'np.asarray(q, dtype=np.float64) @ G.T + c -> '
     'np.asarray(q, dtype=np.float64) @ G.T - c'): _TREES,
    ('formulations/equations_of_motion.py', '0 -> 1'): _TREES,
    ('formulations/equations_of_motion.py', '0.0 -> 1.0'):
        'equal: velocity at which A is taken from a regressor; it cancels',
    ('formulations/lin.py', '0.0 -> 1.0'):
        'equal: factor of a zero vector at the outermost revolute joint',
    ('formulations/inverse_dynamics.py', 'name in formulations -> name not in formulations'):
        'killed since: `test_what_the_papers_say_of_serial_chains_is_refused_for_trees`',
    ('formulations/lin.py', '1 -> 2'): 'equal: kappas, which the general form does not read',
    ('formulations/lin.py', '0.0 -> 1.0', 94):
        'equal: kappas, which the general form does not read',
    ('formulations/lu_meng.py', '-1 -> +1'):
        'equal: one axis less on the way, entries in the same order',
    ('minimal/estimate.py', '0 -> 1'):
        'killed since: `test_the_numbers_of_the_states_are_those_of_the_message`, '
        '`test_before_any_data_it_is_the_description`',
    ('minimal/formula_export.py', '90 -> 91'): 'equal: length of a comment',
    ('minimal/formula_export.py', '1 -> 2'): 'equal: no name has fewer than two letters',
    ('minimal/linear_forms.py', '< -> <='): 'equal: a coefficient of zero never comes there',
    ('minimal/numeric_set.py', '0 -> 1'): 'equal: a basis with a zero column more',
    ('minimal/numeric_set.py', '1995 -> 1996'): 'equal: seed of the random states',
    ('minimal/numeric_set.py', '8 -> 9'): 'equal: more random states than needed',
    ('minimal/structure.py', 'exact / np.linalg.norm(exact) -> exact * np.linalg.norm(exact)'):
        'equal but for the square of a tolerance: axes are unit vectors',
    ('minimal/structure.py', 'float(np.linalg.norm(a)) * float(np.linalg.norm(b)) -> '
     'float(np.linalg.norm(a)) + float(np.linalg.norm(b))'):
        'equal but for a factor of two in a tolerance: axes are unit vectors',
    ('recursions/composite.py', '1 -> 2'): 'equal: a list with an unused entry more',
    ('recursions/customized.py', '0.0 -> 1.0'): _OPERATIONS,
    ('recursions/customized.py', 'parallel[whole.parent] and (not use_column) -> '
     'parallel[whole.parent] or not use_column'): _OPERATIONS,
    ('recursions/customized.py', 'parent == 0 or frame.branch is not None -> '
     'parent == 0 and frame.branch is not None'):
        'killed since: `test_regrouped_parameters_of_a_tree_have_the_same_torque`',
    ('recursions/forward_dynamics.py', 'self.L[j][i] * X[i][k] -> self.L[j][i] + X[i][k]'):
        'seen outside of `test/dynamics`: '
        '`test_derivatives_are_those_of_pinocchio_on_random_chains`',
    ('recursions/kinematics.py', '0 -> 1'): _KINEMATICS,
    ('recursions/kinematics.py', 'number > 0 -> number >= 0'):
        'seen outside of `test/dynamics`: an endless loop',
    ('recursions/kinematics.py', '1 -> 2', 123): 'gone: nobody used the default',
    ('recursions/mass_matrix.py', '1 -> 2'): 'equal: a list with an unused entry more',
    ('recursions/momentum.py', '7 -> 8'): _KINEMATICS,
    ('recursions/momentum.py', '9 -> 10'): _KINEMATICS,
    ('recursions/kinematics.py', '1 -> 2'): _KINEMATICS,
    ('recursions/momentum.py', 'len(frames) - 1 -> len(frames) + 1'): _KINEMATICS,
    ('recursions/momentum.py', '6 -> 7'): _KINEMATICS,
}


def runs() -> list[dict[str, Any]]:
    """Return the runs: commit, seed, slips of each module, survivors."""
    found: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding='utf-8'))
    return found


def verdict(survivor: dict[str, Any]) -> str:
    """
    Return why a slip may live.

    :param survivor: module, slip and, of newer runs, line.
    """
    key = survivor['module'], survivor['slip']
    general = VERDICTS.get(key, 'DOES NOT AGREE')
    return VERDICTS.get((*key, survivor.get('line', 0)), general)


def survivors() -> str:
    """Return the counts of all runs and the table of what no test saw."""
    counts, rows = [], []
    for run in runs():
        modules, unseen = run['modules'], run['survivors']
        tried = sum(modules.values())
        counts.append((run['commit'], sum(name != 'all' for name in modules) or 'all',
                       f'{run["per_module"]}, {run["seed"]}', tried, tried - len(unseen)))
        rows += [(f'`{one["module"]}`', f'`{one["slip"]}`', verdict(one)) for one in unseen]
    return (table(['commit', 'modules', 'slips per module, seed', 'slips', 'seen'], counts)
            + '\n\nThe others:\n\n' + table(['place', 'slip', 'verdict'], rows))
