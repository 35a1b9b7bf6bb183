"""The ops of variables: a handle, reads, and writes that replace or update the value.

The `Spec.value` of a handle is the Spec of the variable's value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import ALL, INDEX, NUMERIC, QUANTIZED, DType, bool_
from intaglio.base.dtypes import resource as resource_dtype
from intaglio.base.errors import OutOfRangeError, ShapeError, invalid_argument
from intaglio.base.shapes import Dims, brackets
from intaglio.opdef import convert, raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.array.gathering import check_indices, gather_gradient, row_slices
from intaglio.ops.array.scattering import add_rows, extremes_at, scatter
from intaglio.ops.array.slicing import MASKS, Masks, numpy_index, taken


def contents_of(handle: Spec, dtype: DType | None = None) -> Spec:
    """The dtype and shape behind a handle, as far as they are known."""
    if isinstance(handle.value, Spec):
        return handle.value
    return Spec(dtype or bool_, None)


def _content(handle: Spec, dtype: DType) -> Spec:
    """The spec of a variable's value, read as a dtype. Raises ShapeError for another dtype."""
    contents = contents_of(handle, dtype)
    if isinstance(handle.value, Spec) and contents.dtype is not dtype:
        raise ShapeError(
            f"Trying to read variable with wrong dtype. Expected {dtype.name} got {contents.dtype.name}"
        )
    return Spec(dtype, contents.shape)


def _read(resource: Any, dtype: DType) -> Any:
    """A variable's array. Raises InvalidArgumentError for another dtype than its own."""
    value = resource.read()
    if value.dtype != dtype.numpy:
        raise invalid_argument(
            f"Trying to read variable with wrong dtype. Expected {dtype.name} got {resource.spec.dtype.name}"
        )
    return value


@op
class VarHandleOp(Op):
    """A handle to the variable of this container and shared name."""

    signature = (
        "; dtype: type, shape: shape, container: str = '', shared_name: str = '',"
        " debug_name: str = '', allowed_devices: list(str) = [] -> resource: resource"
    )
    stateful = True
    numerics_checked = False
    on_host = True

    def infer(self, dtype: DType, shape: Dims) -> Spec:
        return Spec(resource_dtype, (), Spec(dtype, shape))

    def kernel(self, dtype, shape, container, shared_name, resources):
        return resources.variable(Spec(dtype, shape), shared_name, container)


@op
class VarIsInitializedOp(Op):
    """Whether the variable has a value."""

    signature = "resource: resource -> is_initialized: bool"
    stateful = True
    writes = False
    differentiable = False
    droppable = True

    def infer(self, resource: Spec) -> Spec:
        return Spec(bool_, ())

    def kernel(self, resource):
        return np.asarray(resource.initialized)


@op
class ReadVariableOp(Op):
    """The variable's present value."""

    signature = "resource: resource; dtype: type -> value: dtype"
    stateful = True
    writes = False
    droppable = True
    native_exact = True
    cheap = True
    reported = False
    numerics_checked = False

    def infer(self, resource: Spec, dtype: DType) -> Spec:
        return _content(resource, dtype)

    def kernel(self, resource, dtype):
        return _read(resource, dtype)

    def gradient(self, dvalue) -> Any:
        return dvalue


@op
class _ReadVariablesOp(Op):
    """The present values of several variables."""

    signature = "resources: N*resource; dtypes: list(type) -> values: *dtypes"
    stateful = True
    writes = False
    droppable = True
    native_exact = True
    cheap = True
    numerics_checked = False

    def infer(self, resources: list[Spec], dtypes) -> Any:
        return [[_content(r, d) for r, d in zip(resources, dtypes, strict=True)]]

    def kernel(self, resources, dtypes):
        return [_read(r, d) for r, d in zip(resources, dtypes, strict=True)]

    def gradient(self, dvalues) -> Any:
        return list(dvalues)


@op
class VariableShape(Op):
    """The shape of the variable's value."""

    signature = "input: resource; out_type: type = int32 -> output: out_type"
    stateful = True
    writes = False
    differentiable = False
    droppable = True
    shape_only = True

    def infer(self, input: Spec, out_type: DType) -> Spec:
        dims = contents_of(input).shape
        if dims is None:
            return Spec(out_type, (None,))
        if shapes.known(dims):
            return Spec(out_type, (len(dims),), np.asarray(dims, out_type.numpy))
        return Spec(out_type, (len(dims),), partial=dims)

    def kernel(self, input, out_type):
        return np.asarray(input.read().shape, out_type.numpy)


@op
class DestroyResourceOp(Op):
    """Deletes the variable."""

    signature = "resource: resource; ignore_lookup_error: bool = True -> "
    stateful = True

    def infer(self, resource: Spec) -> None:
        return None

    def kernel(self, resource, ignore_lookup_error, resources):
        if not resources.destroy(resource) and not ignore_lookup_error:
            raise resource.missing()


# -- writing the whole value -------------------------------------------------------------


def check_value(resource: Spec, value: Spec) -> None:
    """Raises ShapeError unless the variable may have the value."""
    contents = contents_of(resource, value.dtype)
    if contents.dtype is not value.dtype:
        raise ShapeError(
            f"Trying to initialize handle for variable with wrong dtype. Expected {contents.dtype.name} got {value.dtype.name}"
        )
    check_compatible(contents.shape, value.shape)


def check_compatible(x: Dims, y: Dims) -> None:
    """Raises ShapeError, in the words of shape inference, unless some shape fits both."""
    if shapes.compatible(x, y) or x is None or y is None:
        return
    if len(x) != len(y):
        raise ShapeError(f"Shapes must be equal rank, but are {len(x)} and {len(y)}")
    at = next(
        i
        for i, (a, b) in enumerate(zip(x, y, strict=True))
        if a is not None and b is not None and a != b
    )
    raise ShapeError(
        f"Dimension {at} in both shapes must be equal, but are {x[at]} and {y[at]}. "
        f"Shapes are {brackets(x)} and {brackets(y)}."
    )


@op
class AssignVariableOp(Op):
    """The value becomes the variable's."""

    signature = "resource: resource, value: dtype; validate_shape: bool = False -> "
    dtype = ALL
    stateful = True
    reads = False
    native_exact = True
    cheap = True
    reported = False

    def infer(self, resource: Spec, value: Spec) -> None:
        check_value(resource, value)

    def kernel(self, resource, value, validate_shape):
        if validate_shape and not shapes.compatible(resource.spec.shape, value.shape):
            raise invalid_argument(
                f"Trying to assign to variable with tensor with wrong shape. Expected "
                f"{brackets(resource.spec.shape)} got {brackets(value.shape)}"
            )
        resource.assign(value)


class Accumulate(Op):
    """The variable's value and the operand, of the same shape, make the new value."""

    signature = "resource: resource, value: dtype -> "
    dtype = NUMERIC
    stateful = True
    native_exact = True
    reported = False

    def infer(self, resource: Spec, value: Spec) -> None:
        check_value(resource, value)


@op
class AssignAddVariableOp(Accumulate):
    """variable += value."""

    def kernel(self, resource, value):
        resource.accumulate(np.add, value)


@op
class AssignSubVariableOp(Accumulate):
    """variable -= value."""

    def kernel(self, resource, value):
        resource.accumulate(np.subtract, value)


@op
class ResourceCountUpTo(Op):
    """The variable's value, which then grows by one; an error once it is `limit`."""

    signature = "resource: resource; limit: int, T: type -> output: T"
    stateful = True

    def infer(self, T: DType) -> Spec:
        return Spec(T, ())

    def kernel(self, resource, limit, T):
        if T not in INDEX:
            raise invalid_argument(
                f"Value for attr 'T' of {T.name} is not in the list of allowed values: int32, int64"
            )
        with resource.lock:
            value = resource.read()
            if value >= limit:
                raise OutOfRangeError(None, None, f"Reached limit of {limit}")
            resource.assign(np.asarray(value + 1, value.dtype))
        return value


# -- reading parts -----------------------------------------------------------------------


@op
class ResourceGather(Op):
    """Slices of the variable's value along dimension 0 (or `batch_dims`)."""

    native_exact = True
    signature = (
        "resource: resource, indices: Tindices; dtype: type, batch_dims: int = 0,"
        " validate_indices: bool = True -> output: dtype"
    )
    Tindices = INDEX
    stateful = True
    writes = False
    droppable = True

    def infer(self, resource: Spec, indices: Spec, dtype, batch_dims) -> Spec:
        dims = contents_of(resource, dtype).shape
        if dims is None or indices.shape is None:
            return Spec(dtype, None)
        if not dims:
            raise ShapeError("Shape must be at least rank 1 but is rank 0")
        if batch_dims < 0:
            batch_dims += len(indices.shape)
        rest = indices.shape[batch_dims:] + dims[batch_dims + 1 :]
        return Spec(dtype, dims[:batch_dims] + rest)

    def kernel(self, resource, indices, dtype, batch_dims):
        params = resource.read()
        if batch_dims:
            gather = raw.GatherV2.kernel_fn
            axis = batch_dims + (indices.ndim if batch_dims < 0 else 0)
            return gather(params, indices, np.asarray(axis), axis)
        check_indices(indices, params.shape[0])
        result = params[indices]
        if not isinstance(result, np.ndarray) and isinstance(result, bytes):
            result = np.array(result, object)
        return result

    def gradient(self, doutput, resource: Spec, indices, batch_dims) -> Any:
        if batch_dims:
            return self._batched_gradient(doutput, resource, indices, batch_dims)
        dims = contents_of(resource).shape
        if shapes.known(dims):
            shape: Any = np.asarray(dims, indices.dtype.numpy)
        else:
            shape = raw.VariableShape(resource.tensor, out_type=indices.dtype)
        return row_slices(doutput, shape, indices), None

    @staticmethod
    def _batched_gradient(doutput: Any, resource: Spec, indices: Any, batch_dims: int) -> Any:
        """As for a gather from the value: dense, and right, where TensorFlow 2.21 fails."""
        params = contents_of(resource)
        if not shapes.known(params.shape):
            value = raw.ReadVariableOp(resource.tensor, dtype=params.dtype)
            params = Spec(params.dtype, params.shape, tensor=value)
        if batch_dims < 0:
            batch_dims += len(indices.dims)
        axis = convert.to_tensor(np.asarray(batch_dims, np.int32))
        return gather_gradient(doutput, params, indices, axis, batch_dims), None


@op
class ResourceGatherNd(Op):
    """Slices of the variable's value, each named by a row of coordinates."""

    signature = "resource: resource, indices: Tindices; dtype: type -> output: dtype"
    Tindices = INDEX
    stateful = True
    writes = False
    droppable = True

    def infer(self, resource: Spec, indices: Spec, dtype: DType) -> Spec:
        dims = contents_of(resource, dtype).shape
        at = indices.shape
        if dims is None or at is None or (at and at[-1] is None):
            return Spec(dtype, None)
        if not at:
            raise ShapeError("Shape must be at least rank 1 but is rank 0")
        if at[-1] > len(dims):  # type: ignore[operator]  # its depth was checked above
            raise ShapeError("indices.shape[-1] must be <= params.rank")
        return Spec(dtype, at[:-1] + dims[at[-1] :])

    def kernel(self, resource, indices):
        return raw.GatherNd.kernel_fn(resource.read(), indices, "")

    def gradient(self, doutput, resource: Spec, indices) -> Any:
        dims = contents_of(resource).shape
        if shapes.known(dims):
            shape: Any = np.asarray(dims, indices.dtype.numpy)
        else:
            shape = raw.VariableShape(resource.tensor, out_type=indices.dtype)
        return raw.ScatterNd(indices, doutput, shape), None


# -- writing parts -----------------------------------------------------------------------


def _misfit(indices: Any, updates: Any, array: Any) -> str:
    """The error in the shape of updates."""
    if updates.shape[: indices.ndim] != indices.shape:
        return (
            f"The shape of indices ({brackets(indices.shape)}) must be a prefix of the shape of updates "
            f"({brackets(updates.shape)})"
        )
    return (
        "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape "
        f"{brackets(updates.shape)}, indices.shape {brackets(indices.shape)}, params.shape {brackets(array.shape)}"
    )


class ResourceScatter(Op):
    """Rows of the variable's value, named by indices, changed by rows of updates."""

    native_exact = True
    signature = "resource: resource, indices: Tindices, updates: dtype -> "
    dtype: tuple[DType, ...] = (*NUMERIC, *QUANTIZED)
    Tindices = INDEX
    stateful = True

    def infer(self, resource: Spec, indices: Spec, updates: Spec) -> None:
        dims, at = contents_of(resource, updates.dtype).shape, indices.shape
        if dims is None or at is None or updates.shape == ():
            return
        check_compatible(at + dims[1:], updates.shape)

    def kernel(self, resource, indices, updates):
        def change(array: Any) -> None:
            check_indices(indices, array.shape[0] if array.ndim else 0)
            wanted = indices.shape + array.shape[1:]
            if updates.shape != wanted and updates.shape != ():
                raise invalid_argument(_misfit(indices, updates, array))
            rows = np.broadcast_to(updates, wanted).reshape(indices.size, *array.shape[1:])
            if rows.size:
                self.change(array, indices.reshape(-1), rows)

        resource.modify(change, updates.dtype)

    def change(self, array: Any, indices: Any, rows: Any) -> None:
        """Updates the array in place."""
        raise NotImplementedError


@op
class ResourceScatterAdd(ResourceScatter):
    """variable[indices] += updates; repeated indices add up."""

    combines = "add"

    def change(self, array: Any, indices: Any, rows: Any) -> None:
        add_rows(array, indices, rows)


@op
class ResourceScatterSub(ResourceScatter):
    """variable[indices] -= updates; repeated indices add up."""

    combines = "sub"

    def change(self, array: Any, indices: Any, rows: Any) -> None:
        add_rows(array, indices, np.negative(rows))


@op
class ResourceScatterMul(ResourceScatter):
    """variable[indices] *= updates; repeated indices multiply."""

    combines = "mul"

    def change(self, array: Any, indices: Any, rows: Any) -> None:
        np.multiply.at(array, indices, rows)


@op
class ResourceScatterDiv(ResourceScatter):
    """variable[indices] /= updates; integers are divided as C divides."""

    combines = "div"

    def change(self, array: Any, indices: Any, rows: Any) -> None:
        if array.dtype.kind not in "iu":
            np.divide.at(array, indices, rows)
            return
        if not rows.all():
            raise invalid_argument("Integer division by zero")
        for index, row in zip(indices.tolist(), rows, strict=True):
            quotient = np.floor_divide(array[index], row)
            short = (quotient < 0) & (quotient * row != array[index])
            array[index] = quotient + short.astype(array.dtype)


@op
class ResourceScatterMin(ResourceScatter):
    """variable[indices] = min(variable[indices], updates)."""

    combines = "min"

    def change(self, array: Any, indices: Any, rows: Any) -> None:
        extremes_at(np.fmin, array, indices, rows)


@op
class ResourceScatterMax(ResourceScatter):
    """variable[indices] = max(variable[indices], updates)."""

    combines = "max"

    def change(self, array: Any, indices: Any, rows: Any) -> None:
        extremes_at(np.fmax, array, indices, rows)


@op
class ResourceScatterUpdate(ResourceScatter):
    """variable[indices] = updates; of repeated indices the last one counts."""

    dtype = ALL
    combines = "update"

    def change(self, array: Any, indices: Any, rows: Any) -> None:
        array[indices] = rows


class ResourceScatterNd(Op):
    """Slices of the variable's value, named by rows of coordinates, changed by updates."""

    native_exact = True
    signature = (
        "ref: resource, indices: Tindices, updates: T; use_locking: bool = True,"
        " bad_indices_policy: str = '' -> "
    )
    T = ALL
    Tindices = INDEX
    stateful = True
    combines = "update"

    def infer(self, ref: Spec, indices: Spec, updates: Spec) -> None:
        dims, at = contents_of(ref, updates.dtype).shape, indices.shape
        if dims is None or not at or at[-1] is None:
            return
        if at[-1] > len(dims):
            raise ShapeError(
                f"Inner dimension of indices ({at[-1]}) must be at most the rank of the variable ({len(dims)})"
            )
        check_compatible(at[:-1] + dims[at[-1] :], updates.shape)

    def kernel(self, ref, indices, updates, bad_indices_policy):
        def change(array: Any) -> None:
            scatter(self.combines, array, indices, updates, bad_indices_policy)

        ref.modify(change, updates.dtype)


@op
class ResourceScatterNdUpdate(ResourceScatterNd):
    """The updates replace the elements."""


@op
class ResourceScatterNdAdd(ResourceScatterNd):
    """The updates are added."""

    combines = "add"


@op
class ResourceScatterNdSub(ResourceScatterNd):
    """The updates are subtracted."""

    combines = "sub"


@op
class ResourceScatterNdMin(ResourceScatterNd):
    """The smaller of the element and the update."""

    combines = "min"


@op
class ResourceScatterNdMax(ResourceScatterNd):
    """The larger of the element and the update."""

    combines = "max"


@op
class ResourceStridedSliceAssign(Op):
    """variable[begin:end:strides] = value."""

    native_exact = True
    signature = f"ref: resource, begin: Index, end: Index, strides: Index, value: T; {MASKS} -> "
    T = ALL
    Index = INDEX
    stateful = True

    def infer(self) -> None:
        return None

    def kernel(
        self,
        ref,
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
        index = numpy_index(begin.tolist(), end.tolist(), strides.tolist(), masks)

        def change(array: Any) -> None:
            there = taken(array, index)
            try:
                np.broadcast_to(value, there.shape)
            except ValueError:
                raise invalid_argument(
                    f"Cannot broadcast input shape {brackets(value.shape)} into final shape {brackets(there.shape)}"
                ) from None
            array[index] = value if value.ndim else value[()]

        ref.modify(change, value.dtype)
