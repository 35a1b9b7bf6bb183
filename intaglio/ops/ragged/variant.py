"""Ragged tensors as single values: what loops and datasets hold of them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from intaglio.base.dtypes import ALL, INDEX, VARIANT_MARKER, DType, variant
from intaglio.base.errors import invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.control_flow.variants import Variants
from intaglio.ops.families import shape_of
from intaglio.ops.ragged.tensors import splits_from


class EncodedRagged:
    """The row splits and the values of a ragged tensor."""

    __slots__ = ("splits", "values")
    dtype = VARIANT_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    spec = Spec(variant, ())

    def __init__(self, splits: list[Any], values: Any) -> None:
        self.splits = splits
        self.values = values

    def __repr__(self) -> str:
        return "<RaggedTensorVariant>"


@op
class RaggedTensorToVariant(Op):
    """A ragged tensor as one value, or as a vector of its rows."""

    signature = (
        "rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: Tvalues;"
        " batched_input: bool, Tsplits: type = int64 -> encoded_ragged: variant"
    )
    Tvalues = ALL
    Tsplits = INDEX

    def infer(self, rt_nested_splits: list[Spec], batched_input) -> Spec:
        if not batched_input:
            return Spec(variant, ())
        dims = rt_nested_splits[0].shape if rt_nested_splits else None
        rows = None if not dims or dims[0] is None else dims[0] - 1
        return Spec(variant, (rows,))

    def kernel(self, rt_nested_splits, rt_dense_values, batched_input):
        splits, values = list(rt_nested_splits), rt_dense_values
        if not batched_input:
            return EncodedRagged(splits, values)
        if not splits:
            rows = [EncodedRagged([], row) for row in values]
            return Variants(rows, (len(rows),))
        return Variants(_rows(splits, values), (splits[0].size - 1,))

    def gradient(
        self, dencoded_ragged, rt_nested_splits, rt_dense_values: Spec, batched_input
    ) -> Any:
        none = [None] * len(rt_nested_splits)
        splits = rt_nested_splits[0] if batched_input else np.zeros(0, np.int64)
        back = raw.RaggedTensorToVariantGradient(
            dencoded_ragged,
            splits,
            raw.Cast(shape_of(rt_dense_values), DstT="int32"),
            Tvalues=rt_dense_values.dtype,
        )
        return none, back


def _rows(splits: list[Any], values: Any) -> list[EncodedRagged]:
    """The rows, each with its slices of the inner partitions and of the values."""
    found: list[EncodedRagged] = []
    bounds = splits[0].tolist()
    for begin, end in itertools.pairwise(bounds):
        inner: list[Any] = []
        for level in splits[1:]:
            part = level[begin : end + 1]
            inner.append(part - part[0])
            begin, end = int(part[0]), int(part[-1])
        found.append(EncodedRagged(inner, values[begin:end]))
    return found


@op
class RaggedTensorFromVariant(Op):
    """The ragged tensor in one variant, or those of a tensor of variants, stacked."""

    signature = (
        "encoded_ragged: variant; input_ragged_rank: int, output_ragged_rank: int,"
        " Tvalues: type, Tsplits: type = int64"
        " -> output_nested_splits: output_ragged_rank*Tsplits,"
        " output_dense_values: Tvalues"
    )
    Tsplits = INDEX

    def infer(self, output_ragged_rank, Tvalues, Tsplits) -> Any:
        return [Spec(Tsplits, (None,))] * output_ragged_rank, Spec(Tvalues, None)

    def kernel(
        self, encoded_ragged, input_ragged_rank, output_ragged_rank, Tvalues: DType, Tsplits
    ):
        rank = len(encoded_ragged.shape)
        inner = output_ragged_rank - rank if input_ragged_rank < 0 else input_ragged_rank
        if inner < 0 or inner + rank != output_ragged_rank:
            raise invalid_argument(
                "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims():"
                f" {output_ragged_rank} vs. {inner} + {rank}"
            )
        one = isinstance(encoded_ragged, EncodedRagged)
        items = [encoded_ragged] if one else encoded_ragged.items
        for item in items:
            if len(item.splits) != inner:
                raise invalid_argument(
                    f"Encoded input RaggedTensorVariant has ragged_rank={len(item.splits)}."
                    f"  Expected ragged_rank={inner}."
                )
        if one:
            return list(encoded_ragged.splits), encoded_ragged.values
        return _stacked(items, encoded_ragged.shape, inner, Tvalues, Tsplits.numpy)

    def gradient(self, doutput_dense_values, output_nested_splits, encoded_ragged: Spec) -> Any:
        return raw.RaggedTensorToVariant(
            output_nested_splits, doutput_dense_values, batched_input=encoded_ragged.rank != 0
        )


def _stacked(
    items: list[EncodedRagged], shape: tuple[int, ...], inner: int, kind: DType, dtype: Any
) -> tuple[list[Any], Any]:
    found: list[Any] = []
    rows = 1
    for size, width in itertools.pairwise(shape):
        rows *= size
        found.append(np.arange(rows + 1, dtype=dtype) * width)
    counts = [i.splits[0].size - 1 if inner else i.values.shape[0] for i in items]
    found.append(splits_from(np.array(counts, np.int64), dtype))
    for level in range(inner):
        lengths = [np.diff(item.splits[level]) for item in items]
        found.append(splits_from(np.concatenate([np.zeros(0, np.int64), *lengths]), dtype))
    parts = [item.values for item in items]
    if parts:
        return found, np.concatenate(parts)
    return found, np.zeros(0, kind.numpy)


@op
class RaggedTensorToVariantGradient(Op):
    """The values that the gradients of rows have."""

    signature = (
        "encoded_ragged_grad: variant, row_splits: Tsplits, dense_values_shape: int32;"
        " Tvalues: type, Tsplits: type = int64 -> dense_values_grad: Tvalues"
    )
    differentiable = False
    Tsplits = INDEX

    def infer(self, dense_values_shape: Spec, Tvalues) -> Spec:
        return Spec(Tvalues, dense_values_shape.as_shape())

    def kernel(self, encoded_ragged_grad, dense_values_shape, Tvalues):
        shape = tuple(dense_values_shape.tolist())
        if isinstance(encoded_ragged_grad, EncodedRagged):
            return encoded_ragged_grad.values.reshape(shape)
        parts = [item.values.reshape(-1) for item in encoded_ragged_grad.items]
        if not math.prod(shape):
            return np.zeros(shape, Tvalues.numpy)
        return np.concatenate(parts).reshape(shape)
