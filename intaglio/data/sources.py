"""Where elements come from: tensors, ranges, random numbers, Python generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.data.seeds import Samples
from intaglio.data.stage import (
    INFINITE,
    OUTPUTS,
    UNKNOWN,
    Advance,
    Element,
    Root,
    Stage,
    exhausted,
    handle_spec,
)
from intaglio.op.op import Op, op
from intaglio.op.spec import Spec
from intaglio.ops.python_call import function_of, translated


class Source(Op):
    """An op that makes a dataset."""

    stateful = True
    droppable = True
    differentiable = False

    def infer(self) -> Spec:
        return handle_spec()


@op
class TensorDataset(Source):
    """One element: the tensors."""

    signature = (
        "components: *Toutput_types; output_shapes: list(shape), metadata: str = ''"
        " -> handle: variant"
    )

    def kernel(self, components):
        return Stage("Tensor", 1, lambda root: iter([tuple(components)]).__next__)


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
        rows = [list(c) if c.dtype != object else _rows(c) for c in components]
        count = counts.pop()
        return Stage(
            "TensorSlice", count, lambda root: zip(*rows, strict=True).__next__
        )


def _rows(array: Any) -> list[Any]:
    """Rows of strings: arrays, also of single strings."""
    return [array[i, ...] for i in range(len(array))]


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
        return Stage(
            "Range",
            len(numbers),
            lambda root: zip(map(kind, numbers), strict=True).__next__,
        )


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
            return _generated(lambda: make(*args))

        return Stage("Generator", UNKNOWN, open)


def _generated(make: Callable[[], Iterator[Element]]) -> Advance:
    """The generator's elements; its exceptions become TensorFlow's."""
    state: list[Advance] = []

    def advance() -> Element:
        try:
            if not state:
                state.append(make().__next__)
            return state[0]()
        except StopIteration:
            state[:] = [exhausted]
            raise
        except Exception as e:
            raise translated(e) from e

    return advance
