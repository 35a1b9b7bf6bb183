"""What a dataset tensor holds: a stage of an input pipeline, which iterators are opened on.

An open stage is a function without arguments. It returns the next element, a tuple of
arrays, or raises StopIteration; it may be called again after it raised another error, and
goes on with the element after the one that failed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import errors
from intaglio.base.dtypes import VARIANT_MARKER, variant
from intaglio.ir.graph import Graph
from intaglio.op.spec import Spec
from intaglio.runtime import interpreter

INFINITE = -1
UNKNOWN = -2
AUTOTUNE = -1

Element = tuple[Any, ...]
Advance = Callable[[], Element]

# The attributes that most dataset ops have.
ELEMENTS = "output_types: list(type), output_shapes: list(shape)"
OUTPUTS = f"{ELEMENTS}, metadata: str = ''"


class Root:
    """What the stages opened for one iterator share.

    A function with random ops has its streams from the iterator's first call of it on, so
    that a seeded one gives every iterator the same numbers.
    """

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: dict[int, Any] = {}

    def function(self, graph: Graph) -> Callable[..., Element]:
        """The graph as a function of arrays."""
        if not any(("service", "stream") in n.op.kernel_order for n in graph.nodes):
            return interpreter.compiled(graph)
        found = self._runs.get(id(graph))
        if found is None:
            found = self._runs[id(graph)] = interpreter.compiled_anew(graph)
        return found


class Stage:
    """A dataset as a value: how many elements it has, and how to begin with them."""

    __slots__ = ("__weakref__", "cardinality", "name", "open")

    dtype = VARIANT_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1

    def __init__(
        self, name: str, cardinality: int, open: Callable[[Root], Advance]
    ) -> None:
        self.name = name
        self.cardinality = cardinality
        self.open = open

    def __repr__(self) -> str:
        return f"<{self.name}DatasetOp::Dataset>"


def handle_spec() -> Spec:
    """The spec of a dataset tensor."""
    return Spec(variant, ())


def bounded(cardinality: int, limit: int) -> int:
    """The cardinality of at most `limit` elements."""
    if limit == INFINITE:
        return cardinality
    if cardinality == INFINITE:
        return limit
    return UNKNOWN if cardinality == UNKNOWN else min(cardinality, limit)


def summed(parts: list[int]) -> int:
    """The cardinality of datasets one after the other."""
    if INFINITE in parts:
        return INFINITE
    return UNKNOWN if UNKNOWN in parts else sum(parts)


def shortest(parts: list[int]) -> int:
    """The cardinality of datasets side by side."""
    finite = [p for p in parts if p != INFINITE]
    if not finite:
        return INFINITE
    return UNKNOWN if UNKNOWN in finite else min(finite)


def divided(cardinality: int, by: int, drop_remainder: bool) -> int:
    """The cardinality of groups of `by` elements."""
    if cardinality < 0:
        return cardinality
    return cardinality // by if drop_remainder else -(-cardinality // by)


def exhausted() -> Element:
    """An open stage at its end."""
    raise StopIteration


def demand(condition: bool, message: str) -> None:
    """Raises InvalidArgumentError with the message unless the condition holds."""
    if not condition:
        raise errors.invalid_argument(message)
