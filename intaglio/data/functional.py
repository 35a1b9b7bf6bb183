"""Transformations by functions of elements: map, filter, scan, flat_map, interleave, reduce.

The functions are graphs that run compiled, on the arrays of the element's components followed by those
of the captures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import errors
from intaglio.base.errors import OpError
from intaglio.data.iterators import checked, component_specs
from intaglio.data.options import Options
from intaglio.data.stage import (
    AUTOTUNE,
    OUTPUTS,
    UNKNOWN,
    Advance,
    DatasetOp,
    Element,
    Root,
    Shared,
    Stage,
    exhausted,
    require,
)
from intaglio.data.threads import ParallelCalls, ahead, automatic, in_order, pool_size
from intaglio.data.tracing import READS
from intaglio.ir import walk
from intaglio.opdef import late
from intaglio.opdef.op import Op, op
from intaglio.runtime import interpreter

PREFETCHED_ELEMENTS = 2  # elements that a prefetch without a given size computes ahead


def runner(
    shared: Shared, graph: Any, captured: Sequence[Any], name: str, in_iterator: bool = True
) -> Callable[..., Element]:
    """The graph as a function of an element's components.

    In an iterator OutOfRangeError is its end: that of a function becomes InvalidArgumentError.
    """
    reads = graph.derived.get(READS)
    if reads is not None:
        reads.check()
    run = shared.function(graph)
    rest = tuple(captured)

    def call(*element: Any) -> Element:
        try:
            return run(*element, *rest)
        except Exception as e:
            if interpreter.is_users(e):
                raise
            raise failure(e, name, in_iterator) from e

    return call


def failure(error: Exception, name: str, in_iterator: bool = True) -> Exception:
    """The error of a user's function, with the names of the transformation and the node."""
    node = interpreter.failing_node(error)
    if node is None:
        return error
    if isinstance(error, OpError):
        kind, text = type(error), error.message
    elif isinstance(error, (ValueError, IndexError, ZeroDivisionError)):
        kind, text = errors.InvalidArgumentError, errors.kernel_message(error)
    else:
        return error
    if kind is errors.OutOfRangeError and in_iterator:
        kind = errors.InvalidArgumentError
        text = f"Function invocation produced OutOfRangeError: {text}"
    if text.startswith("Error in user-defined function"):
        return error
    message = (
        f"Error in user-defined function passed to {name} transformation: {text}\n"
        f"\t [[{{{{node {node.traced_name}}}}}]]"
    )
    raised = (
        OpError(None, node, message, error.error_code)  # type: ignore[attr-defined]  # an OpError has a code
        if kind is OpError
        else kind(None, node, message)
    )
    if node.frames and hasattr(raised, "add_note"):
        lines = "".join([f"  {frame}\n" for frame in reversed(node.frames)])
        raised.add_note(f"Node {node.traced_name} is defined at (most recent call last):\n{lines}")
    return raised


def parallelism(num_parallel_calls: Any) -> int:
    """The requested number of calls. Raises InvalidArgumentError unless it is positive."""
    calls = int(num_parallel_calls)
    require(calls > 0 or calls == AUTOTUNE, "num_parallel_calls must be greater than zero.")
    return calls


def threads_for(calls: int, graph: Any, options: Options) -> int:
    """The number of concurrent calls; for AUTOTUNE several if the graph calls Python or reads files."""
    if calls == AUTOTUNE:
        nodes = [*graph.nodes, *[n for g in walk.nested(graph) for n in g.nodes]]
        waits = any(n.op.reaches_outside == "python" or late.ReadFile.is_op(n.op) for n in nodes)
        calls = automatic(options) if waits else 1
    return pool_size(calls, options)


@op
class PrefetchDataset(DatasetOp):
    """The elements, prefetched by a thread."""

    signature = (
        "input_dataset: variant, buffer_size: int64; output_types: list(type),"
        " output_shapes: list(shape), slack_period: int = 0, legacy_autotune: bool = True,"
        " buffer_size_min: int = 0, metadata: str = '' -> handle: variant"
    )

    def kernel(self, input_dataset, buffer_size):
        size = int(buffer_size)
        require(
            size >= AUTOTUNE, "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning"
        )
        if not size:
            return input_dataset
        buffered = PREFETCHED_ELEMENTS if size == AUTOTUNE else size
        return Stage(
            "Prefetch",
            input_dataset.cardinality,
            lambda root: ahead(input_dataset, root, buffered),
            input_dataset.at,
        )


@op
class MapDataset(DatasetOp):
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
                runner(root.shared, f, other_arguments, "MapDataset"),
            )
            return lambda: call(*source())

        at = _mapped(input_dataset, f, other_arguments, "MapDataset")
        return Stage("Map", input_dataset.cardinality, open, at)


def _mapped(dataset: Stage, graph: Any, captured: Sequence[Any], name: str) -> Any:
    """An element by its index, for a dataset with random access."""
    direct = dataset.at
    if direct is None:
        return None
    return lambda index: runner(Shared(), graph, captured, name)(*direct(index))


@op
class ParallelMapDatasetV2(DatasetOp):
    """f of each element, several at a time."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments, num_parallel_calls: int64;"
        " f: func, output_types: list(type), output_shapes: list(shape),"
        " use_inter_op_parallelism: bool = True, deterministic: str = 'default',"
        " preserve_cardinality: bool = False, use_unbounded_threadpool: bool = False,"
        " metadata: str = '' -> handle: variant"
    )

    def kernel(self, input_dataset, other_arguments, num_parallel_calls, f, deterministic):
        wanted_calls = parallelism(num_parallel_calls)

        def open(root: Root) -> Advance:
            source = input_dataset.open(root)
            call = runner(root.shared, f, other_arguments, "ParallelMapDatasetV2")
            options = root.shared.options
            threads = threads_for(wanted_calls, f, options)
            if threads == 1:
                return lambda: call(*source())
            calls = ParallelCalls(source, call, threads, in_order(deterministic, options))
            root.keep(calls.save, calls.restore)
            return calls

        at = _mapped(input_dataset, f, other_arguments, "ParallelMapDatasetV2")
        return Stage("ParallelMap", input_dataset.cardinality, open, at)


@op
class FilterDataset(DatasetOp):
    """The elements for which the predicate is true."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments; predicate: func,"
        f" {OUTPUTS} -> handle: variant"
    )

    def kernel(self, input_dataset, other_arguments, predicate):
        def open(root: Root) -> Advance:
            source = input_dataset.open(root)
            holds = runner(root.shared, predicate, other_arguments, "FilterDataset")

            def advance() -> Element:
                while True:
                    element = source()
                    if holds(*element)[0]:
                        return element

            return advance

        return Stage("Filter", UNKNOWN, open)


@op
class TakeWhileDataset(DatasetOp):
    """The elements up to the first for which the predicate is false."""

    signature = FilterDataset.signature

    def kernel(self, input_dataset, other_arguments, predicate):
        def open(root: Root) -> Advance:
            source = input_dataset.open(root)
            holds = runner(root.shared, predicate, other_arguments, "TakeWhileDataset")

            def advance() -> Element:
                nonlocal source
                element = source()
                if holds(*element)[0]:
                    return element
                source = exhausted
                raise StopIteration

            def restore(ended: bool) -> None:
                nonlocal source
                if ended:
                    source = exhausted

            root.keep(lambda: source is exhausted, restore)
            return advance

        return Stage("TakeWhile", UNKNOWN, open)


@op
class ScanDataset(DatasetOp):
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
            call = runner(root.shared, f, other_arguments, "ScanDataset")

            def advance() -> Element:
                nonlocal state
                outputs = call(*state, *source())
                state = outputs[:width]
                return outputs[width:]

            def restore(position: Any) -> None:
                nonlocal state
                state = tuple(position)

            root.keep(lambda: list(state), restore)
            return advance

        return Stage("Scan", input_dataset.cardinality, open)


@op
class ReduceDataset(Op):
    """The state after f(state, element) for all elements."""

    signature = (
        "input_dataset: variant, initial_state: *Tstate, other_arguments: *Targuments;"
        " f: func, output_types: list(type), output_shapes: list(shape),"
        " use_inter_op_parallelism: bool = True, metadata: str = ''"
        " -> components: *output_types"
    )
    stateful = True
    on_host = True
    differentiable = False

    def infer(self, output_types, output_shapes) -> Any:
        return [component_specs(output_types, output_shapes)]

    def kernel(self, input_dataset, initial_state, other_arguments, f, output_types):
        root = Root()
        source, state = input_dataset.open(root), tuple(initial_state)
        call = runner(root.shared, f, other_arguments, "ReduceDataset", in_iterator=False)
        while True:
            try:
                element = source()
            except StopIteration:
                return checked(state, output_types)
            state = call(*state, *element)
