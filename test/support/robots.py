# SPDX-License-Identifier: Apache-2.0
"""The bundled robots, and those of the PyPI package example-robot-data."""

from importlib import metadata
from pathlib import Path

URDF_FOLDER = Path(__file__).parents[2] / 'urdf'

ROBOTS = sorted(path.stem for path in URDF_FOLDER.glob('*.urdf'))


def example_robots():
    """Return the paths of all URDF files of example-robot-data, by file name."""
    files = metadata.files('example-robot-data') or []
    paths = [Path(str(file.locate())) for file in files if file.suffix == '.urdf']
    return sorted(paths, key=lambda path: (path.name, str(path)))


def example_robot(name):
    """Return the path of one of these files by its name without ending."""
    [path] = [path for path in example_robots() if path.stem == name]
    return path
