"""Machine code instead of NumPy for elementwise ops on large arrays: the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.llvm import target
from intaglio.opdef import machine_code, raw, scalar

pytestmark = pytest.mark.skipif(target.FREESTANDING, reason="there is no compiler")

DTYPES = tuple(
    np.dtype(d) for d in ("float32", "float64", "int8", "int32", "int64", "uint8", "uint64", "bool")
)
SHAPE = (3, machine_code.MIN_ELEMENTS // 2)


def _operand(draw: np.random.Generator, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    if dtype.kind == "f":
        x = np.exp2(draw.uniform(-30, 30, shape)) * draw.choice([-1, 1], shape)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 6.0, np.finfo(dtype).tiny / 4]
        x.reshape(-1)[: len(special)] = special
    elif dtype.kind == "b":
        x = draw.integers(0, 2, shape)
    else:
        x = draw.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    x = x.astype(dtype)
    draw.shuffle(x.reshape(-1))
    return x


def _types(op: Any, dtype: Any) -> list[Any] | None:
    """The dtype of each input where the variable one is `dtype`; None if the op does not take it."""
    found: list[Any] = []
    for _, fixed, allowed in op.slots:
        if fixed is None and dtype not in [d.numpy for d in allowed or ()]:
            return None
        found.append(dtype if fixed is None else fixed.numpy)
    return found


def _candidates() -> list[str]:
    found: list[str] = []
    for name, op in sorted(raw.catalogue().items()):
        simple = "scalar" in op.rules and not op.has_lists and not op.required
        if simple and op.kernel_fn is not None and op.kernel_fn is not op.whole_kernel:
            found.append(name)
    return found


class Used:
    """The ops whose machine code has computed something, while it is `allowed`."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.allowed = True

    def both(self, op: Any, arrays: list[Any], **attrs: Any) -> tuple[np.ndarray, np.ndarray]:
        """An op's results by NumPy and by machine code."""
        tensors = [tf.constant(a) for a in arrays]
        with np.errstate(all="ignore"):
            self.allowed = False
            want = op(*tensors, **attrs).numpy()
            self.allowed = True
            return want, op(*tensors, **attrs).numpy()


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> Used:
    """Compiles at once."""
    found, compiled = Used(), machine_code.loop_of_passes

    def noted(op: Any, arguments: Any) -> Any:
        run = compiled(op, arguments) if found.allowed else None
        if run is not None:
            found.names.append(op.name)
        return run

    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    monkeypatch.setattr(scalar, "loop_of_passes", noted)
    return found


def _assert_same(got: np.ndarray, want: np.ndarray) -> None:
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    same = got == want
    if want.dtype.kind == "f":
        same |= np.isnan(got) & np.isnan(want)
        same &= np.isnan(want) | (np.signbit(got) == np.signbit(want))
    assert same.all()


@pytest.mark.parametrize("name", _candidates())
def test_the_same_bits(name: str, used: Used) -> None:
    op, draw = raw.catalogue()[name], np.random.default_rng(0)
    for dtype in DTYPES:
        types = _types(op, dtype)
        if types is not None:
            try:
                want, got = used.both(op, [_operand(draw, t, SHAPE) for t in types])
            except tf.errors.OpError:
                continue  # a divisor that is 0, a dtype without a kernel
            _assert_same(got, want)


def test_what_is_computed_by_machine_code(used: Used) -> None:
    x = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)
    for name in (
        "Relu",
        "Relu6",
        "ReluGrad",
        "LeakyRelu",
        "Softsign",
        "SelectV2",
        "FloorDiv",
        "Elu",
    ):
        op = raw.catalogue()[name]
        arrays = [x > 0, x, -x] if name == "SelectV2" else [x] * len(op.input_names)
        used.both(op, arrays)
    # NumPy has an exponential of its own.
    assert {*used.names} >= {"Relu", "Relu6", "ReluGrad", "LeakyRelu", "Softsign", "SelectV2"}
    assert "Elu" not in used.names


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_operands_of_other_shapes_and_layouts(data: st.DataObject) -> None:
    """Broadcast, transposed and strided operands, and attributes."""
    draw = np.random.default_rng(data.draw(st.integers(0, 99)))
    rows, columns = data.draw(st.integers(60, 200)), data.draw(st.integers(200, 300))
    shapes = [(rows, columns), (columns,), (rows, 1), ()]
    operands = [_operand(draw, np.dtype("float32"), (rows, columns))]
    operands.append(draw.standard_normal(data.draw(st.sampled_from(shapes))).astype("float32"))
    if data.draw(st.booleans()):
        operands[0] = np.asfortranarray(operands[0])
    x, y = operands
    alpha = data.draw(st.sampled_from([0.0, 0.3, 1.0, 2.5]))

    def results() -> list[tf.Tensor]:
        return [
            tf.where(x > 0, x, y),
            tf.nn.leaky_relu(x, alpha=alpha),
            tf.math.floordiv(x, y),
            tf.math.softsign(x[::2]),
        ]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
        patch.setattr(machine_code, "IN_BACKGROUND", False)
        found = results()
        patch.setattr(scalar, "loop_of_passes", lambda op, arguments: None)
        want = results()
    for mine, theirs in zip(found, want, strict=True):
        _assert_same(mine.numpy(), theirs.numpy())


def test_shapes_that_do_not_fit_are_the_kernels_errors(used: Used) -> None:
    x = np.ones(SHAPE, np.float32)
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="broadcast"):
            raw.SelectV2(tf.constant(x > 0), tf.constant(x), tf.constant(x[:2]))
    assert "SelectV2" not in used.names


@pytest.mark.parametrize("alpha", [-0.0, float("nan")])
def test_attributes_that_are_no_keys_are_left_to_numpy(
    alpha: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    x = np.full(SHAPE, -1.0, np.float32)
    op = raw.catalogue()["LeakyRelu"]
    assert machine_code.loop_of_passes(op, [x, 0.0]) is not None
    assert machine_code.loop_of_passes(op, [x, alpha]) is None
