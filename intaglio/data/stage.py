"""A stage of an input pipeline: the value of a dataset tensor, on which iterators are opened.

An open stage is a function without arguments. It returns the next element, a tuple of
arrays, or raises StopIteration; it may be called again after it raised another error, and
continues with the element after the one that failed.

A stage with a position registers with the `Root` that it is opened with: two functions, one
that returns the position as a plain value and one that restores it. The stages of a pipeline
open in one order, so that a list of positions is the position of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from intaglio.base import errors
from intaglio.base.dtypes import VARIANT_MARKER, variant
from intaglio.base.options import OPTIONS
from intaglio.data.options import Options
from intaglio.ir.graph import Graph
from intaglio.ir.memo import memoized
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec
from intaglio.optimize.pipeline import optimize
from intaglio.runtime import interpreter

INFINITE = -1
UNKNOWN = -2
AUTOTUNE = -1

Element = tuple[Any, ...]
Advance = Callable[[], Element]

# The attributes that most dataset ops have.
ELEMENTS = "output_types: list(type), output_shapes: list(shape)"
OUTPUTS = f"{ELEMENTS}, metadata: str = ''"


class Shared:
    """What all stages of one iterator share, also those opened in the middle.

    A function with random ops has its streams from the iterator's first call of it on, so
    that a seeded one gives every iterator the same numbers.
    """

    __slots__ = ("_runs", "options")

    def __init__(self) -> None:
        self._runs: dict[int, Any] = {}
        self.options = Options()

    def function(self, graph: Graph) -> Callable[..., Element]:
        """The graph as a function of arrays; optimised, for it is called for every element."""
        graph = _optimized(graph)
        if not any(n.op.is_random for n in graph.nodes):
            return interpreter.compiled(graph)
        found = self._runs.get(id(graph))
        if found is None:
            found = self._runs[id(graph)] = interpreter.compiled_anew(graph)
        return found


def _optimized(graph: Graph) -> Graph:
    if OPTIONS.optimizer.get("disable_meta_optimizer"):
        return graph
    return _optimized_once(graph)


@memoized
def _optimized_once(graph: Graph) -> Graph:
    return optimize(graph)


class Root:
    """Where the stages opened together are.

    Open stages keep what is `shared`, never the root itself: the root refers to them.
    """

    __slots__ = ("_pauses", "_positions", "shared")

    def __init__(self, shared: Shared | None = None) -> None:
        self.shared = Shared() if shared is None else shared
        self._positions: list[tuple[Callable[[], Any], Callable[[Any], None]]] = []
        self._pauses: list[Any] = []

    def keep(self, save: Callable[[], Any], restore: Callable[[Any], None]) -> None:
        """Adds a stage's position: how it is read, and how a newly opened stage goes there."""
        self._positions.append((save, restore))

    def pause_with(self, lock: Any) -> None:
        """Names a lock that keeps a thread from working on stages opened after this."""
        self._pauses.append(lock)

    def save(self) -> list[Any]:
        """The positions of all stages, while nothing moves."""
        with ExitStack() as paused:
            for lock in self._pauses:  # those farther from the source first
                paused.enter_context(lock)
            return [save() for save, _ in self._positions]

    def restore(self, positions: Sequence[Any]) -> None:
        """Goes to positions that the stages of an equal pipeline had.

        Raises InvalidArgumentError if the pipeline has other stages.
        """
        try:
            for (_, restore), position in zip(self._positions, positions, strict=True):
                restore(position)
        except (TypeError, ValueError, LookupError, AttributeError) as e:
            raise errors.invalid_argument(
                f"The position is one of another pipeline: it does not fit ({e})."
            ) from e


class Stage:
    """A dataset as a value: how many elements it has, and how to begin with them.

    `recipe` is the op that built it and its kernel's arguments; `at` returns an element by its
    index where a dataset has random access. `shapes` are those of its
    components, as far as they are known.
    """

    __slots__ = ("__weakref__", "at", "cardinality", "dtypes", "name", "open", "recipe", "shapes")

    dtype = VARIANT_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1

    def __init__(
        self,
        name: str,
        cardinality: int,
        open: Callable[[Root], Advance],
        at: Callable[[int], Element] | None = None,
    ) -> None:
        self.name = name
        self.cardinality = cardinality
        self.open = open
        self.at = at
        self.recipe: tuple[str, dict[str, Any]] | None = None
        # Of the components of elements, where an op says them.
        self.dtypes: Sequence[Any] = ()
        self.shapes: Sequence[Any] = ()

    def __repr__(self) -> str:
        return f"<{self.name}DatasetOp::Dataset>"


class Opened:
    """A stage opened in the middle of an iteration, with a root of its own."""

    __slots__ = ("advance", "root")

    def __init__(self, stage: Stage, shared: Shared) -> None:
        self.root = Root(shared)
        self.advance = stage.open(self.root)


class DatasetOp(Op):
    """An op whose result is a stage, which remembers its recipe."""

    on_host = True
    differentiable = False
    # A dataset keeps a handle: the stages run when elements are requested.
    writes = False

    def infer(self) -> Spec:
        return handle_spec()

    def _resolve_kernel(self) -> None:
        rule, name = self.rules["kernel"], self.name
        count = len(rule.takes)
        for attribute in ("output_types", "output_shapes"):  # for the stage, not for the kernel
            if attribute in self.attr_names and attribute not in rule.takes:
                rule.takes = (*rule.takes, attribute)
        super()._resolve_kernel()
        kernel, names = self.kernel_fn, rule.takes

        def with_recipe(*args: Any) -> Stage:
            stage = kernel(*args[:count])
            if stage.recipe is None:
                parts = dict(zip(names, args, strict=True))
                stage.recipe = name, parts
                stage.dtypes = parts.get("output_types", ())
                stage.shapes = parts.get("output_shapes", ())
            return stage

        self.kernel_fn = with_recipe


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


def flattened(cardinality: int, shapes: Sequence[Any]) -> int:
    """The cardinality of the rows of elements with components of these shapes."""
    rows = next((s[0] for s in shapes if s and s[0] is not None), None)
    if cardinality < 0:
        return cardinality
    return cardinality * rows if rows else UNKNOWN


def exhausted() -> Element:
    """An open stage at its end."""
    raise StopIteration


def in_sequence(root: Root, columns: Sequence[Any]) -> Advance:
    """Goes through sequences of one length side by side, at the speed of `zip`."""
    length = len(columns[0])
    iterators: list[Any] = [iter(c) for c in columns]

    def restore(left: int) -> None:
        for iterator in iterators:
            iterator.__setstate__(length - left)

    root.keep(iterators[0].__length_hint__, restore)
    return zip(*iterators, strict=True).__next__


def require(condition: bool, message: str) -> None:
    """Raises InvalidArgumentError with the message unless the condition holds."""
    if not condition:
        raise errors.invalid_argument(message)
