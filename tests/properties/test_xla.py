"""Programs by XLA: results, variables and random numbers are those of eager calls.

The programs update variables in loops and branches, keep what they read before a program takes the
memory of a variable, mix random ops and dtypes, have ops between their parts which the host computes, and
assertions that fail: then the error is that of eager calls, and so are the variables.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import intaglio
from intaglio import tf, xla
from intaglio.base.devices import reset_devices
from intaglio.xla import compilation

from .programs import Outcome, examples, load

# What stops a program for some data; the variables keep what was written before.
CHECKS = [
    "tf.debugging.assert_less(x, 3.0, message='x')",
    "tf.debugging.assert_greater(w, [-1.5, -2.0, -2.5])",
    "tf.debugging.Assert(n < 5, [n, x, 'n'], summarize=2)",
    "y = tf.debugging.check_numerics(y / tf.cast(i, tf.float32), 'y')",
]
# Statements on x [3], y [3] of float32, i [3] of int32 and n, with the variables w [3], m [2, 3],
# c of int64, h [3] of float16, k [4] of int8, b of bool, and the random generator `rng`.
LINES = [
    "w.assign(x * <k>)",
    "w.assign_add(tf.abs(y) / 2)",
    "w.assign(w[::-1])",
    "w[1:].assign(y[:2])",
    "m.assign_sub(tf.stack([x, w]))",
    "m.scatter_nd_add([[1], [1]], tf.stack([y, x]))",
    "m[n % 2].assign(x)",
    "m.scatter_update(tf.IndexedSlices(x[None], [n % 2]))",
    "c.assign_add(tf.cast(n, tf.int64) + 2**40)",
    "c.assign(tf.bitwise.bitwise_xor(c, 2**35 + 7))",
    "h.assign_add(tf.cast(x, tf.float16) * 64)",
    "k.assign(k * k + tf.cast(i[0], tf.int8))",
    "b.assign(tf.reduce_any(y > x))",
    "y = tf.where(b, y, x + 1.0)",
    "x = x + tf.cast(h, tf.float32) / 128.0",
    "x = tf.cast(tf.cast(i, tf.uint8), tf.float32) / 255.0",
    "i = i // tf.constant([3, -2, 5])",
    "i = i % tf.constant([3, -2, 5])",
    "i = i + tf.cast(k[:3], tf.int32)",
    "i = tf.bitwise.left_shift(i, 30)",
    "i = tf.cast(tf.round(y * 3.0), tf.int32)",
    "i = i * 65536",
    "i = tf.argsort(y)",
    "y = tf.gather(y, tf.clip_by_value(i, 0, 2))",
    "y = tf.cumsum(y, exclusive=True, reverse=True)",
    "y = tf.math.floormod(y, -0.75)",
    "y = tf.cast(tf.cast(y, tf.bfloat16), tf.float32)",
    "y = y + m[1] + tf.reduce_max(m, 0)",
    "y = tf.linalg.matvec(m, x)[:1] + y",
    "y = tf.minimum(tf.maximum(y, -3.0), x)",
    "old = w.read_value()",
    "x = x + old",
    "y = y + tf.random.uniform([3])",
    "y = y - tf.floor(tf.random.stateless_normal([3], [n, 7]) * 4) / 4",
    "x = x + tf.floor(rng.normal([3]) * 4)",
    "i = i + tf.random.uniform([3], 0, 9, tf.int32)",
    "y = tf.concat([tf.unique(i)[0], [1, 2, 3]], 0)[:3] * 2 + i; y = tf.cast(y, tf.float32)",
    "y = y + inner(x, w)",
    "y, x = x, y",
    "n = n + 1",
    "y = slope(x, y)",
    "x = x + tf.cast(rng.uniform([3], 0, 9, tf.int32), tf.float32)",
    "w[n % 2 : n % 2 + 1].assign(y[:1])",
    "x = tf.tensor_scatter_nd_add(x, [[n % 3], [0]], [1.0, 2.0])",
    "x = tf.concat([x[:n], y], 0)[:3]",
    "x = tf.roll(x, n, 0)",
    "y = tf.reverse_sequence(tf.stack([x, y]), [n % 4, 2], 1)[0]",
    "y = tf.sort(x)",
    "y = tf.math.unsorted_segment_sum(x, tf.abs(i) % 3, 3)",
    "x = tf.eye(3)[n % 3] + x[n % 3]",
    "x = rows(x, y, n)",
    "x = tf.switch_case(n % 3, [lambda: x, lambda: w * 2.0, lambda: x - y])",
    "k[n % 2 :: 2].assign(k[:2])",
    "h.assign(tf.cast(tf.cast(x, tf.float16) / 3, tf.float16))",
    *CHECKS,
]
CONDITIONS = ["tf.reduce_sum(x) > 0.0", "w[0] > 0.5", "n > 1", "b", "c % 2 == 0"]
LOOPS = [
    "for j in tf.range(n):",
    "for j in tf.range(3):",
    "for j in range(2):",
    "while tf.reduce_sum(w) < 4.0 and n < 6:",
]
HEAD = """\
@tf.function
def inner(z, v):
    v.assign(v * 0.5 + z)
    if z[0] > 0.0:
        return v * z
    else:
        return z

def slope(a, b):
    with tf.GradientTape() as tape:
        tape.watch(a)
        z = a * b
        for _ in tf.range(2):
            z = z * w
    return tape.gradient(z, a)

def rows(a, b, n):
    found = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for k in tf.range(3):
        if k < n:
            found = found.write(k, a[k])
        else:
            found = found.write(k, b[k] + 1.0)
    return found.stack()

def f(x, y, i, n):
    old = tf.zeros([3])
"""


@st.composite
def bodies(draw: Any) -> str:
    """Source of `f(x, y, i, n)`."""
    lines: list[str] = []

    def block(indent: int, depth: int) -> None:
        for _ in range(draw(st.integers(2, 5))):
            kind = draw(st.sampled_from(["line"] * 5 + ["if", "for"] * (depth > 0)))
            pad = "    " * indent
            if kind == "line":
                text = draw(st.sampled_from(LINES))
                lines.append(pad + text.replace("<k>", str(draw(st.integers(-2, 3))) + ".0"))
                continue
            if kind == "if":
                lines.append(pad + f"if {draw(st.sampled_from(CONDITIONS))}:")
            else:
                loop = draw(st.sampled_from(LOOPS))
                lines.append(pad + loop)
                if loop.startswith("while"):
                    lines.append(pad + "    n = n + 1")
            block(indent + 1, depth - 1)

    block(1, 2)
    return HEAD + "\n".join(lines) + "\n    return x, y, i, n, old, w.read_value(), c + 0\n"


class _World:
    """The variables of a program, and what is called from it."""

    def __init__(self, source: str) -> None:
        variables: dict[str, Any] = {
            "w": tf.Variable([0.5, -1.0, 2.0]),
            "m": tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3) / 4),
            "c": tf.Variable(5, dtype=tf.int64),
            "h": tf.Variable([1.0, -2.0, 4096.0], dtype=tf.float16),
            "k": tf.Variable([3, -5, 100, 7], dtype=tf.int8),
            "b": tf.Variable(True),
        }
        self.variables = list(variables.values())
        self.rng = tf.random.Generator.from_seed(3)
        self.function: Any = load(source, rng=self.rng, **variables)

    def state(self) -> list[Any]:
        """The values of all variables."""
        return [v.read_value() for v in [*self.variables, self.rng.state]]


CALLS = st.lists(
    st.tuples(
        st.lists(st.integers(-16, 16).map(lambda v: v / 8), min_size=6, max_size=6),
        st.lists(
            st.sampled_from([0, 1, -1, 7, -100, 255, 2**31 - 1, -(2**31)]), min_size=3, max_size=3
        ),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=3,
)


def _outcomes(source: str, calls: list[Any], jit: bool | None) -> list[Outcome]:
    """What the calls gave and left in the variables; eagerly, or compiled if `jit`."""
    tf.random.set_seed(11)
    world = _World(source)
    function = tf.function(world.function, jit_compile=jit) if jit is not None else world.function
    tf.config.run_functions_eagerly(jit is None)
    seen: list[Outcome] = []
    kept: list[Any] = []
    try:
        for numbers, i, n in [*calls, calls[0]]:
            x, y = tf.constant(numbers[:3]), tf.constant(numbers[3:])
            before = world.state()
            seen.append(
                Outcome(lambda x=x, y=y, i=i, n=n: function(x, y, tf.constant(i), tf.constant(n)))
            )
            kept.append((before, [v.numpy().copy() for v in before]))
            seen.append(Outcome(world.state))
    finally:
        tf.config.run_functions_eagerly(False)
    for tensors, arrays in kept:  # what was read before a donation keeps its numbers
        for tensor, array in zip(tensors, arrays, strict=True):
            np.testing.assert_array_equal(tensor.numpy(), array)
    return seen


def _close(a: Outcome, b: Outcome) -> bool:
    if a.error is not None or b.error is not None:
        return type(a.error) is type(b.error)
    for x, y in zip(a.values, b.values, strict=True):
        if x.dtype != y.dtype or x.shape != y.shape:
            return False
        if x.dtype.kind != "f":
            if not np.array_equal(x, y):
                return False
            continue
        # XLA multiplies by the reciprocal of a constant, which has the rounding error of its dtype.
        error = max(2e-4, 4 * float(np.finfo(x.dtype).eps))
        wide = [v.astype(np.float64) for v in (x, y)]
        if not np.allclose(*wide, rtol=error, atol=error / 4, equal_nan=True):
            return False
    return True


@pytest.fixture(autouse=True)
def _backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(compilation, "VERIFY", True)
    yield


@examples(0.5)
@given(bodies(), CALLS)
def test_programs_of_xla_are_eager_calls(source: str, calls: list[Any]) -> None:
    note(source)

    def compiled() -> list[Outcome]:
        with intaglio.backend("xla"):
            return _outcomes(source, calls, True)

    _check(source, calls, compiled)


@examples(0.2)
@given(bodies(), CALLS)
def test_functions_on_an_accelerator_are_eager_calls(source: str, calls: list[Any]) -> None:
    note(source)

    def there() -> list[Outcome]:
        with contextlib.nullcontext() if xla.accelerators() else xla.host_as("GPU"):
            reset_devices()
            tf.config.experimental.enable_tensor_float_32_execution(False)
            with intaglio.default_device("/GPU:0"):
                return _outcomes(source, calls, False)

    _check(source, calls, there)


def _check(source: str, calls: list[Any], run: Callable[[], list[Outcome]]) -> None:
    """Compares what `run` gives with eager calls of the source on the host."""
    wanted = _outcomes(source, calls, False if "tf.random.uniform" in source else None)
    failures = [k for k, w in enumerate(wanted) if w.error is not None]
    if failures and not _is_of_check(wanted[failures[0]].error):
        return  # other errors do not stop a program
    got = run()
    # A program draws all its random numbers, whichever check fails.
    last = failures[0] + 1 if failures else len(wanted)
    for want, found in zip(wanted[: last + 1], got, strict=False):
        assert _close(want, found), (want, found)
    if failures:
        assert _said(got[failures[0]].error) == _said(wanted[failures[0]].error)


def _is_of_check(error: Any) -> bool:
    """Whether an assertion or `check_numerics` has raised it."""
    text = str(error)
    return "assertion failed" in text or "Tensor had" in text


def _said(error: Any) -> str:
    """The first words of what a failed check says: numbers may differ in their last places."""
    text = str(error)
    found = re.search(r"assertion failed: (\[[a-zA-Z][^\]]*\])?|y : Tensor had .* values", text)
    return found[0] if found else text
