"""Slices: StridedSlice with all its masks, its gradient and update, and Slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base.dtypes import ALL, INDEX, int16
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import Dims, brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, numbers, of_elements
from intaglio.ops.array.passing import check_same
from intaglio.ops.array.reshaping import small, vector_elements
from intaglio.ops.families import check_rank, shape_of
from intaglio.ops.shape_inputs import dims_of

MASKS = "begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0"


class Masks(NamedTuple):
    """Which entries of a slice mean something other than begin:end:stride, one bit each."""

    begin: int
    end: int
    ellipsis: int
    new_axis: int
    shrink: int


def numpy_index(
    begin: Sequence[int], end: Sequence[int], strides: Sequence[int], masks: Masks
) -> tuple[Any, ...]:
    """The same slice as a NumPy index, whose rules for slices are TensorFlow's."""
    index: list[Any] = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides, strict=True)):
        bit = 1 << i
        if bit & masks.ellipsis:
            index.append(Ellipsis)
        elif bit & masks.new_axis:
            index.append(None)
        elif bit & masks.shrink:
            if s <= 0:
                raise ShapeError("only stride 1 allowed on non-range indexing.")
            index.append(b)
        elif s == 0:
            raise ShapeError(f"strides[{i}] must be non-zero")
        else:
            index.append(slice(None if bit & masks.begin else b, None if bit & masks.end else e, s))
    return tuple(index)


def taken(x: Any, index: tuple[Any, ...]) -> Any:
    """`x[index]` with TensorFlow's errors; strings stay arrays."""
    try:
        result = x[index]
    except IndexError:
        raise _index_error(x, index) from None
    if x.dtype == object and not isinstance(result, np.ndarray):
        result = x[(*index, ...)]
    return result


def _index_error(x: Any, index: tuple[Any, ...]) -> Exception:
    if index.count(Ellipsis) > 1:
        return invalid_argument("Multiple ellipses in slice spec not allowed")
    used = [i for i in index if i is not None and i is not Ellipsis]
    if len(used) > x.ndim:
        return invalid_argument(
            f"Index out of range using input dim {x.ndim}; input has only {x.ndim} dims"
        )
    at = 0
    for i in index:
        if i is Ellipsis:
            at += x.ndim - len(used)
        elif i is not None:
            if not isinstance(i, slice) and not -x.shape[at] <= i < x.shape[at]:
                shown = i + x.shape[at] if i < 0 else i
                return invalid_argument(f"slice index {shown} of dimension {at} out of bounds.")
            at += 1
    return invalid_argument(f"slice {index} does not fit shape {brackets(x.shape)}")


def sliced_dims(
    shape: tuple[int | None, ...], begin: Spec, end: Spec, strides: Spec, masks: Masks
) -> Dims:
    """The shape of a slice, as far as it is known. Raises ShapeError for what cannot be."""
    b, e, s = begin.partial, end.partial, strides.partial
    if b is None or e is None or s is None:
        return None
    plain = [i for i in range(len(b)) if not (1 << i) & (masks.ellipsis | masks.new_axis)]
    if len(plain) > len(shape):
        raise ShapeError(
            f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims"
        )
    dims: list[int | None] = []
    at, gap = 0, len(shape) - len(plain)
    seen = False
    for i in range(len(b)):
        bit = 1 << i
        if bit & masks.ellipsis:
            if seen:
                raise ShapeError("Multiple ellipses in slice spec not allowed")
            seen = True
            dims += shape[at : at + gap]
            at += gap
        elif bit & masks.new_axis:
            dims.append(1)
        else:
            size = shape[at]
            if bit & masks.shrink:
                _check_index(b[i], size, at, s[i])
            else:
                dims.append(_range_size(i, b[i], e[i], s[i], size, masks))
            at += 1
    dims += shape[at:]
    return tuple(dims)


def _check_equal_vectors(*specs: Spec) -> None:
    """Raises ShapeError unless begin, end and strides may be vectors of one length."""
    for x in specs:
        if x.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {x.rank}")
    if len({x.shape for x in specs if x.shape and x.shape[0] is not None}) > 1:
        first, second, third = [brackets(x.shape) for x in specs]
        raise ShapeError(
            "Expected begin, end, and strides to be 1D equal size tensors, "
            f"but got shapes {first}, {second}, and {third} instead."
        )


def _check_index(index: int | None, size: int | None, at: int, stride: int | None) -> None:
    if stride is not None and stride <= 0:
        raise ShapeError("only stride 1 allowed on non-range indexing.")
    if index is not None and size is not None and not -size <= index < size:
        shown = index + size if index < 0 else index
        raise ShapeError(f"slice index {shown} of dimension {at} out of bounds.")


def _range_size(
    i: int, begin: int | None, end: int | None, stride: int | None, size: int | None, masks: Masks
) -> int | None:
    if stride == 0:
        raise ShapeError(f"strides[{i}] must be non-zero")
    whole = bool(masks.begin >> i & 1), bool(masks.end >> i & 1)
    if stride is None or (begin is None and not whole[0]) or (end is None and not whole[1]):
        return None
    if size is None:
        # x[2:5] of an unknown size may be shorter; only empty ranges are certain.
        if not any(whole) and (begin < 0) == (end < 0):  # type: ignore[operator]  # numbers, unless masked
            span = (end - begin) if stride > 0 else (begin - end)  # type: ignore[operator]  # as above
            return 0 if span <= 0 else None
        return None
    return len(
        range(*slice(None if whole[0] else begin, None if whole[1] else end, stride).indices(size))
    )


def is_index(attrs: dict[str, Any], axis: int) -> bool:
    """True for the masks of a slice that takes an index of an axis and all of those before it."""
    if axis < 0:  # there is no entry
        return False
    before = (1 << axis) - 1
    return (
        attrs["shrink_axis_mask"] == 1 << axis
        and attrs["begin_mask"] == before
        and attrs["end_mask"] & before == before
        and not (attrs["ellipsis_mask"] or attrs["new_axis_mask"])
    )


@op
class StridedSlice(Op):
    """`input[begin:end:strides, ...]`; bits of the masks mark open ends, `...`, new axes and indices."""

    signature = f"input: T, begin: Index, end: Index, strides: Index; {MASKS} -> output: T"
    T = ALL
    Index = (int16, *INDEX)
    native_exact = True
    cheap = True
    data_inputs = ("input",)
    numerics_checked = False

    def infer(
        self,
        input: Spec,
        begin: Spec,
        end: Spec,
        strides: Spec,
        begin_mask,
        end_mask,
        ellipsis_mask,
        new_axis_mask,
        shrink_axis_mask,
    ) -> Spec:
        masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
        _check_equal_vectors(begin, end, strides)
        if input.shape is None:
            return Spec(input.dtype, None)
        dims = sliced_dims(input.shape, begin, end, strides, masks)
        b, e, s = numbers(begin), numbers(end), numbers(strides)
        if b is None or e is None or s is None or dims is None:
            return Spec(input.dtype, dims)
        if small(input):
            index = numpy_index(b, e, s, masks)
            return Spec(input.dtype, dims, np.asarray(taken(input.value, index)))
        if len(input.shape) == 1 and input.dtype.is_integer and input.partial:
            return _of_vector(input, numpy_index(b, e, s, masks), dims)
        return Spec(input.dtype, dims)

    def kernel(
        self,
        input,
        begin,
        end,
        strides,
        begin_mask,
        end_mask,
        ellipsis_mask,
        new_axis_mask,
        shrink_axis_mask,
    ):
        check_rank("begin", begin, 1)
        check_rank("end", end, 1)
        masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
        return taken(input, numpy_index(begin.tolist(), end.tolist(), strides.tolist(), masks))

    def gradient(
        self,
        doutput,
        input: Spec,
        begin,
        end,
        strides,
        begin_mask,
        end_mask,
        ellipsis_mask,
        new_axis_mask,
        shrink_axis_mask,
    ) -> Any:
        shape = shape_of(input)
        if begin.dtype.name == "int64":
            shape = raw.Cast(shape, DstT="int64")
        return (
            raw.StridedSliceGrad(
                shape,
                begin,
                end,
                strides,
                doutput,
                begin_mask=begin_mask,
                end_mask=end_mask,
                ellipsis_mask=ellipsis_mask,
                new_axis_mask=new_axis_mask,
                shrink_axis_mask=shrink_axis_mask,
            ),
            None,
            None,
            None,
        )


def _of_vector(x: Spec, index: tuple[Any, ...], dims: Dims) -> Spec:
    """A slice of a shape vector of which some elements are known."""
    elements = np.array(x.partial, object)[index]
    if isinstance(elements, np.ndarray):
        if elements.ndim == 1:
            return of_elements(x.dtype, elements.tolist())
        return Spec(x.dtype, dims)
    value = None if elements is None else np.asarray(elements, x.dtype.numpy)
    return Spec(x.dtype, dims, value)


@op
class StridedSliceGrad(Op):
    """Zeros of `shape` with dy where StridedSlice took its elements."""

    signature = (
        f"shape: Index, begin: Index, end: Index, strides: Index, dy: T; {MASKS} -> output: T"
    )
    T = ALL
    Index = INDEX
    data_inputs = ("dy",)

    def infer(self, shape: Spec, dy: Spec) -> Spec:
        return Spec(dy.dtype, shape.as_shape())

    def kernel(
        self,
        shape,
        begin,
        end,
        strides,
        dy,
        begin_mask,
        end_mask,
        ellipsis_mask,
        new_axis_mask,
        shrink_axis_mask,
    ):
        masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
        index = numpy_index(begin.tolist(), end.tolist(), strides.tolist(), masks)
        dims = dims_of(shape, dy.dtype.itemsize, "StridedSliceGrad")
        result = np.full(dims, b"" if dy.dtype == object else 0, dy.dtype)
        target = taken(result, index)
        if np.shape(target) != dy.shape:
            raise invalid_argument(
                f"shape of dy was {brackets(dy.shape)} instead of {brackets(np.shape(target))}"
            )
        result[index] = dy
        return result

    def gradient(
        self,
        doutput,
        begin,
        end,
        strides,
        begin_mask,
        end_mask,
        ellipsis_mask,
        new_axis_mask,
        shrink_axis_mask,
    ) -> Any:
        return (
            None,
            None,
            None,
            None,
            raw.StridedSlice(
                doutput,
                begin,
                end,
                strides,
                begin_mask=begin_mask,
                end_mask=end_mask,
                ellipsis_mask=ellipsis_mask,
                new_axis_mask=new_axis_mask,
                shrink_axis_mask=shrink_axis_mask,
            ),
        )


@op
class TensorStridedSliceUpdate(Op):
    """The input with `value` where StridedSlice would have taken elements."""

    signature = (
        f"input: T, begin: Index, end: Index, strides: Index, value: T; {MASKS} -> output: T"
    )
    T = ALL
    Index = INDEX
    data_inputs = ("input", "value")

    def infer(self, input: Spec) -> Spec:
        return input.like()

    def kernel(
        self,
        input,
        begin,
        end,
        strides,
        value,
        begin_mask,
        end_mask,
        ellipsis_mask,
        new_axis_mask,
        shrink_axis_mask,
    ):
        masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
        check_rank("begin", begin, 1)
        check_rank("end", end, 1)
        index = numpy_index(begin.tolist(), end.tolist(), strides.tolist(), masks)
        target = np.shape(taken(input, index))
        result = np.array(input)
        try:
            result[index] = np.broadcast_to(value, target)
        except ValueError:
            raise invalid_argument(
                f"value shape {brackets(value.shape)} does not broadcast to the slice's shape {brackets(target)}"
            ) from None
        return result

    def gradient(
        self,
        doutput,
        begin,
        end,
        strides,
        value: Spec,
        begin_mask,
        end_mask,
        ellipsis_mask,
        new_axis_mask,
        shrink_axis_mask,
    ) -> Any:
        masks = {
            "begin_mask": begin_mask,
            "end_mask": end_mask,
            "ellipsis_mask": ellipsis_mask,
            "new_axis_mask": new_axis_mask,
            "shrink_axis_mask": shrink_axis_mask,
        }
        inner = raw.StridedSlice(doutput, begin, end, strides, **masks)
        zeros = raw.Fill(shape_of(value), np.zeros((), value.dtype.numpy))
        outer = raw.TensorStridedSliceUpdate(doutput, begin, end, strides, zeros, **masks)
        axes, _ = raw.BroadcastGradientArgs(shape_of(value), raw.Shape(inner))
        return (outer, None, None, None, raw.Reshape(raw.Sum(inner, axes), shape_of(value)))


@op
class Slice(Op):
    """`size` elements from `begin` on along each dimension; -1 takes all that are left."""

    signature = "input: T, begin: Index, size: Index -> output: T"
    T = ALL
    Index = INDEX
    native_exact = True
    cheap = True
    data_inputs = ("input",)
    numerics_checked = False

    def infer(self, input: Spec, begin: Spec, size: Spec) -> Spec:
        for x in (begin, size):
            if x.rank not in (1, None):
                raise ShapeError(f"Shape must be rank 1 but is rank {x.rank}")
        check_same(begin.shape, size.shape)
        starts, sizes = begin.partial, size.partial
        if sizes is None or starts is None:
            rank = input.rank
            return Spec(input.dtype, None if rank is None else (None,) * rank)
        if input.shape is None:
            return Spec(input.dtype, tuple([None if s == -1 else s for s in sizes]))
        if len(sizes) != len(input.shape):
            raise ShapeError(f"Shape must be rank {len(sizes)} but is rank {len(input.shape)}")
        dims = [
            _slice_size(i, d, b, n)
            for i, (d, b, n) in enumerate(zip(input.shape, starts, sizes, strict=True))
        ]
        value = None
        if vector_elements(input) and begin.value is not None and dims[0] is not None:
            return of_elements(
                input.dtype,
                (input.partial or ())[starts[0] : starts[0] + dims[0]],  # type: ignore[operator,misc]  # begin is known
            )
        if small(input) and begin.value is not None and None not in dims:
            value = input.value[
                tuple([slice(b, b + n) for b, n in zip(starts, dims, strict=True)])  # type: ignore[operator]  # begin and the sizes are known
            ]
        return Spec(input.dtype, tuple(dims), value)

    def kernel(self, input, begin, size):
        starts, sizes = begin.tolist(), size.tolist()
        if len(starts) != input.ndim or len(sizes) != input.ndim:
            raise invalid_argument(
                f"Expected begin and size arguments to be 1-D tensors of size {input.ndim}, but got shapes {brackets(begin.shape)} and {brackets(size.shape)} instead."
            )
        index: list[slice] = []
        for i, (b, n, d) in enumerate(zip(starts, sizes, input.shape, strict=True)):
            if not 0 <= b <= d:
                raise invalid_argument(f"Expected begin[{i}] in [0, {d}], but got {b}")
            if n == -1:
                n = d - b
            elif not 0 <= n <= d - b:
                raise invalid_argument(f"Expected size[{i}] in [0, {d - b}], but got {n}")
            index.append(slice(b, b + n))
        return input[tuple(index)] if index else input

    def gradient(self, doutput, input: Spec, begin, output: Spec) -> Any:
        shape, part = shape_of(input), shape_of(output)
        if begin.dtype.name == "int64":
            shape, part = raw.Cast(shape, DstT="int64"), raw.Cast(part, DstT="int64")
        after = raw.Sub(raw.Sub(shape, part), begin)
        return raw.Pad(doutput, raw.Pack([begin, after], axis=1)), None, None


def _slice_size(i: int, dim: int | None, begin: int | None, size: int | None) -> int | None:
    if begin is not None and dim is not None:
        if not 0 <= begin <= dim:
            raise ShapeError(f"Expected begin[{i}] in [0, {dim}], but got {begin}")
        if size == -1:
            return dim - begin
        if size is not None and not 0 <= size <= dim - begin:
            raise ShapeError(f"Expected size[{i}] in [0, {dim - begin}], but got {size}")
    return None if size == -1 else size
