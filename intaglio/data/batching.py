"""The stages that batch and unbatch elements: batch, padded batch, unbatch, window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.base.dtypes import VARIANT_MARKER
from intaglio.data.positions import dataset_of, elements_of, of_elements
from intaglio.data.sources import Rows
from intaglio.data.stage import (
    AUTOTUNE,
    ELEMENTS,
    OUTPUTS,
    UNKNOWN,
    Advance,
    DatasetOp,
    Element,
    Root,
    Stage,
    divided,
    exhausted,
    flattened,
    in_sequence,
    require,
)
from intaglio.opdef.op import op
from intaglio.ops.control_flow.variants import Variants, VariantTensor


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


def _stacked_alike(elements: Sequence[Element]) -> Element:
    """As `stacked`, with an error that names the component and the first element."""
    columns = enumerate(zip(*elements, strict=True))
    return tuple([_stack(parts, _different(i)) for i, parts in columns])


def _stack(parts: tuple[Any, ...], message_of: Callable[..., str] | None = None) -> Any:
    first = parts[0]
    if first.dtype is VARIANT_MARKER:
        return Variants.stacked(parts)
    if not first.ndim and not any([part.ndim for part in parts]):
        if first.dtype != object:
            return np.array(parts, first.dtype)
        strings = np.empty(len(parts), object)
        strings[:] = [part.item() for part in parts]
        return strings
    shape = first.shape
    for number, part in enumerate(parts):
        if part.shape != shape:
            raise errors.invalid_argument((message_of or _does_not_fit)(number, part, first))
    if first.dtype != object:
        return np.stack(parts)
    whole = np.empty((len(parts), *shape), object)
    for index, part in enumerate(parts):
        whole[index, ...] = part
    return whole


def _does_not_fit(number: int, part: Any, first: Any) -> str:
    return (
        "Cannot add tensor to the batch: number of elements does not match. Shapes are: "
        f"[tensor]: {_dims(part.shape)}, [batch]: {_dims(first.shape)}"
    )


def _different(component: int) -> Callable[..., str]:
    def message(number: int, part: Any, first: Any) -> str:
        return (
            f"Cannot batch tensors with different shapes in component {component}. First "
            f"element had shape {_dims(first.shape)} and element {number} had shape {_dims(part.shape)}."
        )

    return message


def _dims(shape: Sequence[int]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _batches(
    name: str,
    dataset: Stage,
    batch_size: Any,
    drop_remainder: Any,
    together: Callable[[Sequence[Element]], Element],
) -> Stage:
    size, drop = int(batch_size), bool(drop_remainder)
    require(size > 0, "Batch size must be greater than zero.")

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
        # TensorFlow makes one step of a map and the batching after it, which words the error otherwise.
        fused = input_dataset.name in ("Map", "ParallelMap")
        together = stacked if fused else _stacked_alike
        return _batches("Batch", input_dataset, batch_size, drop_remainder, together)


@op
class ParallelBatchDataset(DatasetOp):
    """`batch_size` elements stacked into one."""

    signature = (
        "input_dataset: variant, batch_size: int64, num_parallel_calls: int64,"
        " drop_remainder: bool; parallel_copy: bool = False, "
        "output_types: list(type), output_shapes: list(shape),"
        " deterministic: str = 'default', metadata: str = '' -> handle: variant"
    )

    def kernel(self, input_dataset, batch_size, num_parallel_calls, drop_remainder):
        calls = int(num_parallel_calls)
        require(calls > 0 or calls == AUTOTUNE, "num_parallel_calls must be greater than zero.")
        return _batches("Batch", input_dataset, batch_size, drop_remainder, _stacked_alike)


@op
class PaddedBatchDatasetV2(DatasetOp):
    """Elements of different shapes, padded to one shape and stacked."""

    signature = (
        "input_dataset: variant, batch_size: int64, padded_shapes: N*int64,"
        " padding_values: *Toutput_types, drop_remainder: bool;"
        " parallel_copy: bool = False, output_shapes: list(shape), metadata: str = ''"
        " -> handle: variant"
    )

    def kernel(self, input_dataset, batch_size, padded_shapes, padding_values, drop_remainder):
        wanted = [p.tolist() for p in padded_shapes]

        def together(elements: Sequence[Element]) -> Element:
            columns = zip(*elements, strict=True)
            pairs = zip(columns, wanted, padding_values, strict=True)
            return tuple([_padded(i, *parts) for i, parts in enumerate(pairs)])

        return _batches("PaddedBatch", input_dataset, batch_size, drop_remainder, together)


def _padded(component: int, parts: Sequence[Any], wanted: list[int], value: Any) -> Any:
    for part in parts:
        if part.ndim != len(wanted):
            raise errors.invalid_argument(
                "All elements in a batch must have the same rank as the padded shape for "
                f"component{component}: expected rank {len(wanted)} but got element with rank {part.ndim}"
            )
    sizes = np.array([p.shape for p in parts], np.int64).reshape(len(parts), -1)
    longest = sizes.max(axis=0).tolist()
    shape = [m if w < 0 else w for w, m in zip(wanted, longest, strict=True)]
    for limit, size in zip(shape, longest, strict=True):
        if size > limit:
            raise errors.DataLossError(
                None, None, "Attempted to pad to a smaller size than the input element."
            )
    whole = np.empty((len(parts), *shape), parts[0].dtype)
    whole[...] = value
    for index, part in enumerate(parts):
        whole[(index, *[slice(0, n) for n in part.shape])] = part
    return whole


@op
class DenseToSparseBatchDataset(DatasetOp):
    """Tensors of different shapes as sparse tensors, with rows of a shape given."""

    signature = (
        "input_dataset: variant, batch_size: int64, row_shape: int64;"
        f" {ELEMENTS} -> handle: variant"
    )

    def kernel(self, input_dataset, batch_size, row_shape):
        def together(elements: Sequence[Element]) -> Element:
            return (_sparse([e[0] for e in elements], row_shape),)

        return _batches("DenseToSparseBatch", input_dataset, batch_size, False, together)


def _sparse(parts: Sequence[Any], row_shape: Any) -> Variants:
    """Arrays as the rows of a sparse tensor with all their elements."""
    for part in parts:
        if part.ndim != row_shape.size:
            raise errors.invalid_argument(
                f"Input element had shape ({_dims(part.shape)}) that is incompatible with the "
                f"row shape ({_dims(row_shape.tolist())})."
            )
        if np.any((np.array(part.shape) > row_shape) & (row_shape >= 0)):
            raise errors.DataLossError(
                None,
                None,
                f"Input element had shape ({_dims(part.shape)}) that is larger than the row "
                f"shape ({_dims(row_shape.tolist())}).",
            )
    sizes = np.array([p.shape for p in parts], np.int64).reshape(len(parts), -1)
    row = np.where(row_shape < 0, sizes.max(axis=0, initial=0), row_shape)
    counts = [p.size for p in parts]
    indices = np.empty((sum(counts), 1 + row_shape.size), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(parts)), counts)
    indices_of_parts = [np.indices(p.shape).reshape(p.ndim, p.size).T for p in parts]
    indices[:, 1:] = np.concatenate(indices_of_parts)
    values = np.concatenate([p.ravel() for p in parts])
    shape = np.array([len(parts), *row], np.int64)
    return Variants([VariantTensor(a) for a in (indices, values, shape)], (3,))


@op
class RebatchDatasetV2(DatasetOp):
    """Batches of other sizes: `batch_sizes`, repeated cyclically."""

    signature = (
        "input_dataset: variant, batch_sizes: int64, drop_remainder: bool;"
        f" {ELEMENTS} -> handle: variant"
    )

    def kernel(self, input_dataset, batch_sizes, drop_remainder):
        sizes = batch_sizes.reshape(-1).tolist()
        require(
            bool(sizes) and all(s >= 0 for s in sizes) and any(sizes),
            f"Each of the batch sizes must be at least zero, and one greater, but they are {sizes}.",
        )
        drop = bool(drop_remainder)

        def open(root: Root) -> Advance:
            rebatched = _Rebatched(input_dataset.open(root), sizes, drop)
            root.keep(rebatched.save, rebatched.restore)
            return rebatched.advance

        return Stage("Rebatch", UNKNOWN, open)


class _Rebatched:
    """An iteration that combines slices of batches into batches of other sizes."""

    __slots__ = ("_drop", "_next_size", "_parts", "_sizes", "_source")

    def __init__(self, source: Advance, sizes: list[int], drop: bool) -> None:
        self._source = source
        self._sizes = sizes
        self._drop = drop
        self._next_size = 0
        self._parts: list[Element] = []  # batches of the input that are left

    def advance(self) -> Element:
        """The next batch."""
        wanted = self._sizes[self._next_size]
        have = sum([len(p[0]) for p in self._parts])
        while have < wanted or not self._parts:
            try:
                part = self._source()
            except StopIteration:
                if not have or (have < wanted and self._drop):
                    self._parts = []
                    raise
                break
            _count(part)
            self._parts.append(part)
            have += len(part[0])
        self._next_size = (self._next_size + 1) % len(self._sizes)
        return self._take(wanted)

    def _take(self, wanted: int) -> Element:
        taken: list[Element] = []
        left = wanted
        while self._parts and (left or not taken):
            part = self._parts.pop(0)
            size = len(part[0])
            if size > left:
                self._parts.insert(0, tuple([c[left:] for c in part]))
                part = tuple([c[:left] for c in part])
            taken.append(part)
            left -= min(size, left)
        if len(taken) == 1:
            return taken[0]
        return tuple([_joined(column) for column in zip(*taken, strict=True)])

    def save(self) -> Any:
        """The remaining batches, and the index of the next size."""
        return [of_elements(self._parts), self._next_size]

    def restore(self, position: Any) -> None:
        """Restores the remaining batches."""
        parts, self._next_size = position
        self._parts = elements_of(parts)


def _joined(parts: tuple[Any, ...]) -> Any:
    if parts[0].dtype is VARIANT_MARKER:
        return Variants.joined(parts)
    shape = parts[0].shape[1:]
    for part in parts:
        if part.shape[1:] != shape:
            raise errors.invalid_argument(
                "Cannot put batches of different element shapes together: "
                f"{_dims(shape)} and {_dims(part.shape[1:])}"
            )
    return np.concatenate(parts)


@op
class UnbatchDataset(DatasetOp):
    """The slices of each element along the first dimension."""

    signature = f"input_dataset: variant; {OUTPUTS} -> handle: variant"

    def kernel(self, input_dataset):
        size = flattened(input_dataset.cardinality, input_dataset.shapes)
        return Stage("Unbatch", size, lambda root: _slices(input_dataset, root))


def _slices(stage: Stage, root: Root) -> Advance:
    source = stage.open(root)
    rows: Advance = exhausted
    whole: Element = ()
    probe: Root | None = None

    def enter(element: Element) -> None:
        nonlocal rows, whole, probe
        probe = Root()
        rows, whole = _rows_of(element, probe), element

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
            if probe is not None:
                probe.restore(within)

    root.keep(lambda: probe and [list(whole), probe.save()], restore)
    return advance


def _rows_of(element: Element, root: Root) -> Advance:
    _count(element)
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
        require(n > 0, "Window size must be greater than zero.")
        require(step > 0, "Window shift must be greater than zero.")
        require(apart > 0, "Window stride must be greater than zero.")
        known = input_dataset.cardinality
        span = (n - 1) * apart + 1
        if known >= 0:
            known = max((known - span) // step + 1, 0) if drop else -(-known // step)
        return Stage(
            "Window", known, lambda root: _windows(input_dataset, root, n, step, apart, drop)
        )


def _windows(stage: Stage, root: Root, size: int, shift: int, stride: int, drop: bool) -> Advance:
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
        return tuple([dataset_of([(c,) for c in column]) for column in columns])

    def restore(position: Any) -> None:
        nonlocal skip, ended
        before, skip, ended = position
        waiting[:] = elements_of(before)

    root.keep(lambda: [of_elements(waiting), skip, ended], restore)
    return advance


def _count(element: Element) -> None:
    """Raises InvalidArgumentError unless all components have as many rows."""
    counts = {len(c) for c in element}
    if len(counts) != 1:
        raise errors.invalid_argument(
            "Input element must have the same batch size in each component. "
            f"Sizes are {sorted(counts)}"
        )
