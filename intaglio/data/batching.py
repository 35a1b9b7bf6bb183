"""Elements put together and taken apart: batch, padded batch, unbatch, window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.data.positions import elements_of, held, of_elements
from intaglio.data.sources import Rows
from intaglio.data.stage import (
    OUTPUTS,
    UNKNOWN,
    Advance,
    DatasetOp,
    Element,
    Root,
    Stage,
    demand,
    divided,
    exhausted,
    in_sequence,
)
from intaglio.op.op import op


def gathered(source: Advance, size: int, drop_remainder: bool) -> list[Element]:
    """The next `size` elements. Raises StopIteration if there are none, or too few."""
    elements: list[Element] = []
    append = elements.append
    try:
        for _ in range(size):
            append(source())
    except StopIteration:
        if not elements or drop_remainder:
            raise
    return elements


def stacked(elements: Sequence[Element]) -> Element:
    """Elements as one, each component a dimension deeper.

    Raises InvalidArgumentError if the shapes of a component differ.
    """
    return tuple([_stack(column) for column in zip(*elements, strict=True)])


def _stack(parts: tuple[Any, ...]) -> Any:
    first = parts[0]
    if not first.ndim and first.dtype != object:
        return np.array(parts, first.dtype)
    shape = first.shape
    for part in parts:
        if part.shape != shape:
            raise errors.invalid_argument(
                "Cannot add tensor to the batch: number of elements does not match. "
                f"Shapes are: [tensor]: {_dims(part.shape)}, [batch]: {_dims(shape)}"
            )
    if first.dtype != object:
        return np.stack(parts)
    whole = np.empty((len(parts), *shape), object)
    for index, part in enumerate(parts):
        whole[index, ...] = part
    return whole


def _dims(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _batches(
    name: str,
    dataset: Stage,
    batch_size: Any,
    drop_remainder: Any,
    together: Callable[[Sequence[Element]], Element],
) -> Stage:
    size, drop = int(batch_size), bool(drop_remainder)
    demand(size > 0, "Batch size must be greater than zero.")

    def open(root: Root) -> Advance:
        source = dataset.open(root)
        return lambda: together(gathered(source, size, drop))

    known = dataset.cardinality
    at = dataset.at and _batch_at(dataset.at, known, size, together)
    return Stage(name, divided(known, size, drop), open, at)


def _batch_at(
    at: Callable[[int], Element], count: int, size: int, together: Any
) -> Callable[[int], Element]:
    def there(index: int) -> Element:
        last = (index + 1) * size if count < 0 else min((index + 1) * size, count)
        return together([at(i) for i in range(index * size, last)])

    return there


@op
class BatchDatasetV2(DatasetOp):
    """`batch_size` elements stacked into one."""

    signature = (
        "input_dataset: variant, batch_size: int64, drop_remainder: bool;"
        f" parallel_copy: bool = False, {OUTPUTS} -> handle: variant"
    )

    def kernel(self, input_dataset, batch_size, drop_remainder):
        return _batches("Batch", input_dataset, batch_size, drop_remainder, stacked)


@op
class ParallelBatchDataset(DatasetOp):
    """`batch_size` elements stacked into one."""

    signature = (
        "input_dataset: variant, batch_size: int64, num_parallel_calls: int64,"
        " drop_remainder: bool; parallel_copy: bool = False, "
        "output_types: list(type), output_shapes: list(shape),"
        " deterministic: str = 'default', metadata: str = '' -> handle: variant"
    )

    def kernel(self, input_dataset, batch_size, drop_remainder):
        return _batches("Batch", input_dataset, batch_size, drop_remainder, stacked)


@op
class PaddedBatchDatasetV2(DatasetOp):
    """Elements of different shapes, padded to one shape and stacked."""

    signature = (
        "input_dataset: variant, batch_size: int64, padded_shapes: N*int64,"
        " padding_values: *Toutput_types, drop_remainder: bool;"
        " parallel_copy: bool = False, output_shapes: list(shape), metadata: str = ''"
        " -> handle: variant"
    )

    def kernel(
        self, input_dataset, batch_size, padded_shapes, padding_values, drop_remainder
    ):
        wanted = [p.tolist() for p in padded_shapes]

        def together(elements: Sequence[Element]) -> Element:
            columns = zip(*elements, strict=True)
            return tuple(
                [
                    _padded(parts, shape, value)
                    for parts, shape, value in zip(
                        columns, wanted, padding_values, strict=True
                    )
                ]
            )

        return _batches(
            "PaddedBatch", input_dataset, batch_size, drop_remainder, together
        )


def _padded(parts: Sequence[Any], wanted: list[int], value: Any) -> Any:
    for part in parts:
        if part.ndim != len(wanted):
            raise errors.invalid_argument(
                "All elements in a batch must have the same rank as the padded shape for "
                f"component: expected rank {len(wanted)} got element with rank {part.ndim}"
            )
    sizes = np.array([p.shape for p in parts], np.int64).reshape(len(parts), -1)
    longest = sizes.max(axis=0).tolist()
    shape = [m if w < 0 else w for w, m in zip(wanted, longest, strict=True)]
    for limit, size in zip(shape, longest, strict=True):
        if size > limit:
            raise errors.DataLossError(
                None,
                None,
                "Attempted to pad to a smaller size than the input element.",
            )
    whole = np.empty((len(parts), *shape), parts[0].dtype)
    whole[...] = value
    for index, part in enumerate(parts):
        whole[(index, *[slice(0, n) for n in part.shape])] = part
    return whole


@op
class UnbatchDataset(DatasetOp):
    """The slices of each element along the first dimension."""

    signature = f"input_dataset: variant; {OUTPUTS} -> handle: variant"

    def kernel(self, input_dataset):
        return Stage("Unbatch", UNKNOWN, lambda root: _slices(input_dataset, root))


def _slices(stage: Stage, root: Root) -> Advance:
    source = stage.open(root)
    rows: Advance = exhausted
    whole: Element = ()
    place: Root | None = None

    def enter(element: Element) -> None:
        nonlocal rows, whole, place
        place = Root()
        rows, whole = _rows_of(element, place), element

    def advance() -> Element:
        while True:
            try:
                return rows()
            except StopIteration:
                enter(source())

    def restore(position: Any) -> None:
        if position is not None:
            element, within = position
            enter(tuple(element))
            if place is not None:
                place.restore(within)

    root.keep(lambda: place and [list(whole), place.save()], restore)
    return advance


def _rows_of(element: Element, root: Root) -> Advance:
    counts = {len(c) for c in element}
    if len(counts) != 1:
        raise errors.invalid_argument(
            "Input element must have the same batch size in each component. "
            f"Sizes are {sorted(counts)}"
        )
    return in_sequence(root, [c if c.dtype != object else Rows(c) for c in element])


@op
class WindowDataset(DatasetOp):
    """Datasets of `size` elements each, that begin `shift` elements apart."""

    signature = (
        "input_dataset: variant, size: int64, shift: int64, stride: int64,"
        f" drop_remainder: bool; {OUTPUTS} -> handle: variant"
    )

    def kernel(self, input_dataset, size, shift, stride, drop_remainder):
        n, step, apart, drop = int(size), int(shift), int(stride), bool(drop_remainder)
        demand(n > 0, "Window size must be greater than zero.")
        demand(step > 0, "Window shift must be greater than zero.")
        demand(apart > 0, "Window stride must be greater than zero.")
        known = input_dataset.cardinality
        span = (n - 1) * apart + 1
        if known >= 0:
            known = max((known - span) // step + 1, 0) if drop else -(-known // step)
        return Stage(
            "Window",
            known,
            lambda root: _windows(input_dataset, root, n, step, apart, drop),
        )


def _windows(
    stage: Stage, root: Root, size: int, shift: int, stride: int, drop: bool
) -> Advance:
    source = stage.open(root)
    span = (size - 1) * stride + 1
    waiting: list[Element] = []
    skip = 0
    ended = False

    def advance() -> Element:
        nonlocal skip, ended
        while not ended and (skip or len(waiting) < span):
            try:
                element = source()
            except StopIteration:
                ended = True
                break
            if skip:
                skip -= 1
            else:
                waiting.append(element)
        if not waiting or (drop and len(waiting) < span):
            raise StopIteration
        window = waiting[:span:stride]
        skip = max(shift - len(waiting), 0)
        del waiting[:shift]
        columns = zip(*window, strict=True)
        return tuple([held([(c,) for c in column]) for column in columns])

    def restore(position: Any) -> None:
        nonlocal skip, ended
        before, skip, ended = position
        waiting[:] = elements_of(before)

    root.keep(lambda: [of_elements(waiting), skip, ended], restore)
    return advance
