# SPDX-License-Identifier: Apache-2.0
"""How a node process ends when something unforeseen happens."""

import pytest

pytestmark = pytest.mark.ros


def test_a_node_comes_to_rest_even_after_an_unforeseen_error(ros):
    node = ros.start('support.failing_node')
    assert node.wait() == 1
    assert 'came to rest' in node.output
    assert 'nobody foresaw this' in node.output
