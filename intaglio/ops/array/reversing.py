"""The order of elements changed: reverse, roll."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import ALL, INDEX, NUMERIC, bool_, string
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, numbers, of_elements
from intaglio.ops.array.reshaping import small, vector_elements


@op
class ReverseV2(Op):
    """The order of the elements reversed along the dimensions of `axis`."""

    signature = "tensor: T, axis: Tidx -> output: T"
    T = (*NUMERIC, bool_, string)
    Tidx = INDEX
    native_exact = True
    data_inputs = ("tensor",)
    numerics_checked = False

    def infer(self, tensor: Spec, axis: Spec) -> Spec:
        if axis.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {axis.rank}")
        axes = numbers(axis)
        if axes is not None and tensor.shape is not None:
            _distinct(axes, len(tensor.shape), ShapeError)
        value = None
        if axes and vector_elements(tensor):
            return of_elements(tensor.dtype, (tensor.partial or ())[::-1])
        if axes is not None and small(tensor):
            value = np.flip(tensor.value, tuple(axes))
        return Spec(tensor.dtype, tensor.shape, value)

    def kernel(self, tensor, axis):
        axes = _distinct(axis.tolist(), tensor.ndim, invalid_argument)
        return np.flip(tensor, axes) if axes else tensor

    def gradient(self, doutput, axis) -> Any:
        return raw.ReverseV2(doutput, axis), None


def _distinct(axes: list[int], rank: int, error: Any) -> tuple[int, ...]:
    seen: list[int] = []
    for i, a in enumerate(axes):
        if not -rank <= a < rank:
            raise error(f"'axis'[{i}] = {a} is out of valid range [{-rank}, {rank - 1}]")
        at = a % rank
        if at in seen:
            raise error(f"axis {at} specified more than once.")
        seen.append(at)
    return tuple(seen)


@op
class ReverseSequence(Op):
    """For each slice of the batch, the first `seq_lengths[i]` elements reversed."""

    signature = "input: T, seq_lengths: Tlen; seq_dim: int, batch_dim: int = 0 -> output: T"
    T = ALL
    Tlen = INDEX
    data_inputs = ("input",)
    numerics_checked = False

    def infer(self, input: Spec, seq_lengths: Spec, seq_dim, batch_dim) -> Spec:
        if seq_lengths.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {seq_lengths.rank}")
        if input.shape is None:
            return Spec(input.dtype, None)
        rank = len(input.shape)
        for name, d in (("batch_dim", batch_dim), ("seq_dim", seq_dim)):
            if d >= rank:
                raise ShapeError(f"{name} must be < input rank: {d} vs. {rank}")
        size = input.shape[batch_dim]
        count = seq_lengths.shape[0] if seq_lengths.shape else None
        if None not in (size, count) and size != count:
            raise ShapeError(f"Dimensions must be equal, but are {size} and {count}")
        return Spec(input.dtype, input.shape)

    def kernel(self, input, seq_lengths, seq_dim, batch_dim):
        if seq_dim == batch_dim:
            raise invalid_argument(f"batch_dim == seq_dim == {seq_dim}")
        for name, d in (("batch_dim", batch_dim), ("seq_dim", seq_dim)):
            if d < 0:
                raise invalid_argument(f"{name} must not be negative, got {d}")
            if d >= input.ndim:
                raise invalid_argument(f"{name} must be < input rank ( {d} vs. {input.ndim})")
        lengths, size = seq_lengths, input.shape[seq_dim]
        if len(lengths) != input.shape[batch_dim]:
            raise invalid_argument(
                f"Length of seq_lengths != input.dims({batch_dim}), ({len(lengths)} vs. {input.shape[batch_dim]})"
            )
        if len(lengths) and (lengths.min() < 0 or lengths.max() > size):
            i = int(np.flatnonzero((lengths < 0) | (lengths > size))[0])
            raise invalid_argument(
                f"seq_lens({i}) {'< 0' if lengths[i] < 0 else f'> input.dims({seq_dim})'}"
            )
        steps = np.arange(size)
        ends = np.asarray(lengths)[:, None]
        order = np.where(steps < ends, ends - 1 - steps, steps)
        parts = np.moveaxis(input, (batch_dim, seq_dim), (0, 1))
        result = parts[np.arange(len(order))[:, None], order]
        return np.moveaxis(result, (0, 1), (batch_dim, seq_dim))

    def gradient(self, doutput, seq_lengths, seq_dim, batch_dim) -> Any:
        reversed_ = raw.ReverseSequence(doutput, seq_lengths, seq_dim=seq_dim, batch_dim=batch_dim)
        return reversed_, None


@op
class Roll(Op):
    """Elements moved along dimensions; those pushed out come in at the other end."""

    signature = "input: T, shift: Tshift, axis: Taxis -> output: T"
    T = ALL
    Tshift = INDEX
    Taxis = INDEX
    data_inputs = ("input",)

    def infer(self, input: Spec, shift: Spec, axis: Spec) -> Spec:
        if input.rank == 0:
            raise ShapeError("Shape must be at least rank 1 but is rank 0")
        for x in (shift, axis):
            if x.rank is not None and x.rank > 1:
                raise ShapeError(f"Shape must be at most rank 1 but is rank {x.rank}")
        return Spec(input.dtype, input.shape)

    def kernel(self, input, shift, axis):
        if input.ndim < 1:
            raise invalid_argument("input must be 1-D or higher")
        if shift.shape != axis.shape:
            raise invalid_argument(
                f"shift and axis must have the same size, not {brackets(shift.shape)} and {brackets(axis.shape)}"
            )
        axes = np.atleast_1d(axis).tolist()
        for a in axes:
            if not -input.ndim <= a < input.ndim:
                raise invalid_argument(f"axis {a} is out of range")
        result = input
        for by, at in zip(np.atleast_1d(shift).tolist(), axes, strict=True):
            result = np.roll(result, by, at)
        return result

    def gradient(self, doutput, shift, axis) -> Any:
        return raw.Roll(doutput, raw.Neg(shift), axis), None, None
