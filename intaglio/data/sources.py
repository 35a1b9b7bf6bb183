"""Where elements come from: tensors, ranges, random numbers, Python generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.data.positions import dataset_of
from intaglio.data.seeds import Samples
from intaglio.data.stage import (
    INFINITE,
    OUTPUTS,
    UNKNOWN,
    Advance,
    DatasetOp,
    Element,
    Root,
    Stage,
    in_sequence,
)
from intaglio.opdef.op import op
from intaglio.ops.control_flow.python_call import function_of, translated


class Source(DatasetOp):
    """An op that makes a dataset of no other."""

    stateful = True
    droppable = True


@op
class TensorDataset(Source):
    """One element: the tensors."""

    signature = (
        "components: *Toutput_types; output_shapes: list(shape), metadata: str = ''"
        " -> handle: variant"
    )

    def kernel(self, components):
        columns = [[c] for c in components]
        if not columns:  # an element without components, None for one
            return Stage("Tensor", 1, lambda root: map(_nothing, [0]).__next__)
        return Stage(
            "Tensor", 1, lambda root: in_sequence(root, columns), at=lambda index: tuple(components)
        )


def _nothing(number: int) -> Element:
    return ()


@op
class TensorSliceDataset(Source):
    """The tensors' slices along the first dimension."""

    signature = (
        "components: *Toutput_types; output_shapes: list(shape), is_files: bool = False,"
        " metadata: str = '', replicate_on_split: bool = False -> handle: variant"
    )

    def kernel(self, components):
        counts = {len(c) for c in components}
        if len(counts) != 1:
            raise errors.invalid_argument(
                f"Components of a dataset of slices have different lengths: {sorted(counts)}"
            )
        rows = [c if c.dtype != object else Rows(c) for c in components]
        return Stage(
            "TensorSlice",
            counts.pop(),
            lambda root: in_sequence(root, rows),
            at=lambda index: tuple([r[index] for r in rows]),
        )


@op
class ListDataset(Source):
    """Elements given one after the other, each with all its components."""

    signature = f"tensors: *Tinput_types; {OUTPUTS} -> handle: variant"

    def kernel(self, tensors, output_types):
        width = len(output_types)
        elements = [tuple(tensors[i : i + width]) for i in range(0, len(tensors), width)]
        return Stage("List", len(elements), dataset_of(elements).open, at=elements.__getitem__)


class Rows(Sequence[Any]):
    """The rows of an array of strings: arrays, also of single strings."""

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: Any) -> Any:
        return self._array[index, ...]

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self))])


@op
class RangeDataset(Source):
    """start, start + step, ... before stop."""

    signature = (
        "start: int64, stop: int64, step: int64; output_types: list(type),"
        " output_shapes: list(shape), metadata: str = '', replicate_on_split: bool = False"
        " -> handle: variant"
    )

    def kernel(self, start, stop, step, output_types):
        if not int(step):
            raise errors.invalid_argument("step must be a non-zero integer.")
        numbers = range(int(start), int(stop), int(step))
        kind = output_types[0].numpy.type

        def open(root: Root) -> Advance:
            positions: Any = iter(numbers)
            root.keep(
                positions.__length_hint__, lambda left: positions.__setstate__(len(numbers) - left)
            )
            return zip(map(kind, positions), strict=True).__next__

        return Stage("Range", len(numbers), open, at=lambda i: (kind(numbers[i]),))


@op
class RandomDatasetV2(Source):
    """Random int64 numbers below 2**32, without end."""

    signature = (
        "seed: int64, seed2: int64, seed_generator: resource;"
        f" rerandomize_each_iteration: bool = False, {OUTPUTS} -> handle: variant"
    )

    def kernel(self, seed_generator):
        def open(root: Root) -> Advance:
            samples = Samples(*seed_generator.seeds())
            root.keep(samples.save, samples.restore)
            return lambda: (np.int64(samples.next()),)

        return Stage("Random", INFINITE, open)


@op
class PythonGeneratorDataset(Source):
    """What a Python function's generator yields; an op of our own.

    `token` names the function: given the arguments as arrays, it returns an iterator of
    tuples of arrays.
    """

    signature = f"args: *Targs; token: str, {OUTPUTS} -> handle: variant"

    def kernel(self, args, token):
        make = function_of(token).function

        def open(root: Root) -> Advance:
            generated = _Generated(lambda: make(*args))
            root.keep(generated.save, generated.restore)
            return generated.advance

        return Stage("Generator", UNKNOWN, open)


class _Generated:
    """A generator's elements; its exceptions become TensorFlow's.

    Its position is how many elements it has yielded: to restore it, a new generator yields so
    many again.
    """

    __slots__ = ("_count", "_ended", "_make", "_next")

    def __init__(self, make: Callable[[], Iterator[Element]]) -> None:
        self._make = make
        self._next: Advance | None = None
        self._count = 0
        self._ended = False

    def advance(self) -> Element:
        if self._ended:
            raise StopIteration
        try:
            if self._next is None:
                self._next = self._make().__next__
            element = self._next()
        except StopIteration:
            self._ended = True
            raise
        except Exception as e:
            raise translated(e) from e
        self._count += 1
        return element

    def save(self) -> Any:
        return self._count, self._ended

    def restore(self, position: Any) -> None:
        count, ended = position
        if not ended:
            for _ in range(count):
                self.advance()
        self._ended = ended
