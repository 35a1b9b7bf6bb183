"""Machine code instead of NumPy for elementwise ops on large arrays of 16-bit floats: the same bits."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import machine_code, raw, short_floats

HALVES = (tf.float16, tf.bfloat16)
NAMES = sorted(
    name
    for name, op in raw.catalogue().items()
    if op.native_exact and "scalar" in op.rules and any(d.numpy in op.by_dtype for d in HALVES)
)


def _operands(count: int, shape: tuple[int, ...], dtype: Any) -> list[tf.Tensor]:
    """Numbers of all sizes with both signs, zeros, infinities, NaN."""
    draw = np.random.default_rng(0)
    operands: list[tf.Tensor] = []
    for _ in range(count):
        x = np.exp2(draw.uniform(-16, 16, shape)) * draw.choice([-1, 1], shape)
        x.reshape(-1)[:9] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0**-24, 65504.0]
        draw.shuffle(x.reshape(-1))
        operands.append(tf.cast(tf.constant(x), dtype))
    return operands


def _assert_equal(got: Any, want: Any) -> None:
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.astype(np.float32), want.astype(np.float32))


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_the_same_bits(name: str, dtype: Any) -> None:
    op = raw.catalogue()[name]
    operands = _operands(len(op.input_names), (64, 100), dtype)
    arrays = [x.numpy() for x in operands]
    if dtype.numpy not in op.by_dtype:
        pytest.skip("the op has no such numbers")
    compiled = short_floats.compiled(op, arrays[0].size, tuple([a.dtype for a in arrays]))
    if compiled is None:
        pytest.skip("the op has no code, or there is no compiler")
    with np.errstate(all="ignore"):
        want = np.asarray(op.kernel_fn(*arrays))
    for got in (np.asarray(compiled(*arrays)), op(*operands).numpy()):
        assert got.dtype == want.dtype
        same = got == want
        if want.dtype != np.bool_:
            same |= np.isnan(got) & np.isnan(want)
            same &= np.isnan(want) | (np.signbit(got) == np.signbit(want))
        assert same.all()


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_casts(dtype: Any) -> None:
    (short,) = _operands(1, (64, 100), dtype)
    wide = short.numpy().astype(np.float32) * np.float32(1.001)
    with np.errstate(all="ignore"):
        want = wide.astype(dtype.numpy)
    _assert_equal(tf.cast(tf.constant(wide), dtype).numpy(), want)
    got = tf.cast(short, tf.float32).numpy()
    np.testing.assert_array_equal(got, short.numpy().astype(np.float32))


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_operands_that_broadcast_and_python_numbers(dtype: Any) -> None:
    x, y = _operands(2, (64, 100), dtype)
    row = y[:1]
    with np.errstate(all="ignore"):
        _assert_equal((x + row).numpy(), x.numpy() + row.numpy())
        _assert_equal((x * 0.5).numpy(), x.numpy() * dtype.numpy.type(0.5))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.add(x, y[:3])


def test_small_arrays_and_few_calls_need_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "_done", {})
    monkeypatch.setattr(machine_code, "_compiler_loaded", threading.Event())
    asked: list[Any] = []
    monkeypatch.setattr(machine_code.HOOKS, "select_kernel", lambda *args: asked.append(args))
    for size in (10, machine_code.MIN_SHORT_ELEMENTS):
        x = tf.ones([size], tf.float16)
        np.testing.assert_array_equal((x + x).numpy(), np.full(size, 2, np.float16))
    assert not asked


@pytest.mark.parametrize("compiles", [False, True])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_all_numbers_widened_and_rounded(
    dtype: Any, compiles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if compiles:
        monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
        monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    every = np.arange(1 << 16, dtype=np.uint16).view(dtype.numpy)
    for x in (every, every.reshape(256, 256).T, every[::3], every[7], every[:0]):
        wide = short_floats.widened(x)
        assert wide.dtype == np.float32
        want = np.asarray(x).astype(np.float32)
        np.testing.assert_array_equal(wide, want)
        there = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(wide)[there], np.signbit(want)[there])
        with np.errstate(all="ignore"):
            near = want * np.float32(1.0007)
            rounded = short_floats.rounded(near, dtype.numpy)
            _assert_equal(rounded, near.astype(dtype.numpy))
    for other in (np.arange(4, dtype=np.int16), np.ones(3), np.ones(3, np.float32)):
        assert short_floats.widened(other) is other


@pytest.mark.parametrize("shape", [(50,), (70, 90), (3, 40, 50)])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_extremes_and_functions_by_float32(dtype: Any, shape: Any) -> None:
    (x,) = _operands(1, shape, dtype)
    wide = x.numpy().astype(np.float32)
    for axes in {(0,), (len(shape) - 1,), tuple(range(len(shape)))}:
        for ours, numpys in ((tf.reduce_max, np.max), (tf.reduce_min, np.min)):
            got = ours(x, list(axes)).numpy()
            assert got.dtype == dtype.numpy
            np.testing.assert_array_equal(got.astype(np.float32), numpys(wide, axes))
    finite = np.where(np.isnan(wide), 0, wide)
    found = tf.argmax(tf.constant(finite, dtype), -1).numpy()
    np.testing.assert_array_equal(found, np.argmax(finite, -1))
    for name in ("tanh", "exp", "sin"):
        op = getattr(tf, name)
        with np.errstate(all="ignore"):
            want = getattr(np, name)(wide).astype(dtype.numpy)
        got = op(x).numpy()
        _assert_equal(got, tf.function(op)(x).numpy())
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        assert same.mean() > 0.999
        np.testing.assert_allclose(
            got.astype(np.float32),
            want.astype(np.float32),
            rtol=float(np.finfo(np.float16).eps) * 9,
        )
