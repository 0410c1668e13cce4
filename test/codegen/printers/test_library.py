# SPDX-License-Identifier: Apache-2.0
"""The C library: configured, built, tested, installed, and linked by a project of its own."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.chains import random_chain
from support.robots import URDF_FOLDER
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import (
    JointPhysics,
    MlcEstimate,
    c_library,
    chain_from_urdf,
    compile_model,
    minimal_parameters,
    write_parameters,
)
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.errors import ParameterError

COMPILERS = {name: shutil.which(os.environ.get(name, default))
             for name, default in (('CC', 'cc'), ('CXX', 'c++'))}
CMAKE = shutil.which('cmake')
needs_tools = pytest.mark.skipif(
    None in (*COMPILERS.values(), CMAKE), reason='needs cmake, a C and a C++ compiler')
C_FLAGS = '-std=c99 -Wall -Wextra -pedantic -Werror -Wmissing-prototypes -Wshadow -Wconversion'
CXX_FLAGS = '-std=c++17 -Wall -Wextra -pedantic -Werror'
DOCUMENT = (Path(__file__).parents[3] / 'docs' / 'cpp.md').read_text()
ROBOT = URDF_FOLDER / 'planar_2r.urdf'


def blocks(language):
    """Return the fenced blocks of one language of the document."""
    return re.findall(rf'^```{language}\n(.*?)^```', DOCUMENT, re.DOTALL | re.MULTILINE)


def call(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(folder, *options):
    """Configure and build the project in a folder; return where."""
    build = folder / 'build'
    call(CMAKE, '-S', folder, '-B', build, f'-DCMAKE_C_FLAGS={C_FLAGS}',
         f'-DCMAKE_CXX_FLAGS={CXX_FLAGS}', *options)
    call(CMAKE, '--build', build)
    return build


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def identified(chain, rng):
    """Return parameters that differ from those of the chain, with friction and rotors."""
    n, mlc = len(chain), minimal_parameters(chain)
    physics = JointPhysics(*rng.uniform(0.1, 1.0, (4, n)), static=np.full(n, 1.5),
                           stribeck_velocity=np.full(n, 0.3))
    return MlcEstimate(chain.robot, chain.base, chain.tip,
                       mlc.with_values(mlc.values * rng.uniform(0.8, 1.2, len(mlc))), physics,
                       (True,) * len(mlc), mlc.names, np.eye(len(mlc)), 1000, 10.0, np.ones(n))


@needs_tools
@pytest.mark.parametrize('shared', ['OFF', 'ON'])
def test_a_project_that_finds_the_library_has_the_torques_of_the_model(rng, tmp_path, shared):
    chain = chain_from_urdf(ROBOT)
    estimate = identified(chain, rng)
    write_parameters(tmp_path / 'identified.yaml', estimate)
    assert main(['generate', str(ROBOT), '--library', str(tmp_path / 'library'), '--parameters',
                 str(tmp_path / 'identified.yaml')]) == 0
    build = built(tmp_path / 'library', f'-DBUILD_SHARED_LIBS={shared}')
    assert '100% tests passed, 0 tests failed out of 1' in call('ctest', cwd=build)
    call(CMAKE, '--install', build, '--prefix', tmp_path / 'installed')

    write(tmp_path / 'program', {'CMakeLists.txt': blocks('cmake')[0],
                                 'main.cpp': blocks('cpp')[0]})
    program = built(tmp_path / 'program', f'-DCMAKE_PREFIX_PATH={tmp_path / "installed"}')
    motion = rng.normal(size=(3, 1000, len(chain)))
    text = '\n'.join(' '.join(map(repr, row)) for row in np.hstack(motion).tolist())
    printed = call(program / 'my_program', input=text)
    model = compile_model(chain)
    model.swap(estimate.mlc.values, estimate.joint_physics)
    assert_close(np.array(printed.split(), dtype=float).reshape(-1, len(chain)),
                 model.torque(*motion), SAME_ALGEBRA)


@needs_tools
@pytest.mark.parametrize('robot', ['demo_arm', 'stanford', 'everything'])
def test_every_function_of_other_robots_passes_its_own_test(robot, rng, tmp_path):
    if robot == 'everything':  # coupled, prismatic joints too, no effort limit
        chain = random_chain(rng, 4, types='RPRR').with_joint_physics(JointPhysics(
            *rng.uniform(0.1, 1.0, (4, 4)), coupling=np.eye(4) + 0.2 * rng.normal(size=(4, 4)),
            static=np.full(4, 1.5), stribeck_velocity=np.full(4, 0.3)))
    else:
        chain = chain_from_urdf(URDF_FOLDER / f'{robot}.urdf')
    write(tmp_path, c_library(chain))
    build = built(tmp_path)
    assert '20 states, 0 failures' in call('ctest', '-V', cwd=build)


@needs_tools
def test_its_test_sees_another_parameter(rng, tmp_path):
    """The test of the library can fail."""
    files = c_library(chain_from_urdf(ROBOT))
    source = files['src/planar_2r_dynamics.c']
    assert source.count('1.3556, 2.0') == 1
    write(tmp_path, files | {'src/planar_2r_dynamics.c': source.replace('1.3556, 2.0',
                                                                        '1.3556, 2.000001')})
    build = built(tmp_path)
    done = subprocess.run([build / 'test_planar_2r_dynamics'], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1 and 'gravity_torque, state 0, entry 0' in done.stdout


@needs_tools
def test_fast_math_is_refused(tmp_path):
    write(tmp_path, c_library(chain_from_urdf(ROBOT)))
    done = subprocess.run([COMPILERS['CC'], '-ffast-math', '-c', '-I', tmp_path / 'include', '-o',
                           tmp_path / 'x.o', tmp_path / 'src' / 'planar_2r_dynamics.c'],
                          capture_output=True, text=True, check=False)
    assert done.returncode != 0 and 'with -ffast-math' in done.stderr


#: As much of ros2_control's headers as the controller of the document uses.
STAND_INS = {'pluginlib/class_list_macros.hpp':
             '#define PLUGINLIB_EXPORT_CLASS(a, b) b * made() { return new a(); }\n',
             'controller_interface/controller_interface.hpp': """\
#pragma once
#include <optional>
#include <string>
#include <vector>
namespace rclcpp { class Time {}; class Duration {}; }
namespace rclcpp_lifecycle { class State {}; }
namespace controller_interface {
enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class return_type { OK, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };
struct InterfaceConfiguration {
  interface_configuration_type type;
  std::vector<std::string> names;
};
struct Interface {
  template <typename T = double>
  [[nodiscard]] std::optional<T> get_optional(unsigned int = 10) const { return {}; }
  template <typename T> [[nodiscard]] bool set_value(const T &, unsigned int = 10) { return true; }
};
class ControllerInterface {
public:
  virtual ~ControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) = 0;
  virtual return_type update(const rclcpp::Time &, const rclcpp::Duration &) = 0;
protected:
  std::vector<Interface> command_interfaces_, state_interfaces_;
};
}
"""}


@needs_tools
def test_the_controller_of_the_document_compiles(tmp_path):
    write(tmp_path / 'include', STAND_INS)
    write(tmp_path, c_library(chain_from_urdf(ROBOT)) | {'controller.cpp': blocks('cpp')[1]})
    call(COMPILERS['CXX'], *CXX_FLAGS.split(), '-c', '-I', tmp_path / 'include', '-o',
         tmp_path / 'controller.o', tmp_path / 'controller.cpp')
    assert 'planar_2r' in call('nm', '-C', '--undefined-only', tmp_path / 'controller.o')


@needs_tools
@pytest.mark.parametrize('name', ['"; int owned; //', '*/ int owned; /*', '\u00e9\n#error x',
                                  '??/', '${ENV{HOME}}', '__', '9', 'x' * 300])
def test_names_of_a_robot_stay_names(rng, name, tmp_path):
    chain = random_chain(rng, 1, types='R')
    joint = replace(chain.joints[0], name=name)
    chain = replace(chain, joints=(joint,), link_names=(name,), base=name, tip=name, robot=name)
    files = c_library(chain)
    write(tmp_path, files)
    source, = (path for path in files if path.startswith('src/'))
    call(COMPILERS['CC'], *C_FLAGS.split(), '-c', '-I', tmp_path / 'include', '-o',
         tmp_path / 'x.o', tmp_path / source)
    assert 'owned' not in call('nm', tmp_path / 'x.o').replace('int_owned', '')
    assert re.fullmatch(r'src/[a-z][a-z0-9_]*_dynamics\.c', source)


def test_the_header_is_for_readers(rng):
    chain = chain_from_urdf(ROBOT)
    header = c_library(chain, identified(chain, rng))['include/planar_2r_dynamics.h']
    for line in ('6 of 6 identified from 1000 samples', 'PLANAR_2R_JOINTS = 2,',
                 '0  joint_1: q [rad], qd [rad/s], qdd [rad/s^2], tau [N m]',
                 'U1_33 [kg m^2] = ZZ1', 'double static_friction[2];', 'extern "C" {',
                 'torques or forces per acceleration'):
        assert line in header
    assert 'those of the robot description' in c_library(chain)['include/planar_2r_dynamics.h']


def test_parameters_that_make_every_torque_nan_are_refused():
    chain = chain_from_urdf(ROBOT)
    physics = replace(chain.joint_physics, offset=[0.0, np.nan])
    estimate = MlcEstimate.not_estimated(chain, minimal_parameters(chain))
    with pytest.raises(ParameterError, match=r'are not finite \(offset\)'):
        c_library(chain, replace(estimate, joint_physics=physics))


def test_parameters_of_another_robot_are_refused(rng):
    other = random_chain(rng, 2, types='RR')
    with pytest.raises(ParameterError, match='another geometry'):
        c_library(chain_from_urdf(ROBOT),
                  MlcEstimate.not_estimated(other, minimal_parameters(other)))


def test_parameters_of_another_set_are_converted():
    chain = chain_from_urdf(ROBOT)
    khalil = MlcEstimate.not_estimated(chain, minimal_parameters(chain, 'khalil'))
    expected, converted = (c_library(chain, each)['src/planar_2r_dynamics.c']
                           for each in (None, khalil))
    assert converted == expected


def test_only_a_generated_folder_is_overwritten(tmp_path, capsys):
    words = ['generate', str(ROBOT), '--library', str(tmp_path)]
    assert main(words) == main(words) == 0
    (tmp_path / 'CMakeLists.txt').write_text('project(mine)\n')
    assert main(words) == 2
    assert 'was not written by this command' in capsys.readouterr().err
    assert (tmp_path / 'CMakeLists.txt').read_text() == 'project(mine)\n'
