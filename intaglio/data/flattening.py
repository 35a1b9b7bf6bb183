"""The stages that flatten datasets of datasets: flat_map, interleave."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from intaglio.base.processors import cores
from intaglio.data.functional import PREFETCHED_ELEMENTS, parallelism, runner, threads_for
from intaglio.data.stage import (
    AUTOTUNE,
    OUTPUTS,
    UNKNOWN,
    Advance,
    DatasetOp,
    Element,
    Opened,
    Root,
    Shared,
    Stage,
    exhausted,
    require,
)
from intaglio.data.threads import ahead, in_order
from intaglio.opdef.op import op


class Inner:
    """An open iterator over the dataset that a function returns for an element.

    Its position holds the element: datasets themselves are no plain values.
    """

    __slots__ = ("_arguments", "_root", "advance")

    def __init__(self, call: Callable[..., Any], arguments: Element, shared: Shared) -> None:
        opened = Opened(call(*arguments)[0], shared)
        self._arguments = arguments
        self._root = opened.root
        self.advance = opened.advance

    def save(self) -> Any:
        """The element and where the dataset is."""
        return [list(self._arguments), self._root.save()]

    @classmethod
    def restored(cls, call: Callable[..., Any], position: Any, shared: Shared) -> Inner:
        """The dataset rebuilt, at a position."""
        arguments, inner = position
        found = cls(call, tuple(arguments), shared)
        found._root.restore(inner)
        return found


@op
class FlatMapDataset(DatasetOp):
    """The elements of the datasets that f returns for each element."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments; f: func,"
        f" {OUTPUTS} -> handle: variant"
    )

    def kernel(self, input_dataset, other_arguments, f):
        def open(root: Root) -> Advance:
            outer = input_dataset.open(root)
            call = runner(root.shared, f, other_arguments, "FlatMapDataset")
            return _flattened(root, outer, call)

        return Stage("FlatMap", UNKNOWN, open)


def _flattened(root: Root, outer: Advance, call: Callable[..., Element]) -> Advance:
    shared = root.shared
    inner: Inner | None = None
    source: Advance = exhausted

    def advance() -> Element:
        nonlocal inner, source
        while True:
            try:
                return source()
            except StopIteration:
                inner, source = None, exhausted
                inner = Inner(call, outer(), shared)
                source = inner.advance

    def restore(position: Any) -> None:
        nonlocal inner, source
        if position is not None:
            inner = Inner.restored(call, position, shared)
            source = inner.advance

    root.keep(lambda: inner and inner.save(), restore)
    return advance


class _Cycle:
    """The elements of `len(slots)` datasets interleaved, `block` of each.

    With `arrived`, which is set when one has computed an element, those that are still
    computing are passed over.
    """

    __slots__ = (
        "_arrived",
        "_at",
        "_block",
        "_call",
        "_ended",
        "_outer",
        "_shared",
        "_slots",
        "_taken",
    )

    def __init__(
        self,
        shared: Shared,
        outer: Advance,
        call: Any,
        cycle: int,
        block: int,
        arrived: threading.Event | None,
    ) -> None:
        self._shared = shared
        self._outer = outer
        self._call = call
        self._block = block
        self._arrived = arrived
        self._slots: list[Inner | None] = [None] * cycle
        self._at = self._taken = 0
        self._ended = False

    def _refill(self, at: int) -> None:
        if self._slots[at] is None and not self._ended:
            try:
                element = self._outer()
            except StopIteration:
                self._ended = True
                return
            self._slots[at] = Inner(self._call, element, self._shared)

    def _advance_to_ready(self, arrived: threading.Event) -> None:
        """Advances to the next dataset that has an element ready; waits for one."""
        count = len(self._slots)
        order = [(self._at + i) % count for i in range(count)]
        while True:
            arrived.clear()
            for at in order:
                if self._slots[at] is None:
                    self._refill(at)
            computing = [(at, self._slots[at]) for at in order if self._slots[at]]
            for at, inner in computing:
                if inner is not None and inner.advance.ready():  # type: ignore[attr-defined]  # iterators of ours have it
                    if at != self._at:
                        self._at, self._taken = at, 0
                    return
            if not computing:
                return
            arrived.wait()

    def advance(self) -> Element:
        """The next element."""
        slots = self._slots
        while True:
            if self._arrived is not None:
                self._advance_to_ready(self._arrived)
            inner = slots[self._at]
            if inner is None:
                self._refill(self._at)
                inner = slots[self._at]
            if inner is not None:
                try:
                    found = inner.advance()
                except StopIteration:
                    slots[self._at] = None
                else:
                    self._taken += 1
                    if self._taken == self._block:
                        self._at, self._taken = (self._at + 1) % len(slots), 0
                    return found
            elif self._ended and not any(slots):
                raise StopIteration
            self._at, self._taken = (self._at + 1) % len(slots), 0

    def save(self) -> Any:
        """The positions of the open datasets, and the index of the next one."""
        inner = [s and s.save() for s in self._slots]
        return [inner, self._at, self._taken, self._ended]

    def restore(self, position: Any) -> None:
        """Opens the datasets again, where they were."""
        inner, self._at, self._taken, self._ended = position
        self._slots = [
            None if p is None else Inner.restored(self._call, p, self._shared) for p in inner
        ]


def _interleaved(
    root: Root,
    outer: Advance,
    call: Any,
    cycle: int,
    block: int,
    arrived: threading.Event | None = None,
) -> Advance:
    cycle_state = _Cycle(root.shared, outer, call, cycle, block, arrived)
    root.keep(cycle_state.save, cycle_state.restore)
    return cycle_state.advance


@op
class InterleaveDataset(DatasetOp):
    """The elements of several datasets that f returns, interleaved."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments, cycle_length: int64,"
        f" block_length: int64; f: func, {OUTPUTS} -> handle: variant"
    )

    def kernel(self, input_dataset, other_arguments, cycle_length, block_length, f):
        cycle, block = int(cycle_length), int(block_length)
        require(cycle > 0, "cycle_length must be greater than zero.")
        require(block > 0, "block_length must be greater than zero.")

        def open(root: Root) -> Advance:
            outer = input_dataset.open(root)
            call = runner(root.shared, f, other_arguments, "InterleaveDataset")
            return _interleaved(root, outer, call, cycle, block)

        return Stage("Interleave", UNKNOWN, open)


def _open_at_a_time(calls: int) -> int:
    """TensorFlow's default for the number of datasets that are open concurrently."""
    return -(-cores() // 3) if calls == AUTOTUNE else calls


@op
class ParallelInterleaveDatasetV4(DatasetOp):
    """The elements of several datasets that f returns, interleaved, each computed ahead."""

    signature = (
        "input_dataset: variant, other_arguments: *Targuments, cycle_length: int64,"
        " block_length: int64, buffer_output_elements: int64,"
        " prefetch_input_elements: int64, num_parallel_calls: int64; f: func,"
        " deterministic: str = 'default', output_types: list(type),"
        " output_shapes: list(shape), metadata: str = '' -> handle: variant"
    )

    def kernel(
        self,
        input_dataset,
        other_arguments,
        cycle_length,
        block_length,
        num_parallel_calls,
        buffer_output_elements,
        f,
        deterministic,
    ):
        wanted, block = int(cycle_length), int(block_length)
        require(wanted > 0 or wanted == AUTOTUNE, "`cycle_length` must be > 0")
        require(block > 0, "`block_length` must be > 0")
        calls, buffered = parallelism(num_parallel_calls), int(buffer_output_elements)
        size = buffered if buffered > 0 else max(block, PREFETCHED_ELEMENTS)

        def open(root: Root) -> Advance:
            outer, options = input_dataset.open(root), root.shared.options
            call = runner(root.shared, f, other_arguments, "ParallelInterleaveDatasetV4")
            threads = threads_for(calls, f, options)
            cycle = _open_at_a_time(calls) if wanted == AUTOTUNE else wanted
            if threads == 1:
                return _interleaved(root, outer, call, cycle, block)

            ordered = in_order(deterministic, options)
            arrived = None if ordered else threading.Event()

            def computed_ahead(*element: Any) -> Element:
                inner = call(*element)[0]
                return (
                    Stage(
                        inner.name,
                        inner.cardinality,
                        lambda root: ahead(inner, root, size, arrived),
                    ),
                )

            return _interleaved(root, outer, computed_ahead, cycle, block, arrived)

        return Stage("ParallelInterleave", UNKNOWN, open)
