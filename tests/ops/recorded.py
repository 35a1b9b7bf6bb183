"""Samples of ops recorded as graphs, for what carries graphs out elsewhere: XLA, ONNX.

Integers that say how, such as axes and shapes, are constants of the graph, as in most programs; the data is
an argument.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from intaglio.base.dtypes import from_numpy, string
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.opdef import raw
from intaglio.trace.graph import record
from tests.ops import calls
from tests.ops.samples import Sample

MAX_CONSTANT_ELEMENTS = 64


class Recorded(NamedTuple):
    """A sample's call as a graph, with the arrays that it is called with."""

    sample: Sample
    graph: Graph
    arrays: list[np.ndarray]


def _is_integer(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "iu"


def as_function(sample: Sample) -> tuple[Callable[..., list[Any]], list[np.ndarray]] | None:
    """The sample's call as a function of tensors, and its arguments; None for those that fail, or are
    about strings."""
    if sample.error or sample.graph is not True:
        return None
    inputs = calls.inputs_of(sample)
    if any(v.dtype == object for v in calls.flat(list(inputs.values())) if hasattr(v, "dtype")):
        return None
    fixed = {n: v for n, v in inputs.items() if _is_integer(v) and v.size <= MAX_CONSTANT_ELEMENTS}
    if len(fixed) == len(inputs):  # then integers are the data
        shape = calls.CATALOGUE[sample.op].shape_input or "shape"
        data = next((n for n in fixed if n != shape), None)
        fixed.pop(data or "", None)
    fed = {n: v for n, v in inputs.items() if n not in fixed}

    def function(*tensors: Any) -> list[Any]:
        left = list(tensors)
        given = {
            n: [left.pop(0) for _ in v] if isinstance(v, list) else left.pop(0)
            for n, v in fed.items()
        }
        return calls.call(sample, {**given, **fixed})

    return function, calls.flat(list(fed.values()))


def recorded(sample: Sample) -> Recorded | None:
    """The sample's graph; None for those that fail, or are about strings."""
    found = as_function(sample)
    if found is None:
        return None
    function, arrays = found
    specs = [(from_numpy(a.dtype), a.shape, "x") for a in arrays]
    graph, outputs = record(function, sample.op, specs)
    graph.outputs.extend([t for t in outputs if isinstance(t, SymbolicTensor)])
    if any(v.dtype is string for v in graph.outputs):
        return None
    return Recorded(sample, graph.freeze_function(), arrays)


def in_parts(one: Recorded) -> Recorded:
    """The same with real and imaginary parts in the places of complex arguments and results."""
    if not any([v.dtype.is_complex for v in (*one.graph.inputs, *one.graph.outputs)]):
        return one
    arrays: list[np.ndarray] = []
    for array in one.arrays:
        arrays += [array.real, array.imag] if array.dtype.kind == "c" else [array]

    def function(*tensors: Any) -> list[Any]:
        left = list(tensors)
        values = [
            raw.Complex(left.pop(0), left.pop(0), Tout=v.dtype)
            if v.dtype.is_complex
            else left.pop(0)
            for v in one.graph.inputs
        ]
        kinds = [v.dtype for v in one.graph.outputs]
        found: list[Any] = []
        for value in raw.PartitionedCall(values, Tout=kinds, f=one.graph):
            if value.dtype.is_complex:
                part = value.dtype.real_dtype
                found += [raw.Real(value, Tout=part), raw.Imag(value, Tout=part)]
            else:
                found.append(value)
        return found

    specs = [(from_numpy(a.dtype), a.shape, "x") for a in arrays]
    graph, outputs = record(function, one.sample.op, specs)
    graph.outputs.extend(outputs)
    return Recorded(one.sample, graph.freeze_function(), arrays)


def chosen(part: int, parts: int) -> Iterator[Recorded]:
    """One part of all samples, the same ones each time."""
    for name in calls.NAMES:
        for sample in calls.samples_of(name):
            if zlib.crc32(sample.label.encode()) % parts == part:
                one = recorded(sample)
                if one is not None:
                    yield one
