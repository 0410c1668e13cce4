# SPDX-License-Identifier: Apache-2.0
import io

import numpy as np
import pytest

from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.chain.urdf.shapes import Shape
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.picture.renderer import Camera, camera_for, png, render
from robot_dynamics_ros.picture.shadow import shadow
from robot_dynamics_ros.picture.solids import (
    GREEN,
    RED,
    Solid,
    arrow,
    inertia_ellipsoid,
    rod,
    shape_solid,
)


def square(height, half, colour=RED, opacity=1.0):
    """Return a horizontal square at a height."""
    corners = half * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=float)
    return Solid(corners + [0.0, 0.0, height], np.array([[0, 1, 2], [0, 2, 3]]), colour, opacity)


FROM_ABOVE = Camera(np.array([0.0, 0.0, 10.0]), np.zeros(3), 2.0 * np.arctan(0.1))  # 2 m high


def coloured(picture, colour):
    """Return where the hue is that of a colour."""
    strongest = int(np.argmax(colour))
    others = [k for k in range(3) if k != strongest]
    levels = picture.astype(int)
    return np.all(levels[..., [strongest]] > levels[..., others] + 20, axis=-1)


def test_a_square_covers_as_many_pixels_as_on_paper():
    picture = render([square(0.0, 0.5)], FROM_ABOVE, 80, 40)
    seen = coloured(picture, RED)
    assert seen.sum() == 20 * 20  # 1 m of 2 m, 40 pixels high
    assert seen[10:30, 30:50].all()
    assert (picture[~seen] == 255).all()


def test_what_is_nearer_covers_what_is_farther_in_any_order():
    near, far = square(1.0, 0.25, GREEN), square(0.0, 0.5, RED)
    for solids in ([near, far], [far, near]):
        picture = render(solids, FROM_ABOVE, 40, 40)
        assert coloured(picture, GREEN)[18:22, 18:22].all()
        assert coloured(picture, RED)[10:12, 10:30].all()


def test_what_is_behind_the_camera_is_not_drawn():
    assert (render([square(11.0, 0.5)], FROM_ABOVE, 20, 20) == 255).all()


def test_one_sees_through_what_is_not_opaque():
    behind = render([square(0.0, 0.5)], FROM_ABOVE, 20, 20)[10, 10].astype(int)
    glass = render([square(1.0, 0.5, GREEN)], FROM_ABOVE, 20, 20)[10, 10].astype(int)
    both = render([square(0.0, 0.5), square(1.0, 0.5, GREEN, 0.25)], FROM_ABOVE, 20, 20)[10, 10]
    np.testing.assert_allclose(both, 0.75 * behind + 0.25 * glass, atol=1.0)
    hidden = render([square(0.0, 0.5, GREEN, 0.25), square(1.0, 0.5)], FROM_ABOVE, 20, 20)
    assert coloured(hidden, RED)[10, 10] and not coloured(hidden, GREEN).any()


def test_the_camera_sees_everything():
    solids = [square(0.0, 0.1), rod([0.0, 0.0, 0.0], [2.0, 1.0, 3.0], 0.05)]
    for aspect in (0.5, 2.0):
        picture = render(solids, camera_for(solids, aspect), int(200 * aspect), 200)
        border = [picture[0], picture[-1], picture[:, 0], picture[:, -1]]
        assert all((line == 255).all() for line in border)
        rows = np.flatnonzero((picture < 250).any(axis=(1, 2)))
        columns = np.flatnonzero((picture < 250).any(axis=(0, 2)))
        assert max(np.ptp(rows) / 200, np.ptp(columns) / (200 * aspect)) > 0.8


def test_a_picture_is_a_png_file():
    from matplotlib.image import imread

    picture = render([square(0.0, 0.5)], FROM_ABOVE, 30, 20)
    np.testing.assert_allclose(255 * imread(io.BytesIO(png(picture)), 'png'), picture, atol=0.01)


@pytest.mark.parametrize('size', [(0, 10), (10, 100_000)])
def test_a_picture_of_no_sensible_size_is_refused(size):
    with pytest.raises(ParameterError, match='pixels'):
        render([], FROM_ABOVE, *size)


def test_nothing_is_a_white_picture():
    assert (render([], camera_for([]), 8, 8) == 255).all()


@pytest.mark.parametrize(('kind', 'size', 'volume'), [
    ('box', (0.2, 0.3, 0.4), 0.024), ('sphere', (0.5,), 4.0 / 3.0 * np.pi * 0.125),
    ('cylinder', (0.1, 2.0), np.pi * 0.02),
    ('capsule', (0.1, 1.0), np.pi * 0.01 + 4.0 / 3.0 * np.pi * 0.001)])
def test_triangles_of_a_shape_enclose_its_volume_and_face_outwards(kind, size, volume):
    solid = shape_solid(Shape(kind, size, Pose.identity()), RED)
    a, b, c = solid.vertices[solid.faces].transpose(1, 0, 2)
    enclosed = np.einsum('ki,ki->', a, np.cross(b, c)) / 6.0
    assert enclosed == pytest.approx(volume, rel=0.04)


def test_an_ellipsoid_has_the_half_axes_of_its_body(rng):
    half = np.array([0.1, 0.2, 0.3])
    moments = 0.2 * 5.0 * (np.sum(half**2) - half**2)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    body = Inertia.from_centre_of_mass(5.0, [1.0, 2.0, 3.0], R @ np.diag(moments) @ R.T)
    points = inertia_ellipsoid(body, RED).vertices - [1.0, 2.0, 3.0]
    np.testing.assert_allclose(np.sum((points @ R / half)**2, axis=1), 1.0, rtol=1e-6)


def test_a_body_without_mass_has_no_ellipsoid_and_an_impossible_one_is_thin():
    assert inertia_ellipsoid(Inertia.zero(), RED) is None
    impossible = Inertia.from_centre_of_mass(1.0, np.zeros(3), np.diag([1.0, 0.1, 0.1]))
    assert np.all(np.isfinite(inertia_ellipsoid(impossible, RED).vertices))


def test_an_arrow_ends_at_its_tip_and_may_have_no_length():
    points = np.concatenate([part.vertices for part in arrow([0, 0, 0], [0, 0, -2], 0.1, RED)])
    assert points[:, 2].min() == pytest.approx(-2.0)
    assert arrow([1, 1, 1], [1, 1, 1], 0.1, RED) == []


def test_a_shadow_lies_on_the_floor():
    [dark] = shadow([square(1.0, 0.5), square(1.0, 0.5, opacity=0.5)], floor=-0.2)
    assert (dark.vertices[:, 2] == -0.2).all() and dark.opacity < 1.0
