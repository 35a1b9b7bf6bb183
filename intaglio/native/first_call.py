"""The check of native code on a call that the interpreter computes too.

The code runs on copies of the variables, which cost no memory: a write to a variable whose array
has other references goes to another array. What rounding explains is found by perturbed runs.

`agrees` comes before the first call of code whose bits all calls have: if both agree, all calls are those of the
code, else all are interpreted. `Recorded` is an interpreted call on which another thread checks the code, while
the program goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.ir.graph import Graph
from intaglio.native import fallback, perturbation
from intaglio.runtime import interpreter
from intaglio.runtime.call_state import CallState, contents

Run = Callable[..., tuple[Any, ...]]
# Numbers of perturbed runs before two results count as different: few at first, which suffice for most
# graphs that need any.
PERTURBED_RUNS = (2, 10)


class Differs(Exception):
    """Machine code and the interpreter do not agree."""


class Exiting(Exception):
    """The process ends: nobody will call what is checked."""


def agrees(
    graph: Graph, compiled: Run, run: Run, arrays: Sequence[Any], streams: Sequence[Any]
) -> bool | None:
    """Whether `compiled` gives for a call what `run` gives, which interprets the graph.

    Both run on copies, so that calls of other threads find the variables and streams as they are. None if `run`
    raises, which is the program's own error. A warning says once what differs.
    """
    before = CallState(arrays, streams)
    try:
        with before.replaying():
            expected = _run_on_copies(run, before)
    except Exception:
        return None
    return _reported(graph, _compared(graph, before, expected, compiled))


class Recorded:
    """A call that the interpreter has computed: what it took, and what it gave.

    Raises what `run` raises, which is the program's own error.
    """

    def __init__(
        self, graph: Graph, run: Run, arrays: Sequence[Any], streams: Sequence[Any]
    ) -> None:
        self._graph = graph
        # Taken now: the program goes on to write the variables.
        self._before = CallState(arrays, streams)
        self.results = run(*arrays)
        self._expected = [*self.results, *contents(arrays)]

    def agrees(self, compiled: Run) -> bool:
        """Whether `compiled` gives the same; a warning says once what differs.

        The random streams of the program stay as they are. Raises Exiting when the process ends.
        """
        error = _compared(self._graph, self._before, self._expected, compiled)
        return _reported(self._graph, error)


def _run_on_copies(run: Run, before: CallState) -> list[Any]:
    """The results of a call on copies of its arguments, and the values of the variables after it."""
    copies = before.arguments()
    return [*run(*copies), *contents(copies)]


def _compared(
    graph: Graph, before: CallState, expected: list[Any], compiled: Run
) -> Exception | None:
    """What `compiled` raises, or an error if it does not give what is expected; None if it does."""
    with before.replaying():
        try:
            return _difference(graph, before, expected, _run_on_copies(compiled, before))
        except Exiting:
            raise
        except Exception as e:
            return e


def _reported(graph: Graph, error: Exception | None) -> bool:
    """Whether there is no error; a warning says once what it is."""
    if error is not None:
        fallback.failed(graph.name, error)
    return error is None


def _difference(
    graph: Graph, before: CallState, expected: list[Any], native: list[Any]
) -> Exception | None:
    """An error for the first result that differs by more than rounding explains; None if none does."""
    pairs = list(zip(expected, native, strict=True))
    # Of the perturbed runs only what may differ is kept: variables may be large.
    scattered: dict[int, list[Any]] = {
        i: [] for i, (a, b) in enumerate(pairs) if not perturbation.agree(a, b, [])
    }
    if not scattered:
        return None
    perturbed = interpreter.compiled(perturbation.perturbed(graph, np.random.default_rng(0)))
    runs = 0
    for count in PERTURBED_RUNS:
        for _ in range(count - runs):
            if not threading.main_thread().is_alive():
                raise Exiting
            try:
                sample = before.run(perturbed)
            except Exception:  # a perturbed run may fail an assertion
                return None
            for i, kept in scattered.items():
                kept.append(sample[i])
        runs = count
        scattered = {
            i: kept for i, kept in scattered.items() if not perturbation.agree(*pairs[i], kept)
        }
        if not scattered:
            return None
    wrong = min(scattered)
    what = f"result {wrong}" if wrong < len(graph.outputs) else "a variable"
    a, b = pairs[wrong]
    return Differs(f"{what} is {_short(b)}, and {_short(a)} where it is interpreted")


def _short(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=6, threshold=6).replace("\n", "")
