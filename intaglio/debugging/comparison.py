"""Whether two runs agree, and what to say where they do not.

The rule is that of docs/trust.md: results may differ as much as rounding explains. The graph is interpreted several
more times with its arithmetic perturbed by a few units of the last place (Monte Carlo arithmetic,
`native/perturbation.py`), and what scatters is compared with a tolerance as wide as the scatter. Integers, bools
and strings have to be equal; dtypes and shapes too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import from_numpy
from intaglio.base.origins import Frame
from intaglio.debugging.repeatable import RepeatableCall
from intaglio.ir.graph import Graph
from intaglio.native import perturbation
from intaglio.native.perturbation import Tolerance

# How many perturbed runs there are before two results are said to differ.
PERTURBED_RUNS = (2, 8)
# Units of the last place that count as rounding whatever the scatter, by bytes of the dtype; less than so much
# of a zero is one.
ULPS = {1: 2.0, 2: 6.0, 4: 48.0, 8: 48.0}
TINY = {1: 1e-2, 2: 1e-6, 4: 1e-30, 8: 1e-280}
# Arrays of at most this many elements are shown.
MAX_SHOWN_ELEMENTS = 6

Run = Callable[..., Sequence[Any]]


# How a sentence ends that has what a mode gave.
_IN = {"eager": "eagerly", "graph": "in the graph as it was traced"}


class Difference(NamedTuple):
    """Where two runs of a call differ.

    `mode` is how the second was run, `reference` how the first; `what` names the result or variable, and
    `op` and `where` the first op that gave something else, and the user's line that has it. `expected` and `got`
    are arrays, or errors.
    """

    mode: str
    reference: str
    what: str
    expected: Any
    got: Any
    op: str = ""
    where: Frame | None = None

    def __str__(self) -> str:
        place = self.what
        if self.op:
            line = f" at {self.where}" if self.where is not None else ""
            source = f"\n    {self.where.source}" if self.where and self.where.source else ""
            place = f"{self.op}{line} is the first op that differs, and {self.what} does{source}\n "
        return f"{self.mode}: {place} {_contrast(self.expected, self.got, self.reference)}"


def _contrast(expected: Any, got: Any, reference: str) -> str:
    """What two values differ in."""
    if isinstance(expected, BaseException) or isinstance(got, BaseException):
        return f"gave {_outcome(got)}, and {_outcome(expected)} {_IN.get(reference, reference)}"
    a, b = np.asarray(expected), np.asarray(got)
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"is {_form(b)}, and {_form(a)} {_IN.get(reference, reference)}"
    different = np.asarray((a != b) & ~((a != a) & (b != b)))
    count = int(different.sum())
    if a.ndim == 0 or not count:
        return f"is {_short(b)}, and {_short(a)} {_IN.get(reference, reference)}"
    first = tuple([int(i) for i in np.argwhere(different)[0]])
    return (
        f"differs in {count} of {a.size} elements; {list(first)} is {_short(b[first])}, "
        f"and {_short(a[first])} {_IN.get(reference, reference)}"
    )


def _outcome(value: Any) -> str:
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {str(value).splitlines()[0] if str(value) else ''}"
    return "a result" if value is None else _form(np.asarray(value))


def _form(array: Any) -> str:
    return f"{from_numpy(array.dtype).name}{shapes.brackets(array.shape)}"


def _short(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=9, threshold=MAX_SHOWN_ELEMENTS).replace(
        "\n", ""
    )


def agree(expected: Any, got: Any, scattered: Sequence[Any]) -> bool:
    """Whether two arrays are equal but for rounding, given what perturbed runs computed instead of the first."""
    if not isinstance(expected, (np.ndarray, np.generic)):
        return True  # what holds arrays: it is compared where they are taken out
    a, b = np.asarray(expected), np.asarray(got)
    others = [np.asarray(s) for s in scattered if np.shape(s) == a.shape]
    if a.shape != b.shape:
        return len(others) < len(scattered)
    if a.dtype != b.dtype:
        return False
    if a.dtype.kind in "OSU":
        return bool(np.array_equal(a, b)) or any(not np.array_equal(a, s) for s in others)
    return not perturbation.differing(a, b, others, _tolerance(a.dtype))[0].any()


def _tolerance(dtype: Any) -> Tolerance:
    if dtype.kind in "biu":
        return Tolerance(0.0, 0.0)
    size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    eps = float(ml_dtypes.finfo(dtype).eps)
    return Tolerance(ULPS[size] * eps, TINY[size])


class Scatter:
    """What perturbed runs of a call compute, made when they are asked for.

    `make` makes a graph a function, which sees the graph with its arithmetic perturbed.
    """

    def __init__(self, call: RepeatableCall, make: Callable[[Graph], Run]) -> None:
        self._call = call
        self._generator = np.random.default_rng(0)
        self._run = make(perturbation.perturbed(call.graph, self._generator))
        self.runs: list[list[Any]] = []

    def extend(self, count: int) -> bool:
        """Has so many runs; False if rounding decides whether the program raises."""
        while len(self.runs) < count:
            try:
                self.runs.append(self._call.state.run(self._run))
            except Exception:  # an assertion that rounding decides
                return False
        return True


def disagreeing(expected: Sequence[Any], got: Sequence[Any], scatter: Scatter) -> int | None:
    """The first result that two runs do not agree about; None if they agree about all."""
    wrong = _first(expected, got, scatter.runs)
    for count in PERTURBED_RUNS:
        if wrong is None or not scatter.extend(count):
            return None
        wrong = _first(expected, got, scatter.runs)
    return wrong


def _first(
    expected: Sequence[Any], got: Sequence[Any], runs: Sequence[Sequence[Any]]
) -> int | None:
    for i, (a, b) in enumerate(zip(expected, got, strict=True)):
        if not agree(a, b, [r[i] for r in runs]):
            return i
    return None
