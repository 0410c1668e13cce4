# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration of the documentation: make docs."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

project = 'robot_dynamics_ros'
author = 'the contributors of robot_dynamics_ros'
project_copyright = 'the contributors, Apache-2.0'
release = re.search(r"__version__ = '(.*?)'",
                    (ROOT / 'robot_dynamics_ros' / '__init__.py').read_text())[1]

extensions = ['myst_parser', 'sphinx_copybutton']
myst_enable_extensions = ['attrs_inline']
myst_heading_anchors = 3
exclude_patterns = ['_build']
#: Relative links to files beside docs/ become downloads, which Sphinx checks; these do not.
nitpicky = True
html_theme = 'furo'
html_title = 'robot dynamics'
smartquotes = False  # options begin with two dashes
html_static_path: list[str] = []
html_theme_options = {'navigation_with_keys': True}
copybutton_exclude = '.linenos, .gp, .go'
#: What the prompt of a terminal would be is never copied.
copybutton_prompt_text = '$ '
suppress_warnings: list[str] = []
