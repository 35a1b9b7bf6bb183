"""The compiled functions against wider arithmetic, over the whole range of their arguments."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.llvm import jit
from intaglio.native.llvm.vectors import kind_of
from intaglio.native.vector_math import (
    bessel_functions,
    functions,
    incomplete_gamma,
    special_integrals,
)
from intaglio.native.vector_math.functions import MIN_INTERLEAVED, interleaved
from intaglio.opdef import raw
from intaglio.ops.math.chebyshev import PiecewiseSeries
from tests.native.vectors import compiled

NAMES = (
    "exp", "expm1", "tanh", "log", "log1p", "sin", "cos", "tan", "sinh", "cosh",
    "asin", "acos", "atan", "asinh", "acosh", "atanh",
)  # fmt: skip
PAIRED = ("power", "atan2")
# NumPy's names where they are others.
NUMPY = {"atan2": "arctan2"} | {
    f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -5e-324, 1e-310, 1e300]


def arguments(dtype):
    """Numbers of every size, and many of those that are met."""
    rng = np.random.default_rng(7)
    whole = {"float32": np.uint32, "float64": np.uint64}[dtype]
    anything = rng.integers(0, np.iinfo(whole).max, 400_000, dtype=whole, endpoint=True)
    with np.errstate(over="ignore"):
        special = np.array(SPECIAL).astype(dtype)
    return np.concatenate(
        [
            anything.view(dtype),
            rng.normal(size=100_000).astype(dtype),
            rng.uniform(-110 if dtype == "float32" else -750, 720, 100_000).astype(dtype),
            (1 + rng.normal(size=50_000) * 1e-3).astype(dtype),
            special,
        ]
    )


def units_off(got, exact, flushed=False):
    """The distance to the exact result in units in the last place; 0 where both are infinite or NaN.

    Flushed results may be 0 for what is less than the smallest normal number.
    """
    dtype = got.dtype
    with np.errstate(over="ignore"):
        right = exact.astype(dtype)
    finite = np.isfinite(right)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(right))
    np.testing.assert_array_equal(got[~finite], right[~finite])
    if flushed:
        # Below the smallest normal number there is nothing but 0; its neighbours may be either.
        below = np.abs(right) < np.finfo(dtype).smallest_normal * (1 + 1e-4)
        finite &= ~(below & (got == 0))
    spacing = np.spacing(np.abs(right[finite])).astype(exact.dtype)
    return np.abs(got[finite].astype(exact.dtype) - exact[finite]) / spacing


def exact(name, dtype, *given):
    """The function's values in wider arithmetic."""
    wide = np.float64 if dtype == "float32" else np.longdouble
    if np.finfo(wide).nmant < np.finfo(dtype).nmant + 8:
        pytest.skip("long double is no wider than double here")
    with np.errstate(all="ignore"):
        return getattr(np, NUMPY.get(name, name))(*[x.astype(wide) for x in given])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_at_most_two_units_in_the_last_place(name, dtype):
    x = arguments(dtype)
    got = compiled(name, dtype)(x)
    assert units_off(got, exact(name, dtype, x), flushed=name == "exp").max() <= 2.0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exponentials_are_normal_numbers_or_zero(dtype):
    """TensorFlow 2.21 gives 0 for them in all modes; processors take long for others."""
    least = np.log(np.finfo(dtype).smallest_normal)
    x = np.linspace(1.3 * least, 0.99 * least, 100_001).astype(dtype)
    got = compiled("exp", dtype)(x)
    assert np.all((got == 0) | (got >= np.finfo(dtype).smallest_normal))
    assert np.all(got[x < least * (1 + 1e-6)] == 0)
    assert np.all(got[x > least * (1 - 1e-6)] > 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PAIRED)
def test_functions_of_two_numbers(name, dtype):
    x = arguments(dtype)
    rng = np.random.default_rng(5)
    near = np.exp(rng.normal(size=x.size)).astype(dtype)
    most = 50 if dtype == "float32" else 300
    given = (
        np.concatenate([x, np.abs(x), near]),
        np.concatenate([rng.permutation(x), x, rng.uniform(-most, most, x.size).astype(dtype)]),
    )
    got = compiled(name, dtype, operands=2)(*given)
    assert units_off(got, exact(name, dtype, *given), flushed=name == "power").max() <= 2.0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PAIRED)
def test_the_special_cases_of_two_numbers(name, dtype):
    values = np.array([*SPECIAL, 0.5, -0.5, 2, -2, 3, -3, 1e308, -1e308])
    with np.errstate(over="ignore"):
        x, y = (m.ravel().astype(dtype) for m in np.meshgrid(values, values))
    got = compiled(name, dtype, operands=2)(x, y)
    right = exact(name, dtype, x, y)
    assert units_off(got, right, flushed=name == "power").max() <= 2.0
    known = ~np.isnan(right)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(right[known]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "name", ["expm1", "tanh", "log1p", "sin", "tan", "asin", "atan", "sinh", "asinh", "atanh"]
)
def test_zero_keeps_its_sign(name, dtype):
    got = compiled(name, dtype)(np.array([0.0, -0.0], dtype))
    assert got.tolist() == [0.0, 0.0]
    assert np.signbit(got).tolist() == [False, True]


LONG = ("bessel_k0", "erfinv", "expint", "fresnel_cos", "lgamma", "tan")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_functions_take_few_vectors(dtype):
    kind, lanes = kind_of(dtype), jit.WIDTH // np.dtype(dtype).itemsize
    taken = {n: interleaved(functions.function(n), kind, lanes, 1) for n in {*LONG, "exp"}}
    assert taken.pop("exp") >= 8 and {taken[name] for name in LONG[:-1]} == {MIN_INTERLEAVED}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LONG)
def test_long_functions_interleaved_have_the_same_bits(name, dtype):
    x = np.random.default_rng(3).uniform(0.01, 0.99, 4096).astype(dtype)
    one = compiled(name, dtype)(x)
    assert len(np.unique(one)) > 3000
    for vectors in (2, 3, 4, 8):
        np.testing.assert_array_equal(one, compiled(name, dtype, vectors)(x))


@pytest.mark.parametrize("name", NAMES)
def test_interleaving_does_not_change_a_bit(name):
    x = np.random.default_rng(3).normal(size=4096).astype("float32")
    np.testing.assert_array_equal(compiled(name, "float32")(x), compiled(name, "float32", 4)(x))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_error_functions(dtype):
    """`math`'s are at most one unit off themselves; far out erfc loses some."""
    x = np.concatenate([np.linspace(-6, 6, 4001), np.linspace(6, 26, 1000), SPECIAL])
    x = x[np.abs(x) < 1e300].astype(dtype)
    for name, most in (("erf", 2.0), ("erfc", 2.0 if dtype == "float32" else 5.5)):
        right = np.array([getattr(math, name)(float(v)) for v in x])
        normal = np.abs(right) > np.finfo(dtype).tiny
        got = compiled(name, dtype)(x)
        assert units_off(got[normal], right[normal]).max() <= most
    edges = compiled("erf", dtype)(np.array([np.inf, -np.inf, np.nan, -0.0], dtype))
    np.testing.assert_array_equal(edges, [1.0, -1.0, np.nan, 0.0])
    assert np.signbit(edges[3])


# Near the zeros and poles of the gamma functions, between them, and far out.
GAMMA_ARGUMENTS = np.concatenate(
    [
        np.linspace(-12.3, 12.3, 5001),
        1 + np.linspace(-1e-3, 1e-3, 101),
        2 + np.linspace(-1e-3, 1e-3, 101),
        np.geomspace(1e-30, 1e30, 401),
        [0.0, -0.0, -1.0, -7.0, -150.5, np.inf, -np.inf, np.nan],
    ]
)
PROBABILITIES = np.concatenate(
    [
        np.linspace(0, 1, 4001),
        np.geomspace(1e-37, 0.5, 500),
        1 - np.geomspace(1e-7, 0.5, 200),
        [-0.1, 1.5, np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0],
    ]
)


# Where pieces of series meet, near zeros and poles, and far out.
SERIES_ARGUMENTS = np.concatenate(
    [
        np.linspace(-12.3, 12.3, 5001),
        np.linspace(-60, 60, 2001),
        np.geomspace(1e-30, 1e30, 401),
        -np.geomspace(1e-10, 1e3, 101),
        0.3725 + np.linspace(-0.02, 0.02, 501),
        [0.0, -0.0, 0.5, 1.0, 1.5, 1.6, 2.0, 2.5, 5.0, 6.0, 8.0, 24.0, np.inf, -np.inf, np.nan],
    ]
)
SERIES = [op for op in raw.catalogue().values() if isinstance(op, PiecewiseSeries)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", SERIES, ids=lambda op: op.name)
def test_functions_put_together_from_series(op, dtype):
    """As the NumPy kernel has them: float32 numbers rounded alike, float64 ones to the same digits
    relative to the terms, which cancel near zeros of oscillating functions."""
    x = SERIES_ARGUMENTS.astype(dtype)
    with np.errstate(all="ignore"):
        right = op.numpy_kernel(x)
    asked = []
    op.scalar(
        SimpleNamespace(**{n: lambda x, n=n: asked.append(n) for n in functions.HOME_OF}), None
    )
    got = compiled(asked[0], dtype)(x)
    special = ~np.isfinite(right)
    np.testing.assert_array_equal(got[special], right[special])
    finite, expected = got[~special], right[~special]
    if dtype == "float32":
        assert units_off(finite, expected.astype(np.float64)).max() <= 1
    else:
        np.testing.assert_allclose(finite, expected, rtol=1e-14, atol=2e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "numpy_kernel", "arguments"),
    [
        ("lgamma", raw.Lgamma.numpy_kernel, GAMMA_ARGUMENTS),
        ("digamma", raw.Digamma.numpy_kernel, GAMMA_ARGUMENTS),
        ("ndtri", raw.Ndtri.numpy_kernel, PROBABILITIES),
        ("erfinv", raw.Erfinv.numpy_kernel, np.concatenate([PROBABILITIES, -PROBABILITIES])),
    ],
)
def test_functions_whose_kernels_compute_in_float64(name, numpy_kernel, arguments, dtype):
    """The same method: float32 numbers are rounded alike, and float64 ones close to it."""
    x = arguments.astype(dtype)
    with np.errstate(all="ignore"):
        right = numpy_kernel(x)
    got = compiled(name, dtype)(x)
    special = ~np.isfinite(right)
    np.testing.assert_array_equal(got[special], right[special])
    if dtype == "float32":
        assert units_off(got[~special], right[~special].astype(np.float64)).max() <= 1
    else:
        np.testing.assert_allclose(got[~special], right[~special], rtol=4e-15, atol=1e-14)


def iterated_arguments(name: str, dtype: str) -> list[np.ndarray]:
    """Small and large arguments in every combination, edges among them."""
    rng = np.random.default_rng(4)
    edges = [0.0, -1.0, -2.5, 0.5, 1.0, 2.0, 10.0, np.inf, np.nan]
    sizes = np.concatenate([np.geomspace(1e-6, 1e6, 37), np.linspace(0.1, 30, 31), edges])
    first, second = (m.ravel() for m in np.meshgrid(sizes, sizes))
    if name == "betainc":
        shares = np.concatenate([np.linspace(0, 1, 21), [-0.5, 2.0, np.nan]])
        return [x.astype(dtype) for x in (first, second, rng.choice(shares, first.size))]
    if name == "polygamma":
        first = rng.choice([0, 1, 2, 3, 5, 10, 30, 1.5, -1, np.nan], first.size)
    return [first.astype(dtype), second.astype(dtype)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", [raw.Igamma, raw.Igammac, raw.Betainc, raw.Zeta, raw.Polygamma])
def test_functions_whose_lanes_converge_one_by_one(op, dtype):
    """float32 numbers are rounded as the NumPy kernel's are; large powers lose digits of float64."""
    name = op.name.lower()
    operands = iterated_arguments(name, dtype)
    with np.errstate(all="ignore"):
        right = op.numpy_kernel(*operands)
    got = compiled(name, dtype, operands=len(operands))(*operands)
    special = ~np.isfinite(right)
    np.testing.assert_array_equal(got[special], right[special])
    if dtype == "float32":
        assert units_off(got[~special], right[~special].astype(np.float64)).max() <= 1
    else:
        np.testing.assert_allclose(got[~special], right[~special], rtol=4e-13, atol=1e-290)


def test_what_stands_beside_a_number_does_not_change_its_series():
    """A lane stops where its own series has converged."""
    a, x = (np.random.default_rng(9).uniform(0.1, 60, 64).astype("float32") for _ in range(2))
    igamma = compiled("igamma", "float32", operands=2)
    alone = [igamma(np.full(16, p), np.full(16, q))[0] for p, q in zip(a, x, strict=True)]
    np.testing.assert_array_equal(igamma(a, x), alone)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("jit", [None, True])
def test_series_of_any_shapes_in_every_mode(dtype, jit):
    """Broadcast operands, above and below the size from which machine code computes."""
    rng = np.random.default_rng(1)
    for rows, columns in ((3, 5), (40, 70)):
        a = tf.constant(rng.uniform(0.2, 9, (rows, 1)), dtype)
        x = tf.constant(rng.uniform(0.2, 9, (columns,)), dtype)
        for function in (tf.math.igamma, tf.math.igammac, lambda p, q: tf.math.zeta(p + 1.5, q)):
            eager = function(a, x)
            traced = tf.function(lambda p, q, f=function: f(p, q) * 1, jit_compile=jit)(a, x)
            np.testing.assert_allclose(eager, traced, rtol=2e-7 if dtype == "float32" else 1e-13)
            if jit is None and (rows, columns) == (40, 70):
                np.testing.assert_array_equal(eager, traced)


WITH_SIXTEEN_REGISTERS = """
from intaglio.native.llvm import compiler, jit
from intaglio import tf
compile_, texts = jit.compiled, []
jit.compiled = lambda text, effort=1: texts.append(text) or compile_(text, effort)
x = tf.abs(tf.random.normal([300, 300], dtype=tf.float64)) + 0.5
z = tf.complex(x, x)
for f in (tf.math.log, tf.exp, tf.tanh, tf.sqrt):
    f(z)
z / (z + 1.0), z ** z, x ** x, tf.math.atan2(x, x)
for text in texts:
    for cpu in ("haswell", "skylake", "znver2"):
        compiler.emitted(text, compiler.machine(1, cpu, ""), False)
print(len(texts) > 3)
"""


@pytest.mark.skipif(jit.MACHINE != "x86_64", reason="processors of x86-64")
def test_no_function_takes_all_registers_of_processors_without_avx512():
    """LLVM ended the process where sixteen registers were parameters of a function, for some processors."""
    environment = {**os.environ, "INTAGLIO_VECTOR_BYTES": "32", "INTAGLIO_PREPARED": ""}
    done = subprocess.run(
        [sys.executable, "-c", WITH_SIXTEEN_REGISTERS],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_every_function_is_in_its_home() -> None:
    for name in functions.HOME_OF:
        found = functions.function(name)
        assert found is not None
        assert found.__name__.endswith(name.removeprefix("bessel"))
    assert functions.function("round") is None
    assert {*functions.ITERATED} == {*incomplete_gamma.ITERATED}
    assert {n for n in functions.HOME_OF if n.startswith("bessel")} == {*bessel_functions.BESSEL}
    assert {*functions.HOMES["special_integrals"]} == {*special_integrals.INTEGRALS}
