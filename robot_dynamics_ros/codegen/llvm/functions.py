# SPDX-License-Identifier: Apache-2.0
"""
Sine, cosine, tanh and exp as straight-line LLVM instructions: no call, no branch, any width.

The kernels of sine and cosine on [-pi/4, pi/4] have the coefficients of fdlibm (Sun
Microsystems, 1993). Errors are about one unit in the last place.
"""

from __future__ import annotations

import math

from robot_dynamics_ros.codegen.llvm.values import Lanes

#: Up to here angles are reduced exactly enough; beyond, the caller has to [rad].
LARGEST_ANGLE = 1e6

_SINE = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
         2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)
_COSINE = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
           -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)

#: pi/2 in parts of 33, 33 and 53 bits: their products with an integer below 2^20 are exact.
_HALF_PI = (1.57079632673412561417e+00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)

#: ln 2 in a part of 33 bits and the rest.
_LN_2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)

#: Adding and subtracting 1.5 * 2^52 rounds to an integer and leaves it in the last bits.
_ROUNDER = 6755399441055744.0

#: tanh(20) is 1 in doubles.
_TANH_IS_ONE = 20.0
_HALVINGS = 6  # of the argument 2 x of expm1, so that |argument| <= 0.625


def sine_cosine(lanes: Lanes, x: str) -> tuple[str, str]:
    """Return sin(x) and cos(x) for |x| <= LARGEST_ANGLE."""
    rounded = lanes.operation('fadd', lanes.operation('fmul', x, lanes.number(2.0 / math.pi)),
                              lanes.number(_ROUNDER))
    quadrant = lanes.bits(rounded)
    quarters = lanes.operation('fsub', rounded, lanes.number(_ROUNDER))
    r = x
    for part in _HALF_PI:
        r = lanes.operation('fsub', r, lanes.operation('fmul', quarters, lanes.number(part)))
    z = lanes.operation('fmul', r, r)
    tail = lanes.operation('fmul', lanes.operation('fmul', r, z), lanes.polynomial(z, _SINE))
    sine = lanes.operation('fadd', r, tail)
    tail = lanes.operation('fmul', lanes.operation('fmul', z, z), lanes.polynomial(z, _COSINE))
    half = lanes.operation('fmul', z, lanes.number(0.5))
    cosine = lanes.operation(
        'fadd', lanes.operation('fsub', lanes.number(1.0), half), tail)
    odd = lanes.is_odd(quadrant)
    return (_signed(lanes, lanes.choose(odd, cosine, sine), quadrant),
            _signed(lanes, lanes.choose(odd, sine, cosine), lanes.on_bits('add', quadrant, 1)))


def _signed(lanes: Lanes, a: str, quadrant: str) -> str:
    """Return -a in quadrants 2 and 3."""
    sign = lanes.on_bits('shl', lanes.on_bits('and', quadrant, 2), 62)
    return lanes.from_bits(lanes.on_bits('xor', lanes.bits(a), sign))


def exponential(lanes: Lanes, x: str) -> str:
    """Return exp(x); arguments beyond +-700 give exp(+-700)."""
    x = lanes.limited(x, 700.0)
    rounded = lanes.operation('fadd', lanes.operation('fmul', x, lanes.number(1 / math.log(2))),
                              lanes.number(_ROUNDER))
    doublings = lanes.operation('fsub', rounded, lanes.number(_ROUNDER))
    r = x
    for part in _LN_2:
        r = lanes.operation('fsub', r, lanes.operation('fmul', doublings, lanes.number(part)))
    value = lanes.polynomial(r, [1 / math.factorial(i) for i in range(15)])
    exponent = lanes.on_bits('shl', lanes.on_bits('add', lanes.bits(rounded), 1023), 52)
    return lanes.operation('fmul', value, lanes.from_bits(exponent))


def hyperbolic_tangent(lanes: Lanes, x: str) -> str:
    """Return tanh(x), to full relative accuracy near zero: E / (E + 2) with E = exp(2 x) - 1."""
    two = lanes.number(2.0)
    y = lanes.operation('fmul', lanes.limited(x, _TANH_IS_ONE),
                        lanes.number(2.0 / 2 ** _HALVINGS))
    series = lanes.polynomial(y, [1 / math.factorial(i) for i in range(1, 17)])
    E = lanes.operation('fmul', y, series)
    for _ in range(_HALVINGS):  # exp(2 y) - 1 = E (E + 2)
        E = lanes.operation('fmul', E, lanes.operation('fadd', E, two))
    return lanes.operation('fdiv', E, lanes.operation('fadd', E, two))
