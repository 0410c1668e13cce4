# SPDX-License-Identifier: Apache-2.0
from glob import glob

from setuptools import Extension, find_packages, setup

try:
    import numpy
except ImportError:
    numpy = None

PACKAGE = 'robot_dynamics_ros'
NODES = ('adaptive_controller', 'calibration', 'dynamics_server', 'excitation', 'feedforward',
         'identification', 'live_view', 'payload_identification', 'simulated_robot',
         'tracking_experiment')

# Calls of compiled models. Optional: without a compiler they still work, slower.
EXTENSIONS = [] if numpy is None else [
    Extension(f'{PACKAGE}.codegen.runtime._entry', [f'{PACKAGE}/codegen/runtime/entry.c'],
              include_dirs=[numpy.get_include()], extra_compile_args=['-O2'], optional=True),
]

setup(
    name=PACKAGE,
    version='0.1.0',
    description='Feedforward torques from a URDF, with minimal parameters learned while the robot '
                'works',
    license='Apache-2.0',
    maintainer='The robot_dynamics_ros authors',
    maintainer_email='maintainers@robot-dynamics-ros.example',
    python_requires='>=3.10',
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={PACKAGE: ['py.typed', 'codegen/runtime/entry.c']},
    ext_modules=EXTENSIONS,
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        (f'share/{PACKAGE}/launch', sorted(glob('launch/*.launch.py'))),
        (f'share/{PACKAGE}/config', sorted(glob('config/*.*'))),
        (f'share/{PACKAGE}/security', ['security/policies.xml']),
        (f'share/{PACKAGE}/urdf', sorted(glob('urdf/*.urdf'))),
        (f'share/{PACKAGE}/benchmark', ['benchmark/pinocchio_baseline.py']),
    ],
    install_requires=['numpy', 'scipy', 'lxml', 'PyYAML', 'pycollada', 'urchin'],
    extras_require={
        'numba': ['numba'],
        'bags': ['rosbags'],
        'plots': ['matplotlib'],
        'simulation': ['mujoco'],
        'xacro': ['xacro'],
        'collision': ['coal'],
        'view': ['viser', 'rich<15'],
    },
    zip_safe=False,
    entry_points={
        'console_scripts': [
            'robot-dynamics = robot_dynamics_ros.cli.main:main',
            *(f'{node} = robot_dynamics_ros.nodes.{node}:main' for node in NODES),
        ],
    },
)
