"""Ops whose operands must have one shape: compiled code refuses what the kernels refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.dtypes import bfloat16, float16, float32, int32
from intaglio.opdef import raw
from intaglio.opdef.op import Op

N = 6
# Small values are in registers, large ones go through loops.
SIZES = {"small": (N,), "large": (1 << 14,), "rows": (64, N), "columns": (512, 256)}


def _one_typed(op: Op) -> bool:
    """True if all that the op takes are tensors of one dtype, of which float32 may be one."""
    several = op.has_lists or len(op.input_names) > 1
    tensors = several and not op.has_graphs and not op.stateful
    if not tensors or op.required or op.result is not None or len(set(op.slots)) != 1:
        return False
    _, fixed, allowed = op.slots[0]
    return (fixed or float32) is float32 and float32 in (allowed or (fixed,))


def _alike(op: Op) -> bool:
    """True for an op that computes element by element and does not broadcast."""
    elementwise = op.same_shapes or "scalar" in op.rules or op.batching == "alike"
    return elementwise and op.batching != "broadcast" and not op.name.startswith("_")


def _call(op: Op, *tensors: Any) -> Any:
    return op([*tensors]) if op.has_lists else op(*tensors)


def _takes_vectors(op: Op) -> bool:
    """True for an op of vectors, unlike those of matrices."""
    count = 2 if op.has_lists else len(op.input_names)
    traced = tf.function(lambda *a: _call(op, *a))
    try:
        traced.get_concrete_function(*[tf.TensorSpec([None])] * count)
    except ValueError:
        return False
    return True


CANDIDATES = [op for _, op in sorted(raw.catalogue().items()) if _alike(op) and _one_typed(op)]
FAMILY = [op for op in CANDIDATES if _takes_vectors(op)]
SCALAR = [op for op in FAMILY if "scalar" in op.rules]


def _outcome(run: Any, *args: Any) -> Any:
    """The result, or the class of the error."""
    try:
        return np.asarray(run(*args))
    except Exception as e:
        return type(e)


def _modes(function: Any, rank: int, count: int, dtype: Any = float32) -> dict[str, Any]:
    spec = [tf.TensorSpec([None] * rank, dtype)] * count
    return {
        "graph": tf.function(function, input_signature=spec),
        "compiled": tf.function(function, input_signature=spec, jit_compile=True),
    }


def _assert_same(function: Any, args: Any, dtype: Any = float32) -> None:
    wanted = _outcome(function, *args)
    for mode, run in _modes(function, args[0].ndim, len(args), dtype).items():
        for _ in range(2):
            found = _outcome(run, *args)
            if isinstance(wanted, type):
                assert found is wanted, mode
            else:
                assert not isinstance(found, type), (mode, found)
                assert found.shape == wanted.shape, mode
                np.testing.assert_allclose(
                    found.astype(np.float64), wanted.astype(np.float64), rtol=2e-5, err_msg=mode
                )


def _arrays(shape: tuple[int, ...], narrow: int, count: int, dtype: Any) -> list[Any]:
    """Tensors of one shape but for the last axis (or first, of matrices) of one of them."""
    one = (*shape[:-1], 1) if len(shape) == 1 else (1, *shape[1:])
    rng = np.random.default_rng(3)
    return [
        tf.constant(rng.uniform(0.1, 0.9, one if i == narrow else shape), dtype)
        for i in range(count)
    ]


def test_the_family_is_found() -> None:
    names = {op.name for op in FAMILY}
    assert {"SigmoidGrad", "ReluGrad", "Betainc", "ApproximateEqual", "AddN", "Cross"} <= names


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("narrow", [0, 1, None])
@pytest.mark.parametrize("op", FAMILY, ids=lambda op: op.name)
def test_open_dimensions_do_not_broadcast(op: Op, narrow: int | None, size: str) -> None:
    shape = SIZES[size]
    count = 2 if op.has_lists else len(op.input_names)
    if op is raw.Cross:
        shape = (*shape[:-1], 3) if len(shape) > 1 else (3,)
    args = _arrays(shape, -1 if narrow is None else narrow, count, float32)
    _assert_same(lambda *a: _call(op, *a), args)


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=lambda d: d.name)
@pytest.mark.parametrize("op", [raw.ReluGrad, raw.Relu6Grad, raw.SigmoidGrad, raw.TanhGrad])
def test_16_bit_operands_do_not_broadcast(op: Op, dtype: Any) -> None:
    if dtype in op.slots[0][2]:
        _assert_same(lambda *a: _call(op, *a), _arrays((N,), 1, 2, dtype), dtype)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("op", SCALAR, ids=lambda op: op.name)
def test_what_is_fused_does_not_broadcast(op: Op, size: str) -> None:
    shape = SIZES[size]
    count = len(op.input_names)

    def function(*tensors: Any) -> Any:
        first, *others = [t * 1.5 for t in tensors]
        first = tf.ensure_shape(first, shape)
        return _call(op, first, *others) * 2.0 + 1.0

    for narrow in range(1, count):
        _assert_same(function, _arrays(shape, narrow, count, float32))


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("op", SCALAR, ids=lambda op: op.name)
def test_loops_do_not_broadcast(op: Op, size: str) -> None:
    count = len(op.input_names)

    def function(*tensors: Any) -> Any:
        def body(i: Any, total: Any) -> Any:
            return i + 1, total + _call(op, total * 0.1, *[t * 1.0 for t in tensors[1:]])

        invariants = [tf.TensorShape([]), tf.TensorShape([None])]
        start = (tf.constant(0, int32), tensors[0])
        return tf.while_loop(lambda i, _: i < 3, body, start, shape_invariants=invariants)[1]

    for narrow in (1, -1):
        _assert_same(function, _arrays(SIZES[size], narrow, count, float32))


@pytest.mark.parametrize("count", [1, N, N + 1])
@pytest.mark.parametrize("shape", [(N,), (N, N), (N, 3), (1, N)])
def test_conditions_choose_elements_or_rows(count: int, shape: tuple[int, ...]) -> None:
    x, y = tf.ones(shape), tf.zeros(shape)
    condition = tf.constant(np.arange(count) % 2 == 0)

    def function(c: Any, x: Any, y: Any) -> Any:
        return raw.Select(c, x, y)

    rank = [None] * len(shape)
    spec = [tf.TensorSpec([None], tf.bool), tf.TensorSpec(rank), tf.TensorSpec(rank)]
    wanted = _outcome(function, condition, x, y)
    for jit in (None, True):
        run = tf.function(function, input_signature=spec, jit_compile=jit)
        found = _outcome(run, condition, x, y)
        if isinstance(wanted, type):
            assert found is wanted
        else:
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("shape", [(N, 4), (64, 256), (2, 3, 4)])
@pytest.mark.parametrize("bias", [1, 4, 256])
def test_one_bias_is_not_that_of_all_channels(shape: tuple[int, ...], bias: int) -> None:
    value, bias = tf.ones(shape), tf.ones(bias)
    wanted = _outcome(raw.BiasAdd, value, bias)
    spec = [tf.TensorSpec([None] * len(shape)), tf.TensorSpec([None])]
    for jit in (None, True):
        run = tf.function(lambda v, b: raw.BiasAdd(v, b), input_signature=spec, jit_compile=jit)
        found = _outcome(run, value, bias)
        if isinstance(wanted, type):
            assert found is wanted
        else:
            np.testing.assert_array_equal(found, wanted)
