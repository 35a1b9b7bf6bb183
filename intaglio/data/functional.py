"""Datasets made with functions of their elements: map, filter, scan, flat_map, interleave, reduce.

The functions are graphs; they run compiled, on arrays, with what they capture behind the
element's components.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import errors
from intaglio.base.errors import OpError
from intaglio.data.iterators import checked, component_specs
from intaglio.data.rearranging import Transformation
from intaglio.data.stage import (
    AUTOTUNE,
    OUTPUTS,
    UNKNOWN,
    Advance,
    Element,
    Root,
    Stage,
    demand,
    exhausted,
)
from intaglio.data.threads import Prefetcher, parallel
from intaglio.ir import walk
from intaglio.op.op import op
from intaglio.runtime import interpreter

AHEAD = 2  # elements that a prefetch without a given size computes ahead

_PYTHON_CALLS = frozenset({"EagerPyFunc", "PyFunc", "PyFuncStateless", "ReadFile"})


def runner(
    root: Root, graph: Any, captured: Sequence[Any], name: str
) -> Callable[..., Element]:
    """The graph as a function of an element's components."""
    run = root.function(graph)
    rest = tuple(captured)

    def call(*element: Any) -> Element:
        try:
            return run(*element, *rest)
        except Exception as e:
            raise failure(e, name) from e

    return call


def failure(error: Exception, name: str) -> Exception:
    """The error of a user's function, told with the transformation's name and the node's."""
    node = interpreter.failing_node(error)
    if node is None:
        return error
    if isinstance(error, OpError):
        kind, text = type(error), error.message
    elif isinstance(error, (ValueError, IndexError, ZeroDivisionError)):
        kind, text = errors.InvalidArgumentError, str(error)
    else:
        return error
    if text.startswith("Error in user-defined function"):
        return error
    message = (
        f"Error in user-defined function passed to {name} transformation: {text}\n"
        f"\t [[{{{{node {node.traced_name}}}}}]]"
    )
    if kind is OpError:
        return OpError(None, node, message, error.error_code)  # type: ignore[attr-defined]
    return kind(None, node, message)


def threads_for(num_parallel_calls: Any, graph: Any) -> int:
    """How many calls to make at a time; AUTOTUNE: several if the graph calls Python or reads."""
    asked = int(num_parallel_calls)
    demand(
        asked > 0 or asked == AUTOTUNE, "num_parallel_calls must be greater than zero."
    )
    if asked != AUTOTUNE:
        return asked
    nodes = [*graph.nodes, *[n for g in walk.nested(graph) for n in g.nodes]]
    waits = any(n.op.name in _PYTHON_CALLS for n in nodes)
    return (os.cpu_count() or 1) if waits else 1


@op
class PrefetchDataset(Transformation):
    """The elements, computed ahead on a thread."""

    signature = (
        "input_dataset: variant, buffer_size: int64; output_types: list(type),"
        " output_shapes: list(shape), slack_period: int = 0, legacy_autotune: bool = True,"
        " buffer_size_min: int = 0, metadata: str = '' -> handle: variant"
    )

    def kernel(self, input_dataset, buffer_size):
        size = int(buffer_size)
        demand(size >= AUTOTUNE, "buffer_size must be >= 0 or set to be autotuned")
        if not size:
            return input_dataset
        ahead = AHEAD if size == AUTOTUNE else size
        return Stage(
            "Prefetch",
            input_dataset.cardinality,
            lambda root: Prefetcher(input_dataset.open(root), ahead),
        )


@op
class MapDataset(Transformation):
    """f of each element."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments; f: func,"
        " output_types: list(type), output_shapes: list(shape),"
        " use_inter_op_parallelism: bool = True, preserve_cardinality: bool = False,"
        " force_synchronous: bool = False, metadata: str = '' -> handle: variant"
    )

    def kernel(self, input_dataset, other_arguments, f):
        def open(root: Root) -> Advance:
            source, call = (
                input_dataset.open(root),
                runner(root, f, other_arguments, "MapDataset"),
            )
            return lambda: call(*source())

        return Stage("Map", input_dataset.cardinality, open)


@op
class ParallelMapDatasetV2(Transformation):
    """f of each element, several at a time."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments, num_parallel_calls: int64;"
        " f: func, output_types: list(type), output_shapes: list(shape),"
        " use_inter_op_parallelism: bool = True, deterministic: str = 'default',"
        " preserve_cardinality: bool = False, use_unbounded_threadpool: bool = False,"
        " metadata: str = '' -> handle: variant"
    )

    def kernel(
        self, input_dataset, other_arguments, num_parallel_calls, f, deterministic
    ):
        threads = threads_for(num_parallel_calls, f)

        def open(root: Root) -> Advance:
            source = input_dataset.open(root)
            call = runner(root, f, other_arguments, "ParallelMapDatasetV2")
            if threads == 1:
                return lambda: call(*source())
            return parallel(source, call, threads, deterministic != "false")

        return Stage("ParallelMap", input_dataset.cardinality, open)


@op
class FilterDataset(Transformation):
    """The elements for which the predicate is true."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments; predicate: func,"
        f" {OUTPUTS} -> handle: variant"
    )

    def kernel(self, input_dataset, other_arguments, predicate):
        def open(root: Root) -> Advance:
            source = input_dataset.open(root)
            holds = runner(root, predicate, other_arguments, "FilterDataset")

            def advance() -> Element:
                while True:
                    element = source()
                    if holds(*element)[0]:
                        return element

            return advance

        return Stage("Filter", UNKNOWN, open)


@op
class TakeWhileDataset(Transformation):
    """The elements up to the first for which the predicate is false."""

    signature = FilterDataset.signature

    def kernel(self, input_dataset, other_arguments, predicate):
        def open(root: Root) -> Advance:
            source = input_dataset.open(root)
            holds = runner(root, predicate, other_arguments, "TakeWhileDataset")

            def advance() -> Element:
                nonlocal source
                element = source()
                if holds(*element)[0]:
                    return element
                source = exhausted
                raise StopIteration

            return advance

        return Stage("TakeWhile", UNKNOWN, open)


@op
class ScanDataset(Transformation):
    """Elements of f(state, element), which gives the next state in front."""

    signature = (
        "input_dataset: variant, initial_state: *Tstate, other_arguments: *Targuments;"
        " f: func, output_types: list(type), output_shapes: list(shape),"
        " preserve_cardinality: bool = False, use_default_device: bool = True,"
        " metadata: str = '' -> handle: variant"
    )

    def kernel(self, input_dataset, initial_state, other_arguments, f):
        width = len(initial_state)

        def open(root: Root) -> Advance:
            source, state = input_dataset.open(root), tuple(initial_state)
            call = runner(root, f, other_arguments, "ScanDataset")

            def advance() -> Element:
                nonlocal state
                made = call(*state, *source())
                state = made[:width]
                return made[width:]

            return advance

        return Stage("Scan", input_dataset.cardinality, open)


@op
class ReduceDataset(Transformation):
    """The state after f(state, element) for all elements."""

    signature = (
        "input_dataset: variant, initial_state: *Tstate, other_arguments: *Targuments;"
        " f: func, output_types: list(type), output_shapes: list(shape),"
        " use_inter_op_parallelism: bool = True, metadata: str = ''"
        " -> components: *output_types"
    )
    stateful = True

    def infer(self, output_types, output_shapes) -> Any:  # type: ignore[override]
        return [component_specs(output_types, output_shapes)]

    def kernel(self, input_dataset, initial_state, other_arguments, f, output_types):
        root = Root()
        source, state = input_dataset.open(root), tuple(initial_state)
        call = runner(root, f, other_arguments, "ReduceDataset")
        while True:
            try:
                element = source()
            except StopIteration:
                return checked(state, output_types)
            state = call(*state, *element)


@op
class FlatMapDataset(Transformation):
    """The elements of the datasets that f makes of each element."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments; f: func,"
        f" {OUTPUTS} -> handle: variant"
    )

    def kernel(self, input_dataset, other_arguments, f):
        def open(root: Root) -> Advance:
            call = runner(root, f, other_arguments, "FlatMapDataset")
            outer, inner = input_dataset.open(root), exhausted

            def advance() -> Element:
                nonlocal inner
                while True:
                    try:
                        return inner()
                    except StopIteration:
                        inner = call(*outer())[0].open(root)

            return advance

        return Stage("FlatMap", UNKNOWN, open)


def _interleaved(
    root: Root, outer: Advance, call: Callable[..., Element], cycle: int, block: int
) -> Advance:
    """The elements of `cycle` datasets in turn, `block` of each."""
    slots: list[Advance | None] = [None] * cycle
    at = taken = 0
    ended = False

    def refill() -> None:
        nonlocal ended
        if slots[at] is None and not ended:
            try:
                element = outer()
            except StopIteration:
                ended = True
                return
            slots[at] = call(*element)[0].open(root)

    def advance() -> Element:
        nonlocal at, taken
        while True:
            refill()
            inner = slots[at]
            if inner is not None:
                try:
                    found = inner()
                except StopIteration:
                    slots[at] = None
                else:
                    taken += 1
                    if taken == block:
                        at, taken = (at + 1) % cycle, 0
                    return found
            elif ended and not any(slots):
                raise StopIteration
            at, taken = (at + 1) % cycle, 0

    return advance


@op
class InterleaveDataset(Transformation):
    """The elements of several datasets that f makes, in turn."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments, cycle_length: int64,"
        f" block_length: int64; f: func, {OUTPUTS} -> handle: variant"
    )

    def kernel(self, input_dataset, other_arguments, cycle_length, block_length, f):
        cycle, block = int(cycle_length), int(block_length)
        demand(cycle > 0, "cycle_length must be greater than zero.")
        demand(block > 0, "block_length must be greater than zero.")

        def open(root: Root) -> Advance:
            call = runner(root, f, other_arguments, "InterleaveDataset")
            return _interleaved(root, input_dataset.open(root), call, cycle, block)

        return Stage("Interleave", UNKNOWN, open)


@op
class ParallelInterleaveDatasetV4(Transformation):
    """The elements of several datasets that f makes, in turn, each computed ahead."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments, cycle_length: int64,"
        " block_length: int64, buffer_output_elements: int64,"
        " prefetch_input_elements: int64, num_parallel_calls: int64; f: func,"
        " deterministic: str = 'default', output_types: list(type),"
        " output_shapes: list(shape), metadata: str = '' -> handle: variant"
    )

    def kernel(
        self, input_dataset, other_arguments, cycle_length, block_length,
        num_parallel_calls, f,
    ):  # fmt: skip
        cycle, block = int(cycle_length), int(block_length)
        demand(cycle > 0 or cycle == AUTOTUNE, "`cycle_length` must be > 0")
        demand(block > 0, "`block_length` must be > 0")
        threads = threads_for(num_parallel_calls, f)
        cycle = min(threads, 10) if cycle == AUTOTUNE else cycle

        def open(root: Root) -> Advance:
            call = runner(root, f, other_arguments, "ParallelInterleaveDatasetV4")
            if threads == 1:
                return _interleaved(root, input_dataset.open(root), call, cycle, block)

            def ahead(*element: Any) -> Element:
                inner = call(*element)[0]
                size = max(block, AHEAD)
                return (
                    Stage(
                        inner.name,
                        inner.cardinality,
                        lambda root: Prefetcher(inner.open(root), size),
                    ),
                )

            return _interleaved(root, input_dataset.open(root), ahead, cycle, block)

        return Stage("ParallelInterleave", UNKNOWN, open)


@op
class GroupByWindowDataset(Transformation):
    """Elements of one key in windows, each reduced to a dataset whose elements follow."""

    signature = (
        "input_dataset: variant, key_func_other_arguments: *Tkey_func_other_arguments,"
        " reduce_func_other_arguments: *Treduce_func_other_arguments,"
        " window_size_func_other_arguments: *Twindow_size_func_other_arguments;"
        " key_func: func, reduce_func: func, window_size_func: func,"
        f" {OUTPUTS} -> handle: variant"
    )

    def kernel(
        self, input_dataset, key_func_other_arguments, reduce_func_other_arguments,
        window_size_func_other_arguments, key_func, reduce_func, window_size_func,
    ):  # fmt: skip
        name = "GroupByWindowDataset"

        def open(root: Root) -> Advance:
            return _grouped(
                root,
                input_dataset.open(root),
                runner(root, key_func, key_func_other_arguments, name),
                runner(root, reduce_func, reduce_func_other_arguments, name),
                runner(root, window_size_func, window_size_func_other_arguments, name),
            )

        return Stage("GroupByWindow", UNKNOWN, open)


def _grouped(
    root: Root, source: Advance, key_of: Any, reduce: Any, size_of: Any
) -> Advance:
    groups: dict[int, list[Element]] = {}
    keys: dict[int, Any] = {}
    sizes: dict[int, int] = {}
    results: Advance = exhausted

    def reduced(key: int) -> Advance:
        window = groups.pop(key)
        stage = Stage("Window", len(window), lambda root: iter(window).__next__)
        return reduce(keys[key], stage)[0].open(root)

    def advance() -> Element:
        nonlocal results
        while True:
            try:
                return results()
            except StopIteration:
                results = exhausted
            try:
                element = source()
            except StopIteration:
                if not groups:
                    raise
                results = reduced(min(groups))
                continue
            (key,) = key_of(*element)
            number = int(key)
            if number not in sizes:
                keys[number] = key
                sizes[number] = int(size_of(key)[0])
                demand(sizes[number] > 0, "Window size must be greater than zero.")
            group = groups.setdefault(number, [])
            group.append(element)
            if len(group) == sizes[number]:
                results = reduced(number)

    return advance
