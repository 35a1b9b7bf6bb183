"""Padding, with a constant or by reflection."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import ALL, INDEX
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.base.shapes import Dims
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import check_rank, constant, shape_of


def padded_dims(x: Spec, paddings: Spec, sign: int = 1) -> Dims:
    """The shape after padding (or, with sign -1, after taking padding away)."""
    if paddings.rank not in (2, None):
        raise ShapeError(f"Shape must be rank 2 but is rank {paddings.rank}")
    rows = paddings.shape[0] if paddings.shape else None
    if paddings.shape and paddings.shape[1] not in (2, None):
        raise ShapeError(f"Dimension must be 2 but is {paddings.shape[1]}")
    if x.shape is not None and rows is not None and rows != len(x.shape):
        raise ShapeError(f"Shape must be rank {rows} but is rank {len(x.shape)}")
    if paddings.value is None or x.shape is None:
        rank = rows if x.shape is None else len(x.shape)
        return None if rank is None else (None,) * rank
    return tuple(
        [
            None if d is None else d + sign * (a + b)
            for d, (a, b) in zip(x.shape, paddings.value.tolist(), strict=True)
        ]
    )


def _amounts(x: Any, paddings: Any) -> list[list[int]]:
    amounts = paddings.tolist()
    if len(amounts) != x.ndim:
        raise invalid_argument(
            f"The first dimension of paddings must be the rank of inputs[{len(amounts)},2] [{','.join(map(str, x.shape))}]"
        )
    for a, b in amounts:
        if a < 0 or b < 0:
            raise invalid_argument(f"Paddings must be non-negative: {a} {b}")
    return amounts


def _filled(x: Any, paddings: Any, value: Any) -> Any:
    amounts = _amounts(x, paddings)
    shape = [d + a + b for d, (a, b) in zip(x.shape, amounts, strict=True)]
    check_allocated(shape, x.dtype.itemsize, "Pad")
    result = np.full(shape, value, x.dtype)
    result[tuple([slice(a, a + d) for d, (a, _) in zip(x.shape, amounts, strict=True)])] = x
    return result


def _unpadded(dy: Any, x: Spec, paddings: Any) -> Any:
    begin = raw.Reshape(
        raw.StridedSlice(paddings, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1), [-1]
    )
    shape = shape_of(x)
    if begin.dtype.name != "int32":
        begin = raw.Cast(begin, DstT="int32")
    return raw.Slice(dy, begin, shape)


@op
class Pad(Op):
    """Padded with zeros (or empty strings)."""

    signature = "input: T, paddings: Tpaddings -> output: T"
    T = ALL
    Tpaddings = INDEX
    data_inputs = ("input",)
    numerics_checked = False

    def infer(self, input: Spec, paddings: Spec) -> Spec:
        return Spec(input.dtype, padded_dims(input, paddings))

    def kernel(self, input, paddings):
        zero = b"" if input.dtype == object else input.dtype.type(0)
        return _filled(input, paddings, zero)

    def gradient(self, doutput, input: Spec, paddings) -> Any:
        return _unpadded(doutput, input, paddings), None


@op
class PadV2(Op):
    """Padded with a constant."""

    signature = "input: T, paddings: Tpaddings, constant_values: T -> output: T"
    T = ALL
    Tpaddings = INDEX
    data_inputs = ("input", "constant_values")
    numerics_checked = False

    def infer(self, input: Spec, paddings: Spec) -> Spec:
        return Spec(input.dtype, padded_dims(input, paddings))

    def kernel(self, input, paddings, constant_values):
        check_rank("constant_values", constant_values, 0)
        return _filled(input, paddings, constant_values[()])

    def gradient(self, doutput, input: Spec, paddings, constant_values: Spec) -> Any:
        inner = _unpadded(doutput, input, paddings)
        everywhere = raw.Range(0, raw.Rank(doutput), 1)
        rest = raw.Sub(raw.Sum(doutput, everywhere), raw.Sum(inner, everywhere))
        return inner, None, rest


MODES = ("REFLECT", "SYMMETRIC")


def mirrored(size: int, before: int, after: int, offset: int) -> np.ndarray:
    """Where each element of a mirrored dimension comes from."""
    inside = np.arange(size)
    front = np.arange(before, 0, -1) - 1 + offset
    back = size - 1 - offset - np.arange(after)
    return np.concatenate([front, inside, back])


def _mirror_amounts(shape: Any, paddings: Any, mode: str) -> tuple[list[list[int]], int]:
    offset = 1 if mode == "REFLECT" else 0
    amounts = paddings.tolist()
    if len(amounts) != len(shape):
        raise invalid_argument(
            f"The first dimension of paddings must be the rank of inputs[{len(amounts)},2] [{','.join(map(str, shape))}]"
        )
    for i, (d, (a, b)) in enumerate(zip(shape, amounts, strict=True)):
        if a < 0 or b < 0:
            raise invalid_argument(f"paddings must be non-negative: {a} {b}")
        if max(a, b) > d - offset:
            what = "less than" if offset else "no greater than"
            raise invalid_argument(
                f"paddings must be {what} the dimension size: {a}, {b} {'not less than' if offset else 'greater than'} {d}"
            )
        del i
    return amounts, offset


@op
class MirrorPad(Op):
    """Padded with its own elements mirrored; `mode` is REFLECT or SYMMETRIC."""

    mode = MODES

    signature = "input: T, paddings: Tpaddings; mode: str -> output: T"
    T = ALL
    Tpaddings = INDEX
    data_inputs = ("input",)
    numerics_checked = False

    def infer(self, input: Spec, paddings: Spec) -> Spec:
        return Spec(input.dtype, padded_dims(input, paddings))

    def kernel(self, input, paddings, mode):
        amounts, offset = _mirror_amounts(input.shape, paddings, mode)
        result = input
        for axis, (a, b) in enumerate(amounts):
            if a or b:
                result = np.take(result, mirrored(input.shape[axis], a, b, offset), axis)
        return result

    def gradient(self, doutput, paddings, mode) -> Any:
        return raw.MirrorPadGrad(doutput, paddings, mode=mode), None


def _folded(x: Any, axis: int, before: int, after: int, offset: int) -> Any:
    """Both ends of an axis added to those they mirror, in the order of the kernel."""
    rank, length = x.spec.rank, x.dims[axis]
    size = length - before - after
    zero = constant(0, x)

    def part(start: int, count: int) -> Any:
        begin, sizes = np.zeros(rank, np.int32), np.asarray(x.dims, np.int32)
        begin[axis], sizes[axis] = start, count
        return raw.Slice(x, begin, sizes)

    def mirror(start: int, count: int, start_index: int) -> Any:
        amounts = np.zeros((rank, 2), np.int32)
        amounts[axis] = start_index, size - start_index - count
        mirrored = raw.ReverseV2(part(start, count), np.asarray([axis], np.int32))
        return raw.AddV2(zero, raw.Pad(mirrored, amounts))

    total = mirror(0, before, offset) if before else zero
    total = raw.AddV2(total, part(before, size))
    if not after:
        return total
    return raw.AddV2(total, mirror(before + size, after, size - offset - after))


@op
class MirrorPadGrad(Op):
    """The gradient of MirrorPad: mirrored elements added to those they came from."""

    native_exact = True
    mode = MODES

    signature = "input: T, paddings: Tpaddings; mode: str -> output: T"
    T = ALL
    Tpaddings = INDEX

    def infer(self, input: Spec, paddings: Spec) -> Spec:
        return Spec(input.dtype, padded_dims(input, paddings, -1))

    def kernel(self, input, paddings, mode):
        sizes = [d - a - b for d, (a, b) in zip(input.shape, paddings.tolist(), strict=True)]
        amounts, offset = _mirror_amounts(sizes, paddings, mode)
        result = input
        for axis, (a, b) in enumerate(amounts):
            if a or b:
                size, parts = sizes[axis], np.moveaxis(result, axis, 0)
                # Each element of the sum starts as 0; the element and its mirror images are added
                # to it.
                folded = np.add(parts[a : a + size], input.dtype.type(0))
                folded[offset : offset + a] += parts[:a][::-1]
                folded[size - offset - b : size - offset] += parts[a + size :][::-1]
                result = np.moveaxis(folded, 0, axis)
        return result

    def native(self, input, paddings: Spec, mode) -> Any:
        if paddings.value is None:
            return NotImplemented
        offset, result = 1 if mode == "REFLECT" else 0, input
        for axis, (a, b) in enumerate(paddings.value.tolist()):
            if a or b:
                result = _folded(result, axis, a, b, offset)
        return result if result is not input else raw.Identity(input)

    def gradient(self, doutput, paddings, mode) -> Any:
        return raw.MirrorPad(doutput, paddings, mode=mode), None
