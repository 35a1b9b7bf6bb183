"""Samples of ops as XLA programs: recorded, carried out by the interpreter and by XLA's CPU.

Integers that say how, such as axes and shapes, are constants of the graph, as in most programs; the data is
an argument.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from intaglio.base.dtypes import from_numpy, string
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.runtime import interpreter
from intaglio.runtime.hooks import SERVICES
from intaglio.trace.graph import record
from intaglio.xla.evaluator import NodeUntraceable
from intaglio.xla.program import Program, streams_of, words_of
from tests.ops import calls
from tests.ops.samples import Sample

# Samples in one XLA program: what a compilation costs is little more for many.
BATCH = 12
MAX_CONSTANT_ELEMENTS = 64


class Recorded(NamedTuple):
    """A sample's call as a graph, with the arrays that it is called with."""

    sample: Sample
    graph: Graph
    arrays: list[np.ndarray]


def _is_integer(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "iu"


def recorded(sample: Sample) -> Recorded | None:
    """The sample's graph; None for those that fail, or are about strings."""
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
    arrays = calls.flat(list(fed.values()))

    def function(*tensors: Any) -> list[Any]:
        left = list(tensors)
        given = {
            n: [left.pop(0) for _ in v] if isinstance(v, list) else left.pop(0)
            for n, v in fed.items()
        }
        return calls.call(sample, {**given, **fixed})

    specs = [(from_numpy(a.dtype), a.shape, "x") for a in arrays]
    graph, outputs = record(function, sample.op, specs)
    graph.outputs.extend([t for t in outputs if isinstance(t, SymbolicTensor)])
    if any(v.dtype is string for v in graph.outputs):
        return None
    return Recorded(sample, graph.freeze_function(), arrays)


def route(one: Recorded) -> str:
    """How the sample's op becomes part of a program: a route of the evaluator, or "known".

    Raises NodeUntraceable.
    """
    program = Program(one.graph, one.arrays, streams_of(one.graph))
    with jax.enable_x64(True):
        program.tried(one.arrays, _words(one.graph))
    return program.routes.get(one.sample.op, "known")


def _words(graph: Graph) -> list[np.ndarray]:
    streams = [interpreter.kept(s, SERVICES.stream) for s in streams_of(graph)]
    return words_of([s.take(0) for s in streams])


def computed(batch: Sequence[Recorded]) -> list[list[np.ndarray] | NodeUntraceable]:
    """What XLA gives for each sample, all of them in one program."""
    results: list[Any] = [None] * len(batch)
    programs = [Program(one.graph, one.arrays, streams_of(one.graph)) for one in batch]
    words = [_words(one.graph) for one in batch]
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        able: list[int] = []
        for i, (one, program) in enumerate(zip(batch, programs, strict=True)):
            try:
                program.tried(one.arrays, words[i])
                able.append(i)
            except NodeUntraceable as e:
                results[i] = e

        def together(arrays: Any, words: Any) -> Any:
            return [
                [jnp.asarray(v) for v in programs[i].outputs_of(a, w)]
                for i, a, w in zip(able, arrays, words, strict=True)
            ]

        found = jax.jit(together)([batch[i].arrays for i in able], [words[i] for i in able])
        for i, values in zip(able, found, strict=True):
            results[i] = [np.asarray(v) for v in values]
    return results


def chosen(part: int, parts: int) -> Iterator[Recorded]:
    """One part of all samples, the same ones each time."""
    for name in calls.NAMES:
        for sample in calls.samples_of(name):
            if zlib.crc32(sample.label.encode()) % parts == part:
                one = recorded(sample)
                if one is not None:
                    yield one
