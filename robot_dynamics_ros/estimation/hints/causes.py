# SPDX-License-Identifier: Apache-2.0
"""The cause that explains best why a recording does not fit its robot."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.estimation.hints.coupling import coupling_cause
from robot_dynamics_ros.estimation.hints.delay import delay_cause
from robot_dynamics_ros.estimation.hints.scales import scale_cause
from robot_dynamics_ros.estimation.hints.sensors import sensor_cause
from robot_dynamics_ros.estimation.hints.trial import Trial


def cause_findings(trial: Trial) -> list[Finding]:
    """
    Return the one cause whose remedy lowers the held-out errors most; nothing where all is well.

    One at a time: a wrong scale of one joint, say, also looks a little like a coupling. What is
    left is found in the next run, with the remedy.
    """
    if not np.any(trial.doubtful):
        return []
    causes = [cause for find in (scale_cause, delay_cause, sensor_cause, coupling_cause)
              if (cause := find(trial)) is not None]
    return [min(causes, key=lambda cause: cause.score).finding] if causes else []
