"""Sparse tensors as three strings, the TensorProtos of their parts, or three variants, the parts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import VARIANT_MARKER, DType, int64, string, variant
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import Dims, brackets
from intaglio.graphdef import messages, tensors
from intaglio.graphdef.declarations import MalformedError, parsed
from intaglio.graphdef.tensor_strings import tensor_bytes
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.control_flow.variants import Variants, VariantTensor
from intaglio.ops.sparse import indices as coordinates
from intaglio.ops.text.strings import filled

_TYPES = (*dtypes.NUMERIC, dtypes.bool_, string)


class Writer(Op):
    """Sparse tensors as strings or variants, three for each."""

    signature = (
        "sparse_indices: int64, sparse_values: T, sparse_shape: int64;"
        " out_type: type = string -> serialized_sparse: out_type"
    )
    differentiable = False
    T = _TYPES
    out_type = (string, variant)


def _three(indices: Any, values: Any, shape: Any, dtype: DType) -> list[bytes]:
    own = _content(values) if dtype is string else tensor_bytes(values, dtype)
    return [tensor_bytes(indices, int64), own, tensor_bytes(shape, int64)]


def _written(
    parts: list[tuple[Any, Any, Any]], dims: tuple[int, ...], dtype: DType, form: DType
) -> Any:
    """Sparse tensors' parts in a tensor of strings or variants."""
    if form is variant:
        return Variants([VariantTensor(a) for part in parts for a in part], (*dims, 3))
    return filled([b for part in parts for b in _three(*part, dtype)], (*dims, 3))


def _content(texts: Any) -> bytes:
    """Strings as a TensorProto with all lengths, and then all bytes, in one field."""
    flat = texts.tolist()
    lengths = b"".join([_varint(len(text)) for text in flat])
    proto = messages.TensorProto(
        dtype=string.as_datatype_enum, tensor_shape=tensors.shape_proto(texts.shape)
    )
    proto.tensor_content = lengths + b"".join(flat)
    return proto.SerializeToString(deterministic=True)


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def _texts(proto: Any) -> Any:
    """The strings of a TensorProto from `_content`."""
    data = proto.tensor_content
    count = 1
    for dim in proto.tensor_shape.dim:
        count *= dim.size
    at, lengths = 0, []
    for _ in range(count):
        number = shift = 0
        while at < len(data):
            byte = data[at]
            at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        lengths.append(number)
    ends = at + np.cumsum([0, *lengths])
    if ends[-1] != len(data):
        raise MalformedError("the lengths of strings do not fit their bytes")
    pairs = itertools.pairwise(ends.tolist())
    return filled([data[a:b] for a, b in pairs], count)


@op
class SerializeSparse(Writer):
    """A sparse tensor as three strings."""

    def infer(
        self, sparse_indices: Spec, sparse_values: Spec, sparse_shape: Spec, out_type
    ) -> Spec:
        coordinates.need_ranks((sparse_indices, 2), (sparse_values, 1), (sparse_shape, 1))
        return Spec(out_type, (3,))

    def kernel(self, sparse_indices, sparse_values, sparse_shape, out_type, T):
        coordinates.check(sparse_indices, sparse_values, sparse_shape)
        parts = [(sparse_indices, sparse_values, sparse_shape)]
        return _written(parts, (), T, out_type)


@op
class SerializeManySparse(Writer):
    """The rows of a sparse tensor as three strings each."""

    def infer(
        self, sparse_indices: Spec, sparse_values: Spec, sparse_shape: Spec, out_type
    ) -> Spec:
        coordinates.need_ranks((sparse_indices, 2), (sparse_values, 1), (sparse_shape, 1))
        dims = sparse_shape.as_shape()
        return Spec(out_type, (dims[0] if dims else None, 3))

    def kernel(self, sparse_indices, sparse_values, sparse_shape, out_type, T):
        coordinates.check(sparse_indices, sparse_values, sparse_shape)
        if sparse_shape.size < 2:
            raise invalid_argument(
                f"Rank of input SparseTensor should be > 1, but saw rank: {sparse_shape.size}"
            )
        coordinates.check_bounds(sparse_indices, sparse_shape)
        count = int(sparse_shape[0])
        rows = sparse_indices[:, 0]
        order = np.argsort(rows, kind="stable")
        cuts = np.searchsorted(rows[order], np.arange(1, count))
        inner = np.split(sparse_indices[order, 1:], cuts)
        values = np.split(sparse_values[order], cuts)
        pairs = zip(inner, values, strict=True) if count else ()
        parts = [(i, v, sparse_shape[1:]) for i, v in pairs]
        return _written(parts, (count,), T, out_type)


def _array(proto: Any) -> Any:
    packed = proto.dtype == string.as_datatype_enum and proto.tensor_content
    return _texts(proto) if packed else tensors.array_of(proto)


def _read(serialized: Any, dtype: DType) -> list[Any]:
    """The parts of every sparse tensor in [..., 3] strings or variants."""
    found: list[Any] = []
    if serialized.dtype is VARIANT_MARKER:
        items = [item.array for item in serialized.items]
        return _of_type([items[i : i + 3] for i in range(0, len(items), 3)], dtype)
    for three in serialized.reshape(-1, 3):
        try:
            arrays = [
                _array(parsed(messages.TensorProto, data, "serialized_sparse")) for data in three
            ]
        except MalformedError as e:
            raise invalid_argument(f"Could not parse serialized_sparse: {e}") from None
        found.append(arrays)
    return _of_type(found, dtype)


def _of_type(parts: list[Any], dtype: DType) -> list[Any]:
    for arrays in parts:
        if arrays[1].dtype != dtype.numpy:
            raise invalid_argument(
                f"Requested SparseTensor of type {dtype.name} but SparseTensor has values of another type"
            )
    return parts


def _joined(parts: list[Any], dims: tuple[int, ...], dtype: DType) -> Any:
    """Sparse tensors as one, with outer dimensions that count them."""
    ranks = {p[2].size for p in parts}
    if len(ranks) > 1:
        raise invalid_argument(f"Ranks of the sparse tensors differ: {sorted(ranks)}")
    rank = ranks.pop() if ranks else 0
    counts = [len(p[1]) for p in parts]
    numbers = np.repeat(np.arange(len(parts)), counts)
    outer = (
        np.stack(np.unravel_index(numbers, dims), axis=1)
        if numbers.size
        else np.zeros((0, len(dims)))
    )
    inner = [p[0].reshape(-1, rank) for p in parts] or [np.zeros((0, rank))]
    table = np.concatenate([outer, np.concatenate(inner)], axis=1).astype(np.int64)
    values = np.concatenate([p[1] for p in parts]) if parts else np.zeros(0, dtype.numpy)
    most = np.max([p[2] for p in parts], axis=0) if parts else np.zeros(rank)
    return table, values, np.array([*dims, *most], np.int64)


@op
class DeserializeSparse(Op):
    """The sparse tensor that three strings are; of a tensor of them, stacked."""

    signature = (
        "serialized_sparse: Tserialized; dtype: type"
        " -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64"
    )
    differentiable = False
    Tserialized = (string, variant)
    dtype = _TYPES

    def infer(self, dtype: DType) -> Any:
        return coordinates.parts(dtype, None, None)

    def kernel(self, serialized_sparse, dtype: DType):
        _check_threes(serialized_sparse.shape)
        parts = _read(serialized_sparse, dtype)
        if serialized_sparse.ndim == 1:
            return tuple(parts[0])
        return _joined(parts, serialized_sparse.shape[:-1], dtype)


@op
class DeserializeManySparse(Op):
    """The sparse tensor whose rows are three strings each."""

    signature = (
        "serialized_sparse: string; dtype: type"
        " -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64"
    )
    differentiable = False
    dtype = _TYPES

    def infer(self, dtype: DType) -> Any:
        return coordinates.parts(dtype, None, None)

    def kernel(self, serialized_sparse, dtype: DType):
        if serialized_sparse.ndim != 2:
            raise invalid_argument(
                "Serialized sparse should have non-zero rank 2, got shape "
                f"{brackets(serialized_sparse.shape)}"
            )
        _check_threes(serialized_sparse.shape)
        parts = _read(serialized_sparse, dtype)
        return _joined(parts, serialized_sparse.shape[:-1], dtype)


def _check_threes(dims: Dims) -> None:
    if not dims or dims[-1] != 3:
        raise invalid_argument(
            f"Serialized sparse should have 3 as the last dimension, got shape {brackets(dims)}"
        )
