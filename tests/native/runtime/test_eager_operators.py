"""Operators of eager tensors in machine code: the bits of Python's, and all that they leave to these."""

from __future__ import annotations

import gc
import itertools
import operator
import sys

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.runtime import eager_operators, tensor_objects
from intaglio.opdef import operators
from intaglio.runtime import eager
from intaglio.runtime.eager import EagerTensor

pytestmark = pytest.mark.skipif(
    not tensor_objects.AVAILABLE, reason="the layout of objects is unknown"
)
SPECIAL = sorted(eager_operators.SPECIAL)
DTYPES = (tf.float32, tf.float64, tf.int32, tf.int64)
SHAPES = ((), (1,), (3,), (2, 2), (0, 3), (7, 5), (33,), (4, 1, 19), (64, 64), (65, 64))


def in_python(special):
    """The method as it is without machine code."""
    op_of, slow = operators.FAST[special]
    return eager._fast_binary(op_of(), slow, special.startswith("__r"))


PYTHON = {special: in_python(special) for special in SPECIAL}
NATIVE = eager_operators.methods(PYTHON)


def values(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype.is_integer:
        whole = np.iinfo(dtype.as_numpy_dtype)
        return rng.integers(whole.min, whole.max, shape, dtype.as_numpy_dtype, True)
    x = rng.normal(size=shape) * 10.0 ** rng.integers(-40, 38, shape)
    odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, 3.4e38])
    x = np.where(rng.random(shape) < 0.2, rng.choice(odd, shape), x)
    with np.errstate(all="ignore"):
        return x.astype(dtype.as_numpy_dtype)


def same(special, x, y):
    with np.errstate(all="ignore"):
        mine, theirs = NATIVE[special](x, y), PYTHON[special](x, y)
    assert type(mine) is type(theirs)
    if isinstance(mine, EagerTensor):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        assert mine.numpy().tobytes() == theirs.numpy().tobytes()
    return mine


@pytest.mark.parametrize("special", SPECIAL)
def test_the_same_bits(special):
    for dtype in (*DTYPES, tf.float16):
        for shape in SHAPES:
            x = tf.constant(values(shape, dtype))
            if dtype.is_floating or "truediv" not in special:
                same(special, x, tf.constant(values(shape, dtype, 1)))
                same(special, x, x)


@pytest.mark.parametrize("special", SPECIAL)
def test_python_numbers(special):
    given = [2.0, -0.5, float("nan"), float("inf"), 0, 1, -1, 3, 127, -127, 128, -128, 10**6, True]
    for dtype in DTYPES:
        x = tf.constant(values((5,), dtype))
        for number in given:
            if dtype.is_integer and (type(number) is float or "truediv" in special):
                continue
            same(special, x, number)


def test_what_is_left_to_python():
    x = tf.constant(np.arange(6, dtype=np.float32).reshape(2, 3))
    transposed = tf.transpose(x)
    for special in SPECIAL:
        for y in (x[0], x[:, 1:2], tf.constant(2.0), tf.Variable(x), x.numpy(), np.float32(3)):
            same(special, x, y)
        same(special, transposed, tf.transpose(x + 1.0))
        same(special, transposed, transposed + 0.0)
    for y in (tf.constant([1, 2, 3]), "a", 10**400, object()):
        messages = []
        for method in (NATIVE["__add__"], PYTHON["__add__"]):
            with pytest.raises(
                (tf.errors.InvalidArgumentError, TypeError, ValueError, OverflowError)
            ) as caught:
                method(x, y)
            messages.append((type(caught.value), str(caught.value)))
        assert messages[0] == messages[1]


def test_tapes_and_graphs_see_them():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = NATIVE["__mul__"](x, NATIVE["__add__"](x, 1.0))
    np.testing.assert_array_equal(tape.gradient(y, x), [3.0, 5.0])

    ones = tf.ones([2])

    @tf.function
    def traced(x):
        return NATIVE["__add__"](ones, x)

    np.testing.assert_array_equal(traced(x), [2.0, 3.0])


def test_nothing_is_kept():
    x = tf.ones([40, 40])
    dtype = x._array.dtype

    def work(iterations):
        for _ in range(iterations):
            for special in SPECIAL:
                NATIVE[special](x, x)
                NATIVE[special](x, 2.0)
                NATIVE[special](x, 3)
                NATIVE[special](x, x[0])
        gc.collect()
        return sys.getallocatedblocks(), sys.getrefcount(dtype)

    work(10)
    marks = list(itertools.pairwise([work(50) for _ in range(6)]))
    # What each round keeps is seen in all of them; what other tests' threads do meanwhile is not.
    assert min(abs(after[0] - before[0]) for before, after in marks) < 20
    assert min(abs(after[1] - before[1]) for before, after in marks) == 0


def test_programs_that_do_many_get_them():
    eager.install_fast_operators()
    x = tf.ones([2, 2])
    assert type(EagerTensor.__add__).__name__ == "function"
    for _ in range(eager._Countdown.CALLS + 1):
        x = operator.sub(x, 0.0)
    for special in SPECIAL:
        assert type(EagerTensor.__dict__[special]).__name__ == "method_descriptor"
    np.testing.assert_array_equal(2.0 * x + x / x, np.full([2, 2], 3.0))
    eager.install_fast_operators()
    assert type(EagerTensor.__add__).__name__ == "function"
    np.testing.assert_array_equal(2.0 * x + x / x, np.full([2, 2], 3.0))
