"""Ufuncs that are one primitive, and products of labelled axes: as NumPy has them."""

from __future__ import annotations

import re

import jax
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio.xla import primitives
from intaglio.xla.arrays import Array
from intaglio.xla.numpy_module import MODULE as xnp
from intaglio.xla.rules import linear_algebra

DTYPES = {
    "float": (np.float16, ml_dtypes.bfloat16, np.float32, np.float64),
    "integer": (np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64),
    "complex": (np.complex64, np.complex128),
    "bool": (np.bool_,),
}
CASES = [
    (name, np.dtype(dtype))
    for kind, names in primitives._PRIMITIVES.items()
    for name in names
    for dtype in DTYPES[kind]
]
ENDS = (0.0, -0.0, 1.0, -1.5, 3.0, -7.0, np.inf, -np.inf, np.nan)


def _computed(name, operands):
    """The ufunc of operands, of which those that are arrays are arguments of a program."""
    traced = [i for i, v in enumerate(operands) if isinstance(v, np.ndarray)]

    def program(*values):
        found = dict(zip(traced, values, strict=True))
        return getattr(xnp, name)(
            *[Array(found[i]) if i in found else v for i, v in enumerate(operands)]
        ).value

    with jax.enable_x64(True):
        return np.asarray(jax.jit(program)(*[operands[i] for i in traced]))


def _numbers(dtype, random, shape):
    if dtype.kind in "iu":
        return random.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "c":
        return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(dtype)
    return random.choice(np.array([*ENDS, *random.normal(size=20)]), shape).astype(dtype)


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=lambda v: str(v))
def test_one_primitive_is_the_ufunc(name, dtype):
    ufunc = getattr(np, name)
    random = np.random.default_rng(len(name))
    shapes = [(3, 1, 5), (4, 5)][: ufunc.nin]
    operands = [_numbers(dtype, random, s) for s in shapes]
    _assert_same(name, operands)
    if ufunc.nin == 2:
        scalar = _numbers(dtype, random, ())[()]  # a constant, as `s.const` makes
        _assert_same(name, [operands[0], scalar])
        _assert_same(name, [scalar, operands[0]])
        if dtype.kind == "f":
            _assert_same(name, [operands[0], 2.0])
        _assert_same(name, [operands[0], operands[0].reshape(1, 3, 5)])


def _assert_same(name, operands):
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(*operands)
    got = _computed(name, operands)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, wanted)
        return
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    tiny = 8 * float(ml_dtypes.finfo(got.dtype).eps)
    np.testing.assert_allclose(got.astype(wide), wanted.astype(wide), tiny, tiny)


@pytest.mark.parametrize("other", [True, 2, np.float64(2.0), [1.0, 2.0]], ids=str)
def test_operands_of_other_dtypes_promote_as_numpy_says(other):
    for dtype in (np.float32, np.int32):
        x = np.arange(1, 3).astype(dtype)
        _assert_same("add", [x, other])


LABELS = "abcd"


@st.composite
def _equations(draw):
    x = draw(st.permutations(LABELS))[: draw(st.integers(0, 4))]
    y = draw(st.permutations(LABELS))[: draw(st.integers(0, 4))]
    common = [n for n in x if n in y]
    free = [n for n in {*x, *y} if n not in common]
    batch = [n for n in common if draw(st.booleans())]
    return "".join(x), "".join(y), "".join(draw(st.permutations(sorted(free + batch))))


@given(_equations(), st.sampled_from((np.float32, np.int32, np.complex64)))
def test_products_of_labelled_axes_are_one_product(equation, dtype):
    x_labels, y_labels, labels = equation
    sizes = dict(zip(LABELS, (2, 3, 4, 1), strict=True))
    random = np.random.default_rng(0)
    x, y = [
        random.integers(-4, 5, [sizes[n] for n in names]).astype(dtype)
        for names in (x_labels, y_labels)
    ]

    def program(a, b):
        return linear_algebra._contraction(a, x_labels, b, y_labels, labels, np.dtype(dtype))

    wanted = np.einsum(f"{x_labels},{y_labels}->{labels}", x, y)
    if program(x, y) is None:  # a product of elements
        assert {*x_labels} == {*y_labels} == {*labels}
        return
    text = jax.jit(program).lower(x, y).as_text()
    ops = re.findall(r"stablehlo\.(\w+)", text)
    assert ops.count("dot_general") == 1 and ops.count("transpose") <= 1
    got = np.asarray(jax.jit(program)(x, y))
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    ("x", "y", "to"), [("aa", "ab", "b"), ("ab", "b", ""), ("a", "b", "aab"), ("a", "b", "ac")]
)
def test_what_is_no_product_is_left_to_others(x, y, to):
    ones = [np.ones([2] * len(n), np.float32) for n in (x, y)]
    assert linear_algebra._contraction(ones[0], x, ones[1], y, to, np.dtype(np.float32)) is None
