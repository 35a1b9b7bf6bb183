"""Tables in registers: what is picked out of them, and the polynomials whose coefficients they hold."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.llvm import jit, x86
from intaglio.native.llvm.builder import Code, module
from intaglio.native.llvm.vectors import FLOAT, Builder, Lanes
from intaglio.native.vector_math import error_functions, exponentials, piecewise_polynomials
from tests.native.vector_math.test_functions import exact, units_off
from tests.native.vectors import compiled

PIECES = {"tanh": exponentials.TANH, "erf": error_functions.ERF}
FITTED = PIECES | {"scaled erfc": error_functions.SCALED_ERFC}
CUTS = [(name, size) for name, pieces in FITTED.items() for size in pieces.cuts]
IN_REGISTERS = pytest.mark.skipif(
    not jit.PERMUTED_ENTRIES, reason="no instruction picks numbers out of registers here"
)


def evaluated(name, size, x):
    """The polynomials of a table at numbers from 0 to its end, in float64."""
    pieces, cut = FITTED[name], FITTED[name].cuts[size]
    centres, columns = pieces.fitted(size)
    moved = (x + np.float32(cut.shift)).view(np.int32)
    index = (moved >> (piecewise_polynomials.FRACTION - cut.bits)) % size
    r = x.astype(np.float64) - np.array(centres)[index]
    total = np.zeros(x.shape)
    for column in columns[:0:-1]:
        total = (total + np.array(column)[index]) * r
    first = moved >> (piecewise_polynomials.FRACTION - cut.bits) == moved[0] >> (
        piecewise_polynomials.FRACTION - cut.bits
    )
    begun = np.array(columns[0])[index]
    return total + np.where(first, x, begun) if pieces.near else total + begun


@pytest.mark.parametrize(("name", "size"), CUTS)
def test_polynomials_are_nearer_than_the_last_place(name, size):
    x = np.linspace(0, FITTED[name].top, 20_001).astype(np.float32)
    right = FITTED[name].function(x.astype(np.float64))
    off = np.abs(evaluated(name, size, x) - right)
    assert (off / np.spacing(right.astype(np.float32))).max() < 0.9


@pytest.mark.parametrize(("name", "size"), CUTS)
def test_the_intervals_reach_the_end_of_the_range(name, size):
    cut = FITTED[name].cuts[size]
    edges = cut.edges(size)
    assert edges[0] == 0
    assert edges[-2] < FITTED[name].top <= edges[-1]


@pytest.mark.parametrize("name", PIECES)
def test_at_the_end_of_the_range_results_are_one(name):
    """So that every number beyond may be taken for the end."""
    end = np.full(16, PIECES[name].top, np.float32)
    assert (compiled(name, "float32")(end) == 1).all()


@pytest.mark.parametrize("name", PIECES)
def test_numbers_next_to_the_edges_of_intervals(name):
    pieces = PIECES[name]
    found = [cut.edges(size) for size, cut in pieces.cuts.items()]
    edges = np.concatenate(found).astype(np.float32)[:, None]
    x = (edges + np.arange(-20, 21) * np.spacing(edges)).astype(np.float32).ravel()
    x = np.concatenate([x, np.linspace(0, 2 * pieces.top, 100_000).astype(np.float32)])
    got = compiled(name, "float32")(x)
    assert units_off(got, pieces.function(x.astype(np.float64))).max() <= 2
    assert np.abs(got).max() == 1
    np.testing.assert_array_equal(compiled(name, "float32")(-x), -got)


@pytest.mark.parametrize("name", PIECES)
def test_the_smallest_numbers_and_those_that_are_none(name):
    bits = np.arange(1, 2000, 7, dtype=np.int32)
    tiny = np.concatenate([bits.view(np.float32), np.geomspace(1e-44, 1e-30, 500)])
    x = tiny.astype(np.float32)
    right = PIECES[name].function(x.astype(np.float64))
    assert units_off(compiled(name, "float32")(x), right).max() <= 1
    given = np.array([np.inf, -np.inf, np.nan, 3e38, -3e38], np.float32)
    np.testing.assert_array_equal(compiled(name, "float32")(given), [1, -1, np.nan, 1, -1])


def test_logarithms_where_the_parts_of_a_number_say_what_they_are():
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1, -1e-45, 1, 1e-45], np.float32)
    with np.errstate(all="ignore"):
        right = exact("log", "float32", x)
    assert units_off(compiled("log", "float32")(x), right).max() <= 2
    near = (1 + np.arange(-100_000, 100_000) * 2.0**-21).astype(np.float32)
    right = exact("log", "float32", near)
    assert units_off(compiled("log", "float32")(near), right).max() <= 2


def test_exponentials_at_both_ends_of_the_range():
    ends = np.concatenate([np.linspace(-106, -86, 9999), np.linspace(87, 90, 9999)])
    x = ends.astype(np.float32)
    right = exact("exp", "float32", x)
    assert units_off(compiled("exp", "float32")(x), right, flushed=True).max() <= 2


def run(lanes, write, *arrays):
    """What `write` makes of vectors of some lanes."""
    code = Code("k", [f"ptr %{letter}" for letter in "xyz"])
    vector = f"<{lanes} x float>"
    given = [code.load(vector, place, 4) for place in ("%x", "%y")]
    s = Builder(code, lanes, 1)
    made = write(s, *[Lanes(FLOAT, (name,)) for name in given])
    code.do(f"store {vector} {made.names[0]}, ptr %z, align 4")
    code.do("ret void")
    built = jit.Module(module([code]))
    result = np.zeros(lanes, np.float32)
    places = [np.ascontiguousarray(a, np.float32).ctypes.data for a in (*arrays, result)]
    built.function("k", *[ctypes.c_void_p] * 3)(*places)
    return result


@IN_REGISTERS
@pytest.mark.parametrize("lanes", [1, 5, 8, 12, 16, 32, 64])
def test_vectors_of_any_length(lanes):
    table = np.arange(jit.PERMUTED_ENTRIES) * 1.5 - 3
    rng = np.random.default_rng(lanes)
    x, y = rng.normal(size=(2, lanes)).astype(np.float32) * 8
    index = (x.view(np.int32) >> 16) % jit.PERMUTED_ENTRIES
    got = run(
        lanes, lambda s, x, y: x86.picked(s, table.tolist(), s.shift_right(s.bits(x), 16)), x, y
    )
    np.testing.assert_array_equal(got, table[index].astype(np.float32))
    if x86.has_parts(FLOAT):
        got = run(lanes, x86.scaled, x, y)
        np.testing.assert_array_equal(got, x * np.exp2(np.floor(y)))
        got = run(lanes, lambda s, x, y: x86.exponent(s, x), x, y)
        np.testing.assert_array_equal(got, np.floor(np.log2(np.abs(x))))
        got = run(lanes, lambda s, x, y: x86.significand(s, s.abs(x)), x, y)
        assert ((got >= 0.75) & (got < 1.5)).all()
        np.testing.assert_array_equal(np.frexp(got)[0], np.frexp(np.abs(x))[0])


@pytest.mark.parametrize("name", ["tanh", "exp", "log", "erf", "sigmoid"])
def test_in_registers_and_in_memory_the_bits_are_the_same(name):
    function = getattr(tf.math, name)
    f = tf.function(lambda x: function(x), jit_compile=True)
    x = np.abs(np.random.default_rng(1).normal(size=4000)).astype(np.float32) * 3
    whole = f(tf.constant(x)).numpy()
    for count in (1, 3, 7, 16):
        some = f(tf.constant(x[:count])).numpy()
        np.testing.assert_array_equal(some, whole[:count])


@pytest.mark.parametrize("name", ["erf", "erfc", "sigmoid"])
def test_large_arrays_are_the_same_bits_eager_traced_and_compiled(name):
    function = getattr(tf.math, name)
    x = np.random.default_rng(2).normal(size=(300, 400)).astype(np.float32) * 2
    eager = function(tf.constant(x)).numpy()
    for how in (None, True):
        traced = tf.function(lambda x: function(x), jit_compile=how)
        np.testing.assert_array_equal(traced(tf.constant(x)), eager)
    transposed = function(tf.transpose(tf.constant(x))).numpy()
    np.testing.assert_array_equal(transposed, eager.T)
    exactly = getattr(math, name, lambda v: 1 / (1 + math.exp(-v)))
    right = np.vectorize(exactly)(x.astype(np.float64))
    assert units_off(eager, right, flushed=name == "erfc").max() <= (
        3 if jit.PERMUTED_ENTRIES else 6
    )
    for dtype in (tf.float64, tf.bfloat16, tf.float16):
        other = function(tf.cast(x, dtype))
        np.testing.assert_allclose(tf.cast(other, tf.float32), right, atol=0.01)


@pytest.mark.parametrize("name", ["erf", "erfc", "sigmoid"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_large_short_floats_are_computed_as_float32_and_rounded_once(name, dtype):
    function = getattr(tf.math, name)
    x = tf.cast(np.random.default_rng(3).normal(size=(300, 400)) * 2, dtype)
    right = tf.cast(function(tf.cast(x, tf.float32)), dtype)
    for _ in range(6):
        np.testing.assert_array_equal(function(x), right)
    for how in (False, None, True):
        traced = tf.function(lambda x: function(x), jit_compile=how)
        np.testing.assert_array_equal(traced(x), right)
