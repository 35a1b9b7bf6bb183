"""What the analysis of rows says of the samples of all ops, along every dimension, is so.

`make test` takes one part of the samples in PARTS, always the same; INTAGLIO_ROW_SAMPLES=all takes all.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from intaglio.base.dtypes import from_numpy
from intaglio.export.row_analysis import Dependent, State
from intaglio.export.row_rules import analysed
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.opdef import raw
from intaglio.runtime import interpreter
from intaglio.trace.graph import record
from tests.ops import recorded

PARTS = 24
WANTED = range(PARTS) if os.environ.get("INTAGLIO_ROW_SAMPLES") == "all" else range(1)


class Case(NamedTuple):
    """A sample's graph whose arguments have their rows first; `axes` is where the op has them."""

    graph: Graph
    arrays: list[np.ndarray]
    axes: tuple[int | None, ...]

    @property
    def dims(self) -> list[Any]:
        """The shapes of the arguments, with open rows."""
        return [
            a.shape if axis is None else (None, *a.shape[1:])
            for a, axis in zip(self.arrays, self.axes, strict=True)
        ]


def places(arrays: Sequence[np.ndarray]) -> Iterator[tuple[int | None, ...]]:
    """Where rows may be: along one dimension of one argument, or at the same length in several."""
    choices = [[None, *range(a.ndim)] for a in arrays]
    for axes in itertools.islice(itertools.product(*choices), 200):
        lengths = {a.shape[i] for a, i in zip(arrays, axes, strict=True) if i is not None}
        if len(lengths) == 1 and min(lengths) > 1:
            yield axes


def case(one: recorded.Recorded, axes: tuple[int | None, ...]) -> Case:
    """The sample with its rows moved to the front of the arguments."""
    arrays = [
        a if i is None else np.ascontiguousarray(np.moveaxis(a, i, 0))
        for a, i in zip(one.arrays, axes, strict=True)
    ]

    call = recorded.as_function(one.sample)
    assert call is not None

    def function(*tensors: Any) -> Any:
        moved: list[Any] = []
        for tensor, array, axis in zip(tensors, one.arrays, axes, strict=True):
            order = [*range(1, array.ndim)]
            if axis is not None:
                order.insert(axis, 0)
                tensor = raw.Transpose(tensor, np.asarray(order, np.int32))
            moved.append(tensor)
        return call[0](*moved)

    specs = [
        (from_numpy(a.dtype), a.shape if i is None else (None, *a.shape[1:]), "x")
        for a, i in zip(arrays, axes, strict=True)
    ]
    graph, outputs = record(function, one.sample.op, specs)
    graph.outputs.extend([t for t in outputs if isinstance(t, SymbolicTensor)])
    return Case(graph.freeze_function(), arrays, axes)


def wrong(label: str, found: Case, states: Sequence[State]) -> Iterator[str]:
    """What is not as the states say: some rows by themselves give other results."""
    whole = interpreter.run_graph(found.graph, found.arrays)
    count = next(len(a) for a, i in zip(found.arrays, found.axes, strict=True) if i is not None)
    for part in (slice(0, 1), slice(count - 1, count), slice(0, 2)):
        some = [a if i is None else a[part] for a, i in zip(found.arrays, found.axes, strict=True)]
        results = interpreter.run_graph(found.graph, some)
        for state, result, all_rows in zip(states, results, whole, strict=True):
            expected = np.asarray(all_rows)
            if state.kind == "rows":
                taken = slice(part.start * state.group, part.stop * state.group)
                expected = expected[(*[slice(None)] * state.axis, taken)]
            same = expected.shape == np.shape(result)
            if expected.dtype.kind in "fc" and same:
                same = np.allclose(expected, result, rtol=1e-3, atol=1e-5, equal_nan=True)
            elif same:
                same = bool((expected == np.asarray(result)).all())
            if not same:
                yield f"{label}, rows at {found.axes}, {state}, {part}"


@pytest.mark.parametrize("part", WANTED)
def test_samples(part: int) -> None:
    bad: list[str] = []
    independent = 0
    for one in recorded.chosen(part, PARTS):
        for axes in places(one.arrays):
            try:
                found = case(one, axes)
                values = analysed(found.graph, found.dims)
            except (Dependent, ValueError, TypeError):  # or the op cannot be traced with it open
                continue
            if any(v.state.kind == "size" for v in values):  # which is refused as a result
                continue
            independent += 1
            try:
                bad += wrong(one.sample.label, found, [v.state for v in values])
            except Exception as e:  # fewer rows are refused
                bad.append(f"{one.sample.label}, rows at {axes}: {type(e).__name__}: {e}")
    assert not bad, "\n".join(bad)
    assert independent > 30
