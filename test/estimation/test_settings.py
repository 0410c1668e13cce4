# SPDX-License-Identifier: Apache-2.0
"""Settings of an identification: values that make no sense are refused by name."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.settings import IdentificationSettings


@pytest.mark.parametrize('options, message', [
    ({'cutoff': 0.0}, 'cutoff must be positive, got 0.0'),
    ({'parallel_cutoff': -1.0}, 'parallel_cutoff must be positive, got -1.0'),
    ({'error_limit': np.nan}, 'error_limit must be positive, got nan'),
    ({'prior_strength': np.inf}, 'prior_strength must be finite'),
    ({'folds': 1}, 'folds must be at least 2, got 1'),
    ({'folds': 2.5}, 'folds must be at least 2, got 2.5'),
    ({'last_part': 1.0}, 'last_part must be between 0 and 1, got 1.0'),
    ({'method': 'magic'}, "method 'magic' is not known; known are ordinary, weighted, robust"),
    ({'friction': 'wet'}, "friction 'wet' is not known; known are auto, stribeck, coulomb, none"),
    ({'coulomb_velocity': -0.1}, 'coulomb_velocity must be finite and >= 0, got -0.1'),
    ({'refinement': 'more'}, "refinement 'more' is not known; known are none, instruments"),
])
def test_a_bad_value_is_named_with_what_is_known(options, message):
    with pytest.raises(ParameterError, match=message):
        IdentificationSettings(**options)


def test_no_filter_is_an_infinite_cutoff():
    settings = IdentificationSettings(cutoff=np.inf, parallel_cutoff=np.inf)
    assert settings.cutoff == settings.parallel_cutoff == np.inf
