"""The stages that select or reorder elements: repeat, take, skip, shuffle, shard, zip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base import errors
from intaglio.data.positions import elements_of, of_elements
from intaglio.data.seeds import Samples
from intaglio.data.stage import (
    ELEMENTS,
    INFINITE,
    OUTPUTS,
    UNKNOWN,
    Advance,
    DatasetOp,
    Element,
    Opened,
    Root,
    Stage,
    bounded,
    exhausted,
    require,
    shortest,
    summed,
)
from intaglio.opdef.op import op

# The number of shards, and the index, where a strategy says them.
SHARD_HINT = -1


@op
class RepeatDataset(DatasetOp):
    """The elements `count` times; without end for -1."""

    signature = f"input_dataset: variant, count: int64; {OUTPUTS} -> handle: variant"

    def kernel(self, input_dataset, count):
        times = int(count)
        known = input_dataset.cardinality
        if times < 0:
            size = known and INFINITE
        else:
            size = 0 if times == 0 else known if known < 0 else known * times
        at = None
        if input_dataset.at and known > 0:
            at = _modulo(input_dataset.at, known)
        return Stage("Repeat", size, lambda root: _repeated(input_dataset, times, root), at)


def _modulo(at: Any, size: int) -> Any:
    return lambda index: at(index % size)


def _repeated(stage: Stage, times: int, root: Root) -> Advance:
    shared = root.shared
    opened: Opened | None = None
    source: Advance = exhausted
    epoch = 0
    fresh = False  # this epoch has no element yet
    if times:
        opened = Opened(stage, shared)
        source, epoch, fresh = opened.advance, 1, True

    def save() -> Any:
        return [epoch, fresh, opened and opened.root.save()]

    def restore(position: Any) -> None:
        nonlocal opened, source, epoch, fresh
        epoch, fresh, inner = position
        opened, source = None, exhausted
        if inner is not None:
            opened = Opened(stage, shared)
            opened.root.restore(inner)
            source = opened.advance

    root.keep(save, restore)

    def advance() -> Element:
        nonlocal opened, source, epoch, fresh
        while True:
            try:
                element = source()
                fresh = False
                return element
            except StopIteration:
                if epoch == times or (times < 0 and fresh):
                    opened, source = None, exhausted
                    raise
                epoch += 1
                fresh = True
                opened = Opened(stage, shared)
                source = opened.advance

    return advance


@op
class TakeDataset(DatasetOp):
    """The first `count` elements; all for -1."""

    signature = f"input_dataset: variant, count: int64; {OUTPUTS} -> handle: variant"

    def kernel(self, input_dataset, count):
        limit = int(count)
        at = input_dataset.at
        if limit < 0:
            return Stage("Take", input_dataset.cardinality, input_dataset.open, at)

        def open(root: Root) -> Advance:
            source, left = input_dataset.open(root), limit

            def advance() -> Element:
                nonlocal left
                if not left:
                    raise StopIteration
                left -= 1
                return source()

            def restore(position: int) -> None:
                nonlocal left
                left = position

            root.keep(lambda: left, restore)
            return advance

        return Stage("Take", bounded(input_dataset.cardinality, limit), open, at)


@op
class SkipDataset(DatasetOp):
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

            def restore(position: int) -> None:
                nonlocal left
                left = position

            root.keep(lambda: left, restore)
            return advance

        direct = input_dataset.at
        at = direct and (lambda index: direct(index + number))
        return Stage("Skip", known if known < 0 else max(known - number, 0), open, at)


@op
class ShardDataset(DatasetOp):
    """Every `num_shards`th element, from the one at `index` on."""

    signature = (
        "input_dataset: variant, num_shards: int64, index: int64;"
        f" require_non_empty: bool = False, {OUTPUTS} -> handle: variant"
    )

    def kernel(self, input_dataset, num_shards, index, require_non_empty):
        shards, at = int(num_shards), int(index)
        if shards == SHARD_HINT:
            return Stage("Shard", UNKNOWN, _no_worker)
        require(
            shards > 0,
            f"Number of shards must be greater than zero (currently num_shards = {shards}).",
        )
        require(
            0 <= at < shards, f"Index must be between 0 and {shards - 1} (currently index = {at})."
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

            def restore(position: int) -> None:
                nonlocal skipped
                skipped = position

            root.keep(lambda: skipped, restore)
            return advance

        size = known if known < 0 else max(-(-(known - at) // shards), 0)
        if require_non_empty and 0 <= known < shards:
            raise errors.invalid_argument(
                f"Dataset does not have enough data for {shards} shards: it has {known} elements."
            )
        direct = input_dataset.at
        there = direct and (lambda index: direct(index * shards + at))
        return Stage("Shard", size, open, there)


def _no_worker(root: Root) -> Advance:
    """Raises FailedPreconditionError: no strategy has said which elements to take."""
    raise errors.FailedPreconditionError(
        None,
        None,
        "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in `tf.distribute.Strategy."
        "experimental_distribute_dataset()` with `tf.data.experimental.AutoShardPolicy.HINT`.",
    )


@op
class ShuffleDatasetV3(DatasetOp):
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
        require(
            capacity > 0 or capacity == UNKNOWN,
            "buffer_size must be greater than zero or UNKNOWN_CARDINALITY",
        )
        return Stage(
            "Shuffle",
            input_dataset.cardinality,
            lambda root: _shuffled(root, input_dataset, capacity, seed_generator),
        )


def _shuffled(root: Root, stage: Stage, capacity: int, seeds: Any) -> Advance:
    """Draws like TensorFlow: the chosen element is swapped with the buffer's oldest."""
    source = stage.open(root)
    samples = Samples(*seeds.seeds())
    draw = samples.next
    # A ring buffer of `size` elements; without a capacity it takes all elements before the first result.
    slots: list[Any] = []
    size = capacity
    start = filled = 0
    ended = False

    def advance() -> Element:
        nonlocal size, start, filled, ended
        if not ended:
            try:
                while filled < capacity or capacity < 0:
                    element = source()
                    if filled == len(slots):
                        slots.append(element)
                    else:
                        slots[(start + filled) % size] = element
                    filled += 1
            except StopIteration:
                ended = True
                size = size if capacity > 0 else len(slots)
        if not filled:
            raise StopIteration
        chosen = (start + draw() % filled) % size
        found = slots[chosen]
        slots[chosen], slots[start] = slots[start], None
        start = start + 1 if start + 1 < size else 0
        filled -= 1
        return found

    def save() -> Any:
        order = [slots[(start + i) % size] for i in range(filled)]
        return [of_elements(order), ended, samples.save(), seeds.save()]

    def restore(position: Any) -> None:
        nonlocal size, start, filled, ended
        buffered, ended, position_of_samples, seed_position = position
        slots[:] = elements_of(buffered)
        start, filled = 0, len(slots)
        size = capacity if capacity > 0 else filled
        samples.restore(position_of_samples)
        seeds.restore(seed_position)  # later iterations get the seeds they would have got

    root.keep(save, restore)
    return advance


@op
class ConcatenateDataset(DatasetOp):
    """The elements of one dataset, then those of the other."""

    signature = f"input_dataset: variant, another_dataset: variant; {OUTPUTS} -> handle: variant"

    def kernel(self, input_dataset, another_dataset):
        known = [input_dataset.cardinality, another_dataset.cardinality]
        size = summed(known)
        at = None
        if input_dataset.at and another_dataset.at and known[0] >= 0:
            first, other, border = input_dataset.at, another_dataset.at, known[0]

            def there(index: int) -> Element:
                return first(index) if index < border else other(index - border)

            at = there
        stages = [input_dataset, another_dataset]
        return Stage("Concatenate", size, lambda root: _one_by_one(stages, root), at)


def _one_by_one(stages: Sequence[Stage], root: Root) -> Advance:
    shared = root.shared
    number = 0
    opened = Opened(stages[0], shared)
    source = opened.advance

    def advance() -> Element:
        nonlocal number, opened, source
        while True:
            try:
                return source()
            except StopIteration:
                if number + 1 == len(stages):
                    raise
                number += 1
                opened = Opened(stages[number], shared)
                source = opened.advance

    def restore(position: Any) -> None:
        nonlocal number, opened, source
        number, inner = position
        opened = Opened(stages[number], shared)
        opened.root.restore(inner)
        source = opened.advance

    root.keep(lambda: [number, opened.root.save()], restore)
    return advance


@op
class ZipDataset(DatasetOp):
    """Tuples of the datasets' elements, up to the end of the shortest."""

    signature = f"input_datasets: N*variant; {OUTPUTS} -> handle: variant"

    def kernel(self, input_datasets):
        size = shortest([s.cardinality for s in input_datasets])
        at = None
        if all(s.at for s in input_datasets):

            def there(index: int) -> Element:
                return tuple([part for s in input_datasets for part in s.at(index)])

            at = there
        return Stage("Zip", size, lambda root: _side_by_side(input_datasets, root), at)


def _side_by_side(stages: Sequence[Stage], root: Root) -> Advance:
    sources = [s.open(root) for s in stages]
    if len(sources) == 2:
        first, second = sources
        return lambda: (*first(), *second())
    return lambda: tuple([part for source in sources for part in source()])


@op
class DirectedInterleaveDataset(DatasetOp):
    """The next element of the dataset that each element of the selector names."""

    signature = (
        "selector_input_dataset: variant, data_input_datasets: N*variant;"
        f" {ELEMENTS}, stop_on_empty_dataset: bool = False -> handle: variant"
    )

    def kernel(self, selector_input_dataset, data_input_datasets, stop_on_empty_dataset):
        count = len(data_input_datasets)

        def open(root: Root) -> Advance:
            selector = selector_input_dataset.open(root)
            sources: list[Any] = [s.open(root) for s in data_input_datasets]

            def advance() -> Element:
                while any(sources):
                    (chosen,) = selector()
                    index = int(chosen)
                    require(0 <= index < count, f"Selector index out of range: {index} >= {count}")
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

            def restore(ended: Any) -> None:
                sources[:] = [None if e else s for e, s in zip(ended, sources, strict=True)]

            root.keep(lambda: [s is None for s in sources], restore)
            return advance

        known = [s.cardinality for s in data_input_datasets]
        # TensorFlow does not take the shortest into account.
        endless = selector_input_dataset.cardinality == INFINITE and INFINITE in known
        size = INFINITE if endless else UNKNOWN
        return Stage("DirectedInterleave", size, open)
