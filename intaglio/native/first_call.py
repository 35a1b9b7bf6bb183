"""The check of native code on a call that the interpreter computes too.

The code runs on copies of the variables, which cost no memory: a write to a variable whose array
has other references goes to another array. What rounding explains is found by perturbed runs.

`call` is the first call of code whose bits all calls have: if both agree, the call's results are those of the
code, and variables have the values of the copies; else they are the interpreter's, and the code is not called
again. `Recorded` is an interpreted call on which another thread checks the code, while the program goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.ir import resources
from intaglio.ir.graph import Graph
from intaglio.native import fallback, perturbation
from intaglio.runtime import interpreter
from intaglio.runtime.call_state import CallState, contents
from intaglio.runtime.resources import Resource

Run = Callable[..., tuple[Any, ...]]
# Numbers of perturbed runs before two results count as different: few at first, which suffice for most
# graphs that need any.
PERTURBED_RUNS = (2, 10)


class Differs(Exception):
    """Machine code and the interpreter do not agree."""


def call(
    graph: Graph, compiled: Run, run: Run, arrays: Sequence[Any], streams: Sequence[Any]
) -> tuple[tuple[Any, ...], bool]:
    """A call's results, and whether `compiled` computes the same as `run`, which interprets a graph.

    The results, and what the call assigns, are those of `compiled` if it does. Raises what `run`
    raises, which is the program's own error. Where `compiled` raises, or computes something else, a
    warning says so once.
    """
    before = CallState(arrays, streams)
    copies = before.arguments()
    error: Exception | None = None
    native: tuple[Any, ...] = ()
    try:
        native = compiled(*copies)
    except Exception as e:
        error = e
    before.rewind()
    results = run(*arrays)
    if error is None:
        after = CallState((), streams)
        error = _difference(
            graph, before, [*results, *contents(arrays)], [*native, *contents(copies)]
        )
        after.rewind()
    if error is not None:
        fallback.failed(graph.name, error)
        return results, False
    _assign(graph, arrays, copies)
    return native, True


class Recorded:
    """A call that the interpreter has computed: what it took, and what it gave.

    Raises what `run` raises, which is the program's own error.
    """

    def __init__(
        self, graph: Graph, run: Run, arrays: Sequence[Any], streams: Sequence[Any]
    ) -> None:
        self._graph = graph
        self._before = CallState(arrays, streams)
        # Taken now: the program goes on to write the variables.
        self._copies = self._before.arguments()
        self.results = run(*arrays)
        self._expected = [*self.results, *contents(arrays)]

    def agrees(self, compiled: Run) -> bool:
        """Whether `compiled` gives the same; a warning says once what differs.

        The random streams of the program stay as they are.
        """
        with self._before.replaying():
            try:
                results = compiled(*self._copies)
                native = [*results, *contents(self._copies)]
                error = _difference(self._graph, self._before, self._expected, native)
            except Exception as e:
                error = e
        if error is not None:
            fallback.failed(self._graph.name, error)
        return error is None


def _assign(graph: Graph, arrays: Sequence[Any], copies: Sequence[Any]) -> None:
    """Assigns the copies' values to the variables that a graph may write."""
    for i in resources.written(graph):
        variable, copy = arrays[i], copies[i]
        if isinstance(variable, Resource) and copy.initialized:
            variable.assign(copy.read())


def _difference(
    graph: Graph, before: CallState, expected: list[Any], native: list[Any]
) -> Exception | None:
    """An error for the first result that differs by more than rounding explains; None if none does."""
    scattered: list[list[Any]] = []
    wrong = _disagreeing(expected, native, scattered)
    if wrong is None:
        return None
    generator = np.random.default_rng(0)
    perturbed = interpreter.compiled(perturbation.perturbed(graph, generator))
    for count in PERTURBED_RUNS:
        while len(scattered) < count:
            try:
                scattered.append(before.run(perturbed))
            except Exception:  # a perturbed run may fail an assertion
                return None
        wrong = _disagreeing(expected, native, scattered)
        if wrong is None:
            return None
    a, b = expected[wrong], native[wrong]
    what = f"result {wrong}" if wrong < len(graph.outputs) else "a variable"
    return Differs(f"{what} is {_short(b)}, and {_short(a)} where it is interpreted")


def _disagreeing(expected: list[Any], native: list[Any], scattered: list[list[Any]]) -> int | None:
    for i, (a, b) in enumerate(zip(expected, native, strict=True)):
        if not perturbation.agree(a, b, [s[i] for s in scattered]):
            return i
    return None


def _short(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=6, threshold=6).replace("\n", "")
