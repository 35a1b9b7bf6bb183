"""Gradients of samples against central finite differences along random directions.

One direction checks all entries of a gradient at once: the derivative of
sum(weights * outputs) along a random direction is <gradient, direction>. Two directions
each, the error of the difference quotient being far below the tolerance in float64. The
second order check does the same with <gradient, direction> as the function.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from intaglio import tf
from intaglio.base import dtypes
from intaglio.opdef import raw
from intaglio.runtime import interpreter, random_state
from intaglio.runtime.eager import from_array
from intaglio.trace.graph import record
from tests.ops import calls
from tests.ops.samples import Sample

STEP = 1e-5
TOLERANCE = 2e-6


def _is_variable(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64


def variables(sample: Sample) -> dict[str, Any]:
    """The inputs to differentiate: float64 arrays, and lists of such."""
    found = {}
    for name, value in calls.inputs_of(sample).items():
        if sample.wrt is not None and name not in sample.wrt:
            continue
        first = value[0] if isinstance(value, list) and value else value
        if _is_variable(first):
            found[name] = value
    return found


class _Function:
    """sum(weights * outputs) as a function of a flat list of float64 arrays."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.rng = np.random.RandomState(zlib.crc32(sample.label.encode()))
        self.names = variables(sample)
        self.start: list[np.ndarray] = calls.flat(list(self.names.values()))
        self.weights: dict[int, np.ndarray] = {}

    def outputs(self, tensors: list[Any]) -> list[Any]:
        """The op's floating outputs."""
        random_state.SEEDS.set(1)
        left = list(tensors)
        given = {
            k: [left.pop(0) for _ in v] if isinstance(v, list) else left.pop(0)
            for k, v in self.names.items()
        }
        made = calls.call(self.sample, {**calls.inputs_of(self.sample), **given})
        # narrower outputs, such as a Cast's, are too coarse for differences
        return [t for t in made if t.dtype is dtypes.float64]

    def weight(self, index: int, shape: Any) -> np.ndarray:
        """The weights of an output: the same in every call."""
        if index not in self.weights:
            self.weights[index] = self.rng.uniform(-1, 1, shape)
        return self.weights[index]

    def total(self, tensors: list[Any]) -> Any:
        """The weighted sum, as a tensor."""
        return _total(
            [
                raw.Mul(t, self.weight(i, t.dims).astype(t.dtype.numpy))
                for i, t in enumerate(self.outputs(tensors))
            ]
        )

    def gradients(self, tensors: list[Any]) -> list[Any]:
        """The engine's gradients of the sum."""
        with tf.GradientTape() as tape:
            for t in tensors:
                tape.watch(t)
            total = self.total(tensors)
        return tape.gradient(total, tensors)

    def along(self, tensors: list[Any], directions: list[np.ndarray]) -> Any:
        """<gradient, direction>, as a tensor."""
        terms = [
            raw.Mul(_dense(g), d)
            for g, d in zip(self.gradients(tensors), directions, strict=True)
            if g is not None
        ]
        return _total(terms)


def _dense(gradient: Any) -> Any:
    if hasattr(gradient, "indices"):
        return tf.convert_to_tensor(gradient)
    return gradient


def _total(terms: list[Any]) -> Any:
    sums = [raw.Sum(t, np.arange(len(t.dims), dtype=np.int32)) if t.dims else t for t in terms]
    if not sums:
        return from_array(np.zeros((), np.float64))
    total = sums[0]
    for more in sums[1:]:
        total = raw.AddV2(total, more)
    return total


def _tensors(arrays: list[np.ndarray]) -> list[Any]:
    return [from_array(np.array(a)) for a in arrays]


def check(sample: Sample, order: int) -> None:
    """Compares; raises AssertionError with both derivatives."""
    function = _Function(sample)
    start = function.start
    inner = [function.rng.uniform(-1, 1, a.shape) for a in start]

    def value(arrays: list[np.ndarray]) -> Any:
        tensors = _tensors(arrays)
        if order == 1:
            return function.total(tensors)
        return function.along(tensors, inner)

    for _ in range(2):
        direction = [function.rng.uniform(-1, 1, a.shape) for a in start]
        up = [a + STEP * d for a, d in zip(start, direction, strict=True)]
        down = [a - STEP * d for a, d in zip(start, direction, strict=True)]
        quotient = (_number(value(up)) - _number(value(down))) / (2 * STEP)
        exact = _derivative(function, start, inner, direction, order)
        tolerance = sample.grad_tol or TOLERANCE
        scale = max(1.0, abs(quotient))
        assert abs(exact - quotient) <= tolerance * scale, (
            f"{sample!r}: the order {order} derivative is {quotient} by differences "
            f"and {exact} by the gradient rule"
        )


def _derivative(
    function: _Function,
    start: list[np.ndarray],
    inner: list[np.ndarray],
    direction: list[np.ndarray],
    order: int,
) -> float:
    tensors = _tensors(start)
    if order == 1:
        return _number(function.along(tensors, direction))
    with tf.GradientTape() as tape:
        for t in tensors:
            tape.watch(t)
        slope = function.along(tensors, inner)
    gradients = tape.gradient(slope, tensors)
    terms = [
        raw.Mul(_dense(g), d) for g, d in zip(gradients, direction, strict=True) if g is not None
    ]
    return _number(_total(terms))


def _number(tensor: Any) -> float:
    return float(np.asarray(tensor._array))


def complex_variables(sample: Sample) -> list[str]:
    """The inputs that are complex128 arrays, or lists of such."""
    found = []
    for name, value in calls.inputs_of(sample).items():
        first = value[0] if isinstance(value, list) and value else value
        wanted = sample.wrt is None or name in sample.wrt
        if wanted and isinstance(first, np.ndarray) and first.dtype == np.complex128:
            found.append(name)
    return found


def check_complex(sample: Sample) -> None:
    """The first order check for complex128 inputs.

    With the gradient w of an output f, that of an input x is the g for which
    Re <w, df> = Re <g, dx> (the first side conjugated): TensorFlow's convention.
    """
    inputs = calls.inputs_of(sample)
    names = complex_variables(sample)
    start: list[np.ndarray] = calls.flat([inputs[n] for n in names])
    rng = np.random.RandomState(zlib.crc32(sample.label.encode()))

    def outputs(tensors: list[Any]) -> list[Any]:
        left = list(tensors)
        given = {
            n: [left.pop(0) for _ in inputs[n]] if isinstance(inputs[n], list) else left.pop(0)
            for n in names
        }
        made = calls.call(sample, {**inputs, **given})
        return [t for t in made if t.dtype in (dtypes.float64, dtypes.complex128)]

    tensors = _tensors(start)
    with tf.GradientTape() as tape:
        for t in tensors:
            tape.watch(t)
        made = outputs(tensors)
    weights = [
        np.asarray(rng.uniform(-1, 1, t.dims) + 1j * rng.uniform(-1, 1, t.dims)) for t in made
    ]
    weights = [
        w if t.dtype.is_complex else w.real.astype(t.dtype.numpy)
        for w, t in zip(weights, made, strict=True)
    ]
    gradients = tape.gradient(made, tensors, output_gradients=_tensors(weights))

    def value(arrays: list[np.ndarray]) -> float:
        results = [np.asarray(t._array) for t in outputs(_tensors(arrays))]
        return _inner(weights, results)

    direction = [rng.uniform(-1, 1, a.shape) + 1j * rng.uniform(-1, 1, a.shape) for a in start]
    up = [a + STEP * d for a, d in zip(start, direction, strict=True)]
    down = [a - STEP * d for a, d in zip(start, direction, strict=True)]
    quotient = (value(up) - value(down)) / (2 * STEP)
    exact = _inner(
        [np.zeros(()) if g is None else np.asarray(_dense(g)._array) for g in gradients], direction
    )
    tolerance = sample.grad_tol or TOLERANCE
    assert abs(exact - quotient) <= tolerance * max(1.0, abs(quotient)), (
        f"{sample!r}: the derivative is {quotient} by differences and {exact} by the gradient rule"
    )


def _inner(left: list[Any], right: list[Any]) -> float:
    return float(sum(np.sum((np.conj(a) * b).real) for a, b in zip(left, right, strict=True)))


def graph_gradients(sample: Sample, hidden: str) -> tuple[list[Any], list[Any]]:
    """The gradients eagerly, and those of a graph that knows less of the shapes.

    Each gradient is an array, or None.
    """
    function = _Function(sample)
    arrays = function.start
    eager = function.gradients(_tensors(arrays))
    shapes = [
        None if hidden == "rank" else (None,) * a.ndim if hidden == "dims" else a.shape
        for a in arrays
    ]
    specs = [(dtypes.float64, shape, "x") for shape in shapes]
    weights = [function.weights[i] for i in sorted(function.weights)]

    def body(*tensors: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            for t in tensors:
                tape.watch(t)
            made = function.outputs(list(tensors))
            terms = [raw.Mul(t, w) for t, w in zip(made, weights, strict=True)]
        found = tape.gradient(terms, list(tensors))
        return [None if g is None else _dense(g) for g in found]

    graph, gradients = record(body, sample.op, specs)
    kept = [g for g in gradients if g is not None]
    graph.outputs.extend(kept)
    results = interpreter.run_graph(graph.freeze_function(), arrays)
    left = [np.asarray(r) for r in results]
    traced = [None if g is None else left.pop(0) for g in gradients]
    return [None if g is None else np.asarray(_dense(g)._array) for g in eager], traced
