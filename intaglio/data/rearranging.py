"""Datasets with other elements or another order: repeat, take, skip, shuffle, shard, cache, zip."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.data.seeds import Samples
from intaglio.data.stage import (
    ELEMENTS,
    INFINITE,
    OUTPUTS,
    UNKNOWN,
    Advance,
    Element,
    Root,
    Stage,
    bounded,
    demand,
    exhausted,
    handle_spec,
    shortest,
    summed,
)
from intaglio.op.op import Op, op
from intaglio.op.spec import Spec


class Transformation(Op):
    """An op that makes a dataset of others."""

    differentiable = False

    def infer(self) -> Spec:
        return handle_spec()


@op
class RepeatDataset(Transformation):
    """The elements `count` times; without end for -1."""

    signature = f"input_dataset: variant, count: int64; {OUTPUTS} -> handle: variant"

    def kernel(self, input_dataset, count):
        times = int(count)
        known = input_dataset.cardinality
        if times < 0:
            size = known if known in (0, UNKNOWN) else INFINITE
        else:
            size = 0 if times == 0 else known if known < 0 else known * times
        return Stage("Repeat", size, lambda root: _repeated(input_dataset, times, root))


def _repeated(stage: Stage, times: int, root: Root) -> Advance:
    source: Advance = exhausted
    turn = 0
    fresh = False  # nothing has come out of this turn yet

    def advance() -> Element:
        nonlocal source, turn, fresh
        while True:
            try:
                element = source()
                fresh = False
                return element
            except StopIteration:
                if turn == times or (times < 0 and fresh):
                    source = exhausted
                    raise
                turn += 1
                fresh = True
                source = stage.open(root)

    return advance


@op
class TakeDataset(Transformation):
    """The first `count` elements; all for -1."""

    signature = f"input_dataset: variant, count: int64; {OUTPUTS} -> handle: variant"

    def kernel(self, input_dataset, count):
        limit = int(count)
        if limit < 0:
            return Stage("Take", input_dataset.cardinality, input_dataset.open)

        def open(root: Root) -> Advance:
            source, left = input_dataset.open(root), limit

            def advance() -> Element:
                nonlocal left
                if not left:
                    raise StopIteration
                left -= 1
                return source()

            return advance

        return Stage("Take", bounded(input_dataset.cardinality, limit), open)


@op
class SkipDataset(Transformation):
    """The elements after the first `count`; none for -1."""

    signature = f"input_dataset: variant, count: int64; {OUTPUTS} -> handle: variant"

    def kernel(self, input_dataset, count):
        number = int(count)
        if number < 0:
            return Stage("Skip", 0, lambda root: exhausted)
        known = input_dataset.cardinality

        def open(root: Root) -> Advance:
            source, left = input_dataset.open(root), number

            def advance() -> Element:
                nonlocal left
                while left:
                    source()
                    left -= 1
                return source()

            return advance

        return Stage("Skip", known if known < 0 else max(known - number, 0), open)


@op
class ShardDataset(Transformation):
    """Every `num_shards`th element, from the one at `index` on."""

    signature = (
        "input_dataset: variant, num_shards: int64, index: int64;"
        f" require_non_empty: bool = False, {OUTPUTS} -> handle: variant"
    )

    def kernel(self, input_dataset, num_shards, index):
        shards, at = int(num_shards), int(index)
        demand(
            shards > 0,
            f"Number of shards must be greater than zero (currently num_shards = {shards}).",
        )
        demand(
            0 <= at < shards,
            f"Index must be between 0 and {shards - 1} (currently index = {at}).",
        )
        known = input_dataset.cardinality

        def open(root: Root) -> Advance:
            source, skipped = input_dataset.open(root), at

            def advance() -> Element:
                nonlocal skipped
                while skipped:
                    source()
                    skipped -= 1
                element = source()
                skipped = shards - 1
                return element

            return advance

        size = known if known < 0 else max(-(-(known - at) // shards), 0)
        return Stage("Shard", size, open)


@op
class ShuffleDatasetV3(Transformation):
    """The elements in random order, drawn from a buffer of the next `buffer_size`."""

    signature = (
        "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64,"
        " seed_generator: resource; reshuffle_each_iteration: bool = True,"
        f" {OUTPUTS} -> handle: variant"
    )
    stateful = True
    droppable = True

    def kernel(self, input_dataset, buffer_size, seed_generator):
        capacity = int(buffer_size)
        demand(
            capacity > 0 or capacity == UNKNOWN,
            "buffer_size must be greater than zero or UNKNOWN_CARDINALITY",
        )
        return Stage(
            "Shuffle",
            input_dataset.cardinality,
            lambda root: _shuffled(input_dataset, capacity, seed_generator, root),
        )


def _shuffled(stage: Stage, capacity: int, seeds: Any, root: Root) -> Advance:
    """Draws like TensorFlow: the element drawn changes places with the buffer's oldest."""
    samples = Samples(*seeds.seeds())
    source = stage.open(root)
    slots: list[
        Any
    ] = []  # a ring of `capacity` places, or all elements if it is negative
    start = held = 0
    ended = False

    def advance() -> Element:
        nonlocal start, held, ended
        while not ended and (held < capacity or capacity < 0):
            try:
                element = source()
            except StopIteration:
                ended = True
                break
            at = (start + held) % capacity if capacity > 0 else held
            if at == len(slots):
                slots.append(element)
            else:
                slots[at] = element
            held += 1
        if not held:
            raise StopIteration
        size = capacity if capacity > 0 else len(slots)
        chosen = (start + samples.next() % held) % size
        oldest = start % size
        found, slots[chosen] = slots[chosen], slots[oldest]
        slots[oldest] = None
        start, held = start + 1, held - 1
        return found

    return advance


@op
class CacheDataset(Transformation):
    """The elements, computed once: kept in memory when one iteration has come to the end."""

    signature = (
        f"input_dataset: variant, filename: string; {OUTPUTS} -> handle: variant"
    )

    def kernel(self, input_dataset, filename):
        if filename[()]:
            raise errors.UnimplementedError(
                None, None, "datasets are cached in memory only: leave out filename"
            )
        kept: list[list[Element]] = []
        lock = threading.Lock()

        def open(root: Root) -> Advance:
            with lock:
                if kept:
                    return iter(kept[0]).__next__
            return _kept(input_dataset.open(root), kept)

        return Stage("Cache", input_dataset.cardinality, open)


def _kept(source: Advance, kept: list[list[Element]]) -> Advance:
    seen: list[Element] = []

    def advance() -> Element:
        try:
            element = source()
        except StopIteration:
            if not kept:
                kept.append(seen)
            raise
        seen.append(element)
        return element

    return advance


@op
class ConcatenateDataset(Transformation):
    """The elements of one dataset, then those of the other."""

    signature = (
        "input_dataset: variant, another_dataset: variant;"
        f" {OUTPUTS} -> handle: variant"
    )

    def kernel(self, input_dataset, another_dataset):
        stages = [input_dataset, another_dataset]

        def open(root: Root) -> Advance:
            following = iter(stages)
            source = next(following).open(root)

            def advance() -> Element:
                nonlocal source
                while True:
                    try:
                        return source()
                    except StopIteration:
                        source = next(following).open(root)

            return advance

        return Stage("Concatenate", summed([s.cardinality for s in stages]), open)


@op
class ZipDataset(Transformation):
    """Elements side by side, as long as all datasets have one."""

    signature = f"input_datasets: N*variant; {OUTPUTS} -> handle: variant"

    def kernel(self, input_datasets):
        size = shortest([s.cardinality for s in input_datasets])
        return Stage("Zip", size, lambda root: _side_by_side(input_datasets, root))


def _side_by_side(stages: Sequence[Stage], root: Root) -> Advance:
    sources = [s.open(root) for s in stages]
    if len(sources) == 2:
        first, second = sources
        return lambda: (*first(), *second())
    return lambda: tuple([part for source in sources for part in source()])


@op
class DirectedInterleaveDataset(Transformation):
    """The next element of the dataset that each element of the selector names."""

    signature = (
        "selector_input_dataset: variant, data_input_datasets: N*variant;"
        f" {ELEMENTS}, stop_on_empty_dataset: bool = False -> handle: variant"
    )

    def kernel(
        self, selector_input_dataset, data_input_datasets, stop_on_empty_dataset
    ):
        count = len(data_input_datasets)

        def open(root: Root) -> Advance:
            selector = selector_input_dataset.open(root)
            sources: list[Any] = [s.open(root) for s in data_input_datasets]

            def advance() -> Element:
                while any(sources):
                    (chosen,) = selector()
                    index = int(chosen)
                    demand(
                        0 <= index < count,
                        f"Selector index out of range: {index} >= {count}",
                    )
                    if sources[index] is None:
                        continue
                    try:
                        return sources[index]()
                    except StopIteration:
                        if stop_on_empty_dataset:
                            sources[:] = [None] * count
                            raise
                        sources[index] = None
                raise StopIteration

            return advance

        known = [s.cardinality for s in data_input_datasets]
        endless = selector_input_dataset.cardinality == INFINITE and INFINITE in known
        size = INFINITE if endless and not stop_on_empty_dataset else UNKNOWN
        return Stage("DirectedInterleave", size, open)


@op
class UniqueDataset(Transformation):
    """The elements, without those that came before."""

    signature = f"input_dataset: variant; {OUTPUTS} -> handle: variant"

    def kernel(self, input_dataset):
        def open(root: Root) -> Advance:
            source, seen = input_dataset.open(root), set[Any]()

            def advance() -> Element:
                while True:
                    element = source()
                    value = np.asarray(element[0])
                    key = value.item() if value.ndim == 0 else value.tobytes()
                    if key not in seen:
                        seen.add(key)
                        return element

            return advance

        return Stage("Unique", UNKNOWN, open)


@op
class IgnoreErrorsDataset(Transformation):
    """The elements that can be computed."""

    signature = (
        f"input_dataset: variant; {ELEMENTS}, log_warning: bool = False"
        " -> handle: variant"
    )

    def kernel(self, input_dataset):
        def open(root: Root) -> Advance:
            source = input_dataset.open(root)

            def advance() -> Element:
                while True:
                    try:
                        return source()
                    except errors.OpError:
                        continue

            return advance

        return Stage("IgnoreErrors", UNKNOWN, open)


@op
class AssertCardinalityDataset(Transformation):
    """The elements; an error if their number is not the one declared."""

    signature = (
        f"input_dataset: variant, cardinality: int64; {ELEMENTS} -> handle: variant"
    )

    def kernel(self, input_dataset, cardinality):
        wanted = int(cardinality)
        return Stage(
            "AssertCardinality",
            wanted,
            lambda root: _counted(input_dataset, wanted, root),
        )


def _counted(stage: Stage, wanted: int, root: Root) -> Advance:
    source, count = stage.open(root), 0

    def wrong(found: str) -> Exception:
        shown = "an infinite number of" if wanted == INFINITE else wanted
        return errors.FailedPreconditionError(
            None,
            None,
            f"Input dataset was expected to contain {shown} elements but contained {found}.",
        )

    def advance() -> Element:
        nonlocal count
        try:
            element = source()
        except StopIteration:
            if wanted not in (count, UNKNOWN):
                raise wrong(f"only {count} elements") from None
            raise
        count += 1
        if 0 <= wanted < count:
            raise wrong(f"at least {count} elements")
        return element

    return advance


@op
class OptionsDataset(Transformation):
    """The elements, with options that say how they are computed."""

    signature = (
        f"input_dataset: variant; serialized_options: str, {OUTPUTS} -> handle: variant"
    )

    def kernel(self, input_dataset):
        return input_dataset
