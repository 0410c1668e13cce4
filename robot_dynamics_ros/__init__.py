# SPDX-License-Identifier: Apache-2.0
"""Feedforward torques from a URDF, with minimal parameters learned while the robot works."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robot_dynamics_ros.calibration.calibration import Calibration, CalibrationSettings
    from robot_dynamics_ros.calibration.efforts.joint_meaning import Certainty, JointMeaning
    from robot_dynamics_ros.calibration.efforts.meaning import EffortMeaning, effort_meaning
    from robot_dynamics_ros.calibration.static_motion import static_motion
    from robot_dynamics_ros.chain.chain import Chain, Finding
    from robot_dynamics_ros.chain.dh import chain_from_dh
    from robot_dynamics_ros.chain.effort import EffortSemantics
    from robot_dynamics_ros.chain.inertia import Inertia, payload_inertia
    from robot_dynamics_ros.chain.joint import Follower, Joint, Tip
    from robot_dynamics_ros.chain.joint_physics import JointPhysics
    from robot_dynamics_ros.chain.joints_file import JointsFile, read_joints_file
    from robot_dynamics_ros.chain.pose import Pose
    from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf, chain_from_urdf_text
    from robot_dynamics_ros.chain.urdf.xacro_file import XacroFile
    from robot_dynamics_ros.codegen.printers.library import c_library
    from robot_dynamics_ros.codegen.printers.standalone import (
        standalone_files,
        standalone_source,
    )
    from robot_dynamics_ros.codegen.runtime.model import Model, compile_model
    from robot_dynamics_ros.collision.motion import Clearance, clearance
    from robot_dynamics_ros.collision.obstacles import Obstacle, read_obstacles
    from robot_dynamics_ros.collision.postures import (
        PostureClearance,
        find_free_posture,
        free_path,
        posture_clearance,
        slow_trajectory,
    )
    from robot_dynamics_ros.collision.scene import CollisionScene, collision_scene
    from robot_dynamics_ros.control.feedforward import (
        Feedforward,
        FeedforwardSettings,
        Onset,
        add_feedforward,
    )
    from robot_dynamics_ros.control.floating import (
        FloatCommand,
        FloatController,
        FloatSettings,
    )
    from robot_dynamics_ros.dynamics.formulations.comparison import compare_formulations
    from robot_dynamics_ros.dynamics.formulations.energy import (
        energy_functions,
        kinetic_energy,
        potential_energy,
    )
    from robot_dynamics_ros.dynamics.formulations.equations_of_motion import (
        coriolis_matrix,
        forward_dynamics,
        gravity_torque,
        mass_matrix,
    )
    from robot_dynamics_ros.dynamics.formulations.filtered_regressor import (
        FilteredRegressor,
        filtered_regressor,
    )
    from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import inverse_dynamics
    from robot_dynamics_ros.dynamics.formulations.lu_meng import (
        lu_meng_parameters,
        lu_meng_regressor,
    )
    from robot_dynamics_ros.dynamics.formulations.wrenches import joint_wrenches, wrench_torque
    from robot_dynamics_ros.dynamics.joints.elastic import ElasticModel, MotorMotion
    from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
    from robot_dynamics_ros.dynamics.minimal.formula_export import (
        latex_formulas,
        sympy_formulas,
    )
    from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet, minimal_parameters
    from robot_dynamics_ros.dynamics.minimal.regressor_columns import mlc_columns, split_columns
    from robot_dynamics_ros.dynamics.minimal.rotor_grouping import RotorGrouping, rotor_grouping
    from robot_dynamics_ros.dynamics.minimal.structure import parameter_bound
    from robot_dynamics_ros.dynamics.recursions.regressor import standard_regressor
    from robot_dynamics_ros.errors import (
        ChainError,
        CollisionError,
        ExcitationError,
        IdentificationError,
        NodeError,
        ParameterError,
        RecordingError,
        RobotDynamicsError,
        StateError,
        TableError,
        TrajectoryError,
        UrdfError,
        ViewError,
    )
    from robot_dynamics_ros.estimation.consistency.projection import (
        ConsistentInertias,
        consistent_inertias,
    )
    from robot_dynamics_ros.estimation.excitation.design import Excitation, design_excitation
    from robot_dynamics_ros.estimation.identification.identify import identify
    from robot_dynamics_ros.estimation.identification.report import html_report
    from robot_dynamics_ros.estimation.identification.result import Identification
    from robot_dynamics_ros.estimation.online import OnlineEstimator
    from robot_dynamics_ros.estimation.parameters.identified_urdf import (
        IdentifiedUrdf,
        identified_urdf,
    )
    from robot_dynamics_ros.estimation.parameters.parameters_file import (
        read_parameters,
        write_parameters,
    )
    from robot_dynamics_ros.estimation.payload.drive_gains import DriveGains, identify_drive_gains
    from robot_dynamics_ros.estimation.payload.estimate import PayloadEstimate
    from robot_dynamics_ros.estimation.payload.identify import identify_payload
    from robot_dynamics_ros.estimation.payload.stream import PayloadEstimator
    from robot_dynamics_ros.estimation.recordings.files import read_recording, write_recording
    from robot_dynamics_ros.estimation.recordings.recording import Recording
    from robot_dynamics_ros.estimation.settings import IdentificationSettings
    from robot_dynamics_ros.motion.effort_limits import EffortLimits
    from robot_dynamics_ros.motion.trajectory import Trajectory
    from robot_dynamics_ros.motion.trajectory_file import read_trajectory
    from robot_dynamics_ros.motion.waypoints import trajectory_from_waypoints
    from robot_dynamics_ros.picture.robot_picture import robot_picture
    from robot_dynamics_ros.robot import Robot, load_robot
    from robot_dynamics_ros.simulation.robot import SimulatedRobot

#: The same as in package.xml.
__version__ = '0.1.0'

#: Public names by the module that each of them lives in.
_HOME = {
    'chain.urdf.reader': ('chain_from_urdf', 'chain_from_urdf_text'),
    'chain.urdf.xacro_file': ('XacroFile',),
    'chain.dh': ('chain_from_dh',),
    'chain.chain': ('Chain', 'Finding'),
    'chain.joint': ('Joint', 'Follower', 'Tip'),
    'chain.pose': ('Pose',),
    'chain.inertia': ('Inertia', 'payload_inertia'),
    'chain.joint_physics': ('JointPhysics',),
    'chain.effort': ('EffortSemantics',),
    'chain.joints_file': ('JointsFile', 'read_joints_file'),
    'picture.robot_picture': ('robot_picture',),
    'dynamics.minimal.mlc': ('minimal_parameters', 'MlcSet'),
    'dynamics.minimal.structure': ('parameter_bound',),
    'dynamics.minimal.formula_export': ('latex_formulas', 'sympy_formulas'),
    'dynamics.minimal.rotor_grouping': ('rotor_grouping', 'RotorGrouping'),
    'codegen.runtime.model': ('compile_model', 'Model'),
    'codegen.printers.standalone': ('standalone_files', 'standalone_source'),
    'codegen.printers.library': ('c_library',),
    'dynamics.formulations.inverse_dynamics': ('inverse_dynamics',),
    'dynamics.formulations.equations_of_motion': (
        'forward_dynamics', 'mass_matrix', 'gravity_torque', 'coriolis_matrix'),
    'dynamics.formulations.energy': ('kinetic_energy', 'potential_energy', 'energy_functions'),
    'dynamics.formulations.wrenches': ('wrench_torque', 'joint_wrenches'),
    'dynamics.formulations.comparison': ('compare_formulations',),
    'dynamics.recursions.regressor': ('standard_regressor',),
    'dynamics.minimal.regressor_columns': ('mlc_columns', 'split_columns'),
    'dynamics.formulations.lu_meng': ('lu_meng_regressor', 'lu_meng_parameters'),
    'dynamics.formulations.filtered_regressor': ('filtered_regressor', 'FilteredRegressor'),
    'dynamics.joints.elastic': ('ElasticModel', 'MotorMotion'),
    'motion.trajectory': ('Trajectory',),
    'motion.waypoints': ('trajectory_from_waypoints',),
    'motion.trajectory_file': ('read_trajectory',),
    'motion.effort_limits': ('EffortLimits',),
    'collision.scene': ('collision_scene', 'CollisionScene'),
    'collision.obstacles': ('read_obstacles', 'Obstacle'),
    'collision.motion': ('clearance', 'Clearance'),
    'collision.postures': ('posture_clearance', 'PostureClearance', 'find_free_posture',
                           'free_path', 'slow_trajectory'),
    'estimation.recordings.recording': ('Recording',),
    'estimation.recordings.files': ('read_recording', 'write_recording'),
    'estimation.settings': ('IdentificationSettings',),
    'estimation.identification.identify': ('identify',),
    'estimation.identification.result': ('Identification',),
    'estimation.identification.report': ('html_report',),
    'estimation.online': ('OnlineEstimator',),
    'dynamics.minimal.estimate': ('MlcEstimate',),
    'estimation.parameters.parameters_file': ('read_parameters', 'write_parameters'),
    'estimation.payload.identify': ('identify_payload',),
    'estimation.payload.estimate': ('PayloadEstimate',),
    'estimation.payload.stream': ('PayloadEstimator',),
    'estimation.payload.drive_gains': ('identify_drive_gains', 'DriveGains'),
    'estimation.consistency.projection': ('consistent_inertias', 'ConsistentInertias'),
    'estimation.parameters.identified_urdf': ('identified_urdf', 'IdentifiedUrdf'),
    'estimation.excitation.design': ('design_excitation', 'Excitation'),
    'control.feedforward': ('FeedforwardSettings', 'Onset', 'add_feedforward', 'Feedforward'),
    'control.floating': ('FloatSettings', 'FloatController', 'FloatCommand'),
    'robot': ('load_robot', 'Robot'),
    'calibration.calibration': ('Calibration', 'CalibrationSettings'),
    'calibration.static_motion': ('static_motion',),
    'calibration.efforts.meaning': ('effort_meaning', 'EffortMeaning'),
    'calibration.efforts.joint_meaning': ('JointMeaning', 'Certainty'),
    'simulation.robot': ('SimulatedRobot',),
    'errors': (
        'RobotDynamicsError', 'UrdfError', 'ChainError', 'ParameterError', 'StateError',
        'TrajectoryError', 'RecordingError', 'IdentificationError', 'ExcitationError',
        'CollisionError', 'TableError', 'ViewError', 'NodeError'),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

#: In the order of the data flow; `docs/api.md` has a sentence about each.
__all__ = [
    # robot description
    'chain_from_urdf', 'chain_from_urdf_text', 'XacroFile', 'chain_from_dh', 'Chain', 'Joint',
    'Follower', 'Tip', 'Finding', 'Pose', 'Inertia',
    'payload_inertia', 'JointPhysics', 'EffortSemantics', 'JointsFile', 'read_joints_file',
    'robot_picture',
    # minimal parameters
    'minimal_parameters', 'MlcSet', 'parameter_bound', 'rotor_grouping', 'RotorGrouping',
    'latex_formulas', 'sympy_formulas',
    # compiled model
    'compile_model', 'Model', 'standalone_source', 'standalone_files', 'c_library',
    # formulations of the papers
    'inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'gravity_torque', 'coriolis_matrix',
    'kinetic_energy', 'potential_energy', 'energy_functions', 'wrench_torque', 'joint_wrenches',
    'compare_formulations', 'standard_regressor', 'mlc_columns', 'split_columns',
    'lu_meng_regressor', 'lu_meng_parameters', 'filtered_regressor', 'FilteredRegressor',
    'ElasticModel', 'MotorMotion',
    # motion
    'Trajectory', 'trajectory_from_waypoints', 'read_trajectory', 'EffortLimits',
    # collisions
    'collision_scene', 'CollisionScene', 'read_obstacles', 'Obstacle', 'clearance', 'Clearance',
    'posture_clearance', 'PostureClearance', 'find_free_posture', 'free_path', 'slow_trajectory',
    # identification
    'Recording', 'read_recording', 'write_recording', 'IdentificationSettings', 'identify',
    'Identification', 'html_report', 'OnlineEstimator', 'MlcEstimate', 'read_parameters',
    'write_parameters', 'identify_payload', 'PayloadEstimate', 'PayloadEstimator',
    'identify_drive_gains', 'DriveGains', 'consistent_inertias', 'ConsistentInertias',
    'identified_urdf', 'IdentifiedUrdf', 'design_excitation', 'Excitation',
    # robot at work
    'FeedforwardSettings', 'Onset', 'add_feedforward', 'Feedforward', 'FloatSettings',
    'FloatController', 'FloatCommand', 'load_robot', 'Robot', 'SimulatedRobot',
    # calibration
    'Calibration', 'CalibrationSettings', 'static_motion', 'effort_meaning', 'EffortMeaning',
    'JointMeaning', 'Certainty',
    # errors
    'RobotDynamicsError', 'UrdfError', 'ChainError', 'ParameterError', 'StateError',
    'TrajectoryError', 'RecordingError', 'IdentificationError', 'ExcitationError',
    'CollisionError', 'TableError', 'ViewError', 'NodeError',
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: importing the package costs nothing."""
    if name in _MODULE:
        return getattr(import_module(f'{__name__}.{_MODULE[name]}'), name)
    message = f'module {__name__!r} has no attribute {name!r}'
    if not name.startswith('_'):
        from difflib import get_close_matches

        close = get_close_matches(name, __all__)
        message += f'; names like it are {", ".join(close)}' if close else ''
    raise AttributeError(message)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
