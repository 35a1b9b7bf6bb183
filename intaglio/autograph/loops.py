"""Staged `while` and `for`: the names that the body sets become loop variables."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from intaglio.autograph import aliases, reads, regions, unconverted_reads
from intaglio.autograph.blocks import Block
from intaglio.autograph.builtin_functions import len_, range_, tensor_of
from intaglio.autograph.conditionals import LOOP, State, check_condition, decided, is_staged
from intaglio.autograph.diagnosis import taking
from intaglio.autograph.dict_calls import whole
from intaglio.autograph.hidden_state import stage_to_fixpoint
from intaglio.autograph.joins import is_data
from intaglio.autograph.loop_options import declared_shapes
from intaglio.autograph.loop_state import (
    after_iteration,
    at_start_of_iteration,
    completed,
    naming_numbers,
)
from intaglio.autograph.provenance import note_packed
from intaglio.autograph.unrolling import Unrolled
from intaglio.autograph.values import Undefined
from intaglio.autograph.watches import watching
from intaglio.base import dtypes, nest, shapes
from intaglio.base.dtypes import DType
from intaglio.base.shapes import as_dims
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import convert, door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.trace import control_flow
from intaglio.trace.graph import FuncGraph
from intaglio.trace.loops import Rows
from intaglio.type_specs.grown_list import GrownList

# Python loops that make this many ops are worth a word; so many iterations are a mistake.
ITERATIONS_BEFORE_WARNING = 50_000
MAX_PYTHON_ITERATIONS = 100_000_000
_CHANGING = (
    "The condition of this `while` changes '{}', which the condition of a loop of the graph cannot do. Let "
    "the body do it: `while True:` with the condition worked out first, and `if not condition: break`."
)


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], None],
    get_state: Callable[[], State],
    set_state: Callable[[State], None],
    names: Sequence[str],
    options: dict[str, Any],
) -> None:
    """A `while` statement: staged if its condition is symbolic the first time."""
    if door.level().eager:
        _python_while(test, body, lambda: None)
        return

    def condition() -> Any:
        return decided(test())

    scratch = FuncGraph("while_test")
    with watching(test, staged=False) as watch, scratch.as_default():
        first = condition()
    changed = [s for s in watch.seen.values() if s.is_changed()]

    def staged() -> None:
        _staged(
            lambda loop, iteration: loop.run(condition, iteration),
            body,
            get_state,
            set_state,
            names,
            options,
        )

    if scratch.nodes or isinstance(first, Tensor):
        watch.restore(watch.seen)
    if is_staged(first) or isinstance(first, Tensor):
        check_condition(first, "while loop", LOOP)
        for seen in changed:
            if not seen.location.outlives:
                raise NotImplementedError(_CHANGING.format(seen.location.name))
        staged()
    elif scratch.nodes:
        _python_while(condition, body, staged)
    else:  # evaluated only once, as Python does
        _python_while(condition, body, staged, first)


def _python_while(
    test: Callable[[], Any], body: Callable[[], None], staged: Callable[[], None], first: Any = None
) -> None:
    """A `while` as Python runs it, up to where its condition depends on a tensor.

    The iterations before are recorded as they are; `staged()` records the loop that is left. `first`
    is the condition's value if it was evaluated before.
    """
    graph = getattr(door.level(), "graph", None)
    ops = len(graph.nodes) if graph is not None else 0
    count = 0
    while True:
        again = test() if count or first is None else first
        if is_staged(again):
            check_condition(again, "while loop", LOOP)
            staged()
            return
        if not again:
            return
        body()
        count += 1
        _warn_if_unrolled(count, graph, ops)


def _warn_if_unrolled(count: int, graph: Any, ops: int) -> None:
    if count == ITERATIONS_BEFORE_WARNING and graph is not None and len(graph.nodes) > ops:
        warnings.warn(
            f"Large unrolled loop detected. Did you mean to use a TF loop? It made "
            f"{len(graph.nodes) - ops} ops in {count} iterations.",
            stacklevel=4,
        )
    if __debug__ and count >= MAX_PYTHON_ITERATIONS:
        raise ValueError("iteration limit exceeded")


def for_stmt(
    sequence: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: Callable[[], State],
    set_state: Callable[[State], None],
    names: Sequence[str],
    options: dict[str, Any],
) -> None:
    """A `for` statement: staged over symbolic tensors, Python over everything else."""
    reads.contents(sequence)
    unconverted_reads.implicit(sequence, *unconverted_reads.ITERATING)
    sequence = whole(aliases.used(sequence))
    hook = getattr(type(sequence), "__autograph_for__", None)
    if hook is not None:
        hook(sequence, extra_test, body, get_state, set_state, names, options)
        return
    sequence = tensor_of(sequence)
    if is_staged(sequence):
        node = sequence.node if isinstance(sequence, SymbolicTensor) else None

        def stage(loop: _Loop, iteration: Any) -> None:
            if node is not None and node.op is raw.Range:
                start, limit, delta = node.inputs
                loop.begin_with(options.get("iterate_names"), start)
                loop.over_range(start, limit, delta, extra_test, iteration)
            else:
                loop.over_tensor(convert.to_tensor(sequence), extra_test, iteration)

        _staged(stage, body, get_state, set_state, names, options)
    elif type(sequence) is GrownList:
        items = sequence.copy()
        numbers = range_(len_(items))
        unnamed = {k: v for k, v in options.items() if k != "iterate_names"}
        for_stmt(
            numbers, extra_test, lambda i: body(items[i]), get_state, set_state, names, unnamed
        )
    else:
        python_for(
            sequence,
            extra_test,
            body,
            lambda items: Unrolled(extra_test, body, get_state, set_state, names).run(
                items,
                lambda count, iteration: _staged(
                    lambda loop, once: loop.over_iterations(count, extra_test, once),
                    iteration,
                    get_state,
                    set_state,
                    names,
                    options,
                    body,
                ),
            ),
        )


def for_each(
    source: Any,
    has_next: Callable[[], Any],
    take: Callable[[], Any],
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: Callable[[], State],
    set_state: Callable[[State], None],
    names: Sequence[str],
    options: dict[str, Any],
) -> None:
    """A `for` over `source`, Python's where ops are executed eagerly.

    In a graph `has_next()` is True if there is another item, and `take()` returns it.
    """
    if door.level().eager:
        python_for(source, extra_test, body)
        return

    def test() -> Any:
        if extra_test is None:
            return has_next()
        go_on = convert.to_tensor(extra_test())
        return control_flow.cond(go_on, has_next, lambda: convert.to_tensor(False))

    def stage(loop: _Loop, iteration: Any) -> None:
        loop.run(test, iteration)

    _staged(stage, lambda: body(take()), get_state, set_state, names, options, body)


def _staged(
    stage: Callable[[_Loop, Any], None],
    body: Callable[..., None],
    get_state: Callable[[], State],
    set_state: Callable[[State], None],
    names: Sequence[str],
    options: dict[str, Any],
    source: Any = None,
) -> None:
    """Stages a loop whose state is what the body changes, named or not."""

    def attempt(block: Block, bodies: Sequence[Any]) -> None:
        stage(_Loop(block.get, block.put, block.names, options), bodies[0])

    stage_to_fixpoint(attempt, (body,), get_state, set_state, names, (source or body,))


def for_rows(
    count: Any,
    row: Callable[[Any], Any],
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: Callable[[], State],
    set_state: Callable[[State], None],
    names: Sequence[str],
    options: dict[str, Any],
) -> None:
    """A staged `for` over `row(0)`, `row(1)`, ..., for `count` rows, an int32 scalar."""
    loop = _Loop(get_state, set_state, names, options)
    zero, one = convert.to_tensor(0, count.dtype), convert.to_tensor(1, count.dtype)
    loop.over_range(zero, count, one, extra_test, lambda i: body(row(i)))


def python_for(
    sequence: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    staged: Callable[[Iterator[Any]], None] | None = None,
) -> None:
    """A `for` statement as Python runs it, up to where a jump depends on a tensor.

    `staged(items)` records the iterations that are left.
    """
    graph = getattr(door.level(), "graph", None)
    ops = len(graph.nodes) if graph is not None else 0
    taking(sequence)
    items = iter(sequence)
    count = 0
    while True:
        again = True if extra_test is None else extra_test()
        if not is_staged(again) and not again:
            return  # before another item is taken, as `break` does
        try:
            item = next(items)
        except StopIteration:
            return
        if is_staged(again):
            assert staged is not None  # there are no staged values in eager code
            staged(itertools.chain([item], items))
            return
        body(item)
        count += 1
        _warn_if_unrolled(count, graph, ops)


class _Wider(Exception):
    """Raised when an iteration has made the shape of a loop variable less specific."""


class _Loop:
    """A staged loop: its state as flat tensors, checked after the recorded iteration."""

    def __init__(
        self, get_state: Any, set_state: Any, names: Sequence[str], options: dict[str, Any]
    ) -> None:
        self.get_state = get_state
        self.set_state = set_state
        self.names = names
        self.limit = options.get("maximum_iterations")
        self.invariants: list[Any]
        # Composites may become others of these types.
        self.invariants, self.types = declared_shapes(options)
        # Shapes that an iteration makes less specific: found now, and all that were found.
        self.grown: list[Any] = []
        self.widened: list[Any] = []

    def run(self, test: Callable[[], Any], body: Callable[[], None]) -> None:
        """Stages `while test(): body()`."""
        body = naming_numbers(body, self.names, self.get_state())
        start = self._start(body)
        flat = self._flat(start)

        def once(*values: Any) -> list[Any]:
            self._restore(start, values)
            self.set_state(at_start_of_iteration(self.names, self.get_state()))
            if not regions.ends(body):
                return list(values)
            return self._after(start, self.get_state())

        def again(*values: Any) -> Any:
            self._restore(start, values)
            return test()

        try:
            done = self._staged(again, once, start, flat)
        finally:
            self.set_state(tuple(start))
        self._restore(start, done if isinstance(done, (list, tuple)) else [done])

    def _staged(self, again: Any, once: Any, start: list[Any], flat: list[Any]) -> Any:
        """The recorded loop; recorded again with wider shapes where one iteration made them so."""
        while True:
            try:
                return control_flow.while_loop(
                    again,
                    once,
                    flat,
                    shape_invariants=self._shapes(start, flat),
                    maximum_iterations=self.limit,
                )
            except _Wider:
                grown, self.grown = self.grown, []
                self.widened += [t for t, _ in grown]
                kept = [
                    (t, dims) for t, dims in self.invariants if not any(t is g for g, _ in grown)
                ]
                self.invariants = [*kept, *grown]

    def begin_with(self, name: str | None, value: Any) -> None:
        """Gives the loop's target a value that has none yet: of no iteration, it is the first number.

        TensorFlow does so for ranges, and for nothing else.
        """
        state = self.get_state()
        named = zip(self.names, state, strict=True)
        self.set_state(
            tuple([value if n == name and type(v) is Undefined else v for n, v in named])
        )

    def over_range(self, start: Any, limit: Any, delta: Any, extra_test: Any, body: Any) -> None:
        """Stages `for i in tf.range(start, limit, delta)` without making the range."""
        zero = convert.to_tensor(0, delta.dtype)

        step = getattr(getattr(delta, "spec", None), "value", None)

        def more(i: Any) -> Any:
            if step is not None and step != 0:  # the direction is known
                return raw.Less(i, limit) if step > 0 else raw.Greater(i, limit)
            up, down = raw.Less(i, limit), raw.Greater(i, limit)
            return raw.SelectV2(raw.Greater(delta, zero), up, down)

        self._counted(start, delta, more, extra_test, body)

    def over_iterations(self, count: int, extra_test: Any, body: Any) -> None:
        """Stages `count` iterations; `body` gets their numbers."""
        zero, limit, one = (convert.to_tensor(n, dtypes.int32) for n in (0, count, 1))
        self._counted(zero, one, lambda i: raw.Less(i, limit), extra_test, body)

    def over_tensor(self, tensor: Any, extra_test: Any, body: Any) -> None:
        """Stages a loop over the first dimension. Raises ValueError for scalars."""
        if tensor.dims == ():
            raise ValueError(
                "len requires a non-scalar tensor, got one of shape (): a scalar has no rows to iterate over"
            )
        rows = Rows(tensor)
        length = rows.length
        remaining = rows.lists()

        def iteration(i: Any) -> None:
            row, remaining[:] = rows.take(i, remaining)
            body(row)

        zero, one = (convert.to_tensor(0, dtypes.int32), convert.to_tensor(1, dtypes.int32))
        self._counted(zero, one, lambda i: raw.Less(i, length), extra_test, iteration, remaining)

    def _counted(
        self,
        start: Any,
        delta: Any,
        more: Any,
        extra_test: Any,
        body: Any,
        extra_state: list[Any] | None = None,
    ) -> None:
        """A loop with a counter before the state.

        `extra_state` are further tensors that the body changes from iteration to iteration.
        """
        counter = [start, *(extra_state or ())]

        def set_all(state: State) -> None:
            counter[:] = state[: len(counter)]
            if extra_state is not None:
                extra_state[:] = counter[1:]
            self.set_state(tuple(state[len(counter) :]))

        inner = _Loop(
            lambda: (counter[0], *(extra_state or ()), *self.get_state()),
            set_all,
            ("iteration counter", *["rows left"] * len(extra_state or ()), *self.names),
            {"maximum_iterations": self.limit, "shape_invariants": self.invariants},
        )

        def test() -> Any:
            again = more(counter[0])
            if extra_test is None:
                return again
            return control_flow.cond(
                again, lambda: convert.to_tensor(extra_test()), lambda: convert.to_tensor(False)
            )

        def iteration() -> None:
            i = counter[0]
            body(i)
            counter[0] = raw.AddV2(i, delta)

        inner.run(test, iteration)

    # -- state -------------------------------------------------------------------------

    def _start(self, body: Callable[[], None]) -> list[Any]:
        """The state before the loop, with zeros for what the body is the first to set."""
        state, fixed = completed(self.get_state(), body, self.get_state, self.set_state, self.names)
        return [
            v if n in fixed else note_packed(nest.map_structure(_as_loop_value, v))
            for n, v in zip(self.names, state, strict=True)
        ]

    def _flat(self, state: Sequence[Any]) -> list[Any]:
        return [
            t
            for v in state
            for t in nest.flatten(v, expand_composites=True)
            if isinstance(t, Tensor)
        ]

    def _restore(self, example: Sequence[Any], values: Sequence[Any]) -> None:
        remaining = iter(values)
        packed: list[Any] = []
        for value in example:
            flat = [
                next(remaining) if isinstance(v, Tensor) else v
                for v in nest.flatten(value, expand_composites=True)
            ]
            form = self._form(value)
            packed.append(note_packed(nest.pack_sequence_as(form, flat, expand_composites=True)))
        self.set_state(tuple(packed))

    def _form(self, value: Any) -> Any:
        """The structure of a variable in an iteration."""
        if not self.types:
            return value
        return nest.map_structure(lambda v: self.types.get(id(v), v), value)

    def _after(self, start: Sequence[Any], end: State) -> list[Any]:
        """The state after one iteration as flat tensors. Raises where it changed its type."""
        flat: list[Any] = []
        for name, before, after in zip(self.names, start, end, strict=True):
            after = after_iteration(name, before, after)
            try:
                nest.assert_same_structure(self._form(before), after, expand_composites=True)
            except (ValueError, TypeError) as e:
                raise TypeError(
                    f"'{name}' does not have the same nested structure after one iteration.\n\n{e}"
                ) from None
            pairs = zip(
                nest.flatten(before, expand_composites=True),
                nest.flatten(after, expand_composites=True),
                strict=True,
            )
            for x, y in pairs:
                if isinstance(x, Tensor):
                    flat.append(self._same(name, x, _as_loop_value(y, x.dtype)))
                else:
                    _check_constant(name, x, y)
        if self.grown:
            raise _Wider
        return flat

    def _same(self, name: str, before: Any, after: Any) -> Any:
        if not isinstance(after, Tensor) or after.dtype is not before.dtype:
            kind = after.dtype.name if isinstance(after, Tensor) else type(after).__name__
            raise TypeError(
                f"'{name}' has dtype {before.dtype.name} before the loop, but dtype {kind} after one iteration"
            )
        declared = self._declared(before)
        dims = before.dims if declared is ... else declared
        if shapes.is_subshape(after.dims, dims):
            return after
        if declared is not ... and not any(t is before for t in self.widened):
            raise ValueError(
                f"'{name}' has shape {shapes.text(after.dims)} after one iteration, which does not "
                f"conform with the shape invariant {shapes.text(declared)}."
            )
        self.grown.append((before, shapes.join(after.dims, dims)))
        return after

    def _declared(self, tensor: Any) -> Any:
        for declared, shape in self.invariants:
            if declared is tensor:
                return as_dims(shape)
        return ...

    def _shapes(self, start: Sequence[Any], flat: list[Any]) -> list[Any] | None:
        if not self.invariants:
            return None
        chosen: list[Any] = []
        owners = [n for n, v in zip(self.names, start, strict=True) for _ in self._flat([v])]
        for name, tensor in zip(owners, flat, strict=True):
            declared = self._declared(tensor)
            if declared is not ... and not shapes.is_subshape(tensor.dims, declared):
                raise ValueError(
                    f"'{name}' has shape {shapes.text(tensor.dims)} before the loop, which does not conform "
                    f"with the shape invariant {shapes.text(declared)}."
                )
            chosen.append(shapes.TensorShape(tensor.dims if declared is ... else declared))
        return chosen


def _check_constant(name: str, before: Any, after: Any) -> None:
    """Raises TypeError where an iteration changes what is no tensor: a graph cannot hold it."""
    if before is not after and (type(before) is not type(after) or before != after):
        raise TypeError(
            f"'{name}' is a Python object of type {type(before).__name__} that one iteration "
            "changes: only tensors can change in a loop of the graph. Set it outside of "
            "the loop, or make it a tensor."
        )


def _as_loop_value(value: Any, dtype: DType | None = None) -> Any:
    """Numbers and arrays as tensors of the current graph; other Python values unchanged."""
    if isinstance(value, Tensor) or not is_data(value):
        return value
    return convert.to_tensor(value, dtype_hint=dtype)
