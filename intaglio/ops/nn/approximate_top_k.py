"""The greatest or least numbers along a dimension; TensorFlow's CPU kernel is exact too."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import bfloat16, float16, float32, int32
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.array.sorting import largest
from intaglio.ops.families import shape_of, spec_of


@op
class ApproxTopK(Op):
    """(values, indices) of the k greatest or least numbers, the first of them first."""

    signature = (
        "input: T; k: int, reduction_dimension: int = -1, recall_target: float = 0.95,"
        " is_max_k: bool = True, reduction_input_size_override: int = -1,"
        " aggregate_to_topk: bool = True -> values: T, indices: int32"
    )
    T = (float16, bfloat16, float32)

    def infer(self, input: Spec, k, reduction_dimension) -> Any:
        if input.shape is None:
            return Spec(input.dtype, None), Spec(int32, None)
        rank = len(input.shape)
        if not -rank <= reduction_dimension < rank:
            raise ShapeError(
                f"reduction_dimension {reduction_dimension} is out of bounds for rank {rank}"
            )
        at = reduction_dimension % rank
        size = input.shape[at]
        if size is not None and size < k:
            raise ShapeError(f"input must have last dimension >= k = {k} but is {size}")
        shape = (*input.shape[:at], k, *input.shape[at + 1 :])
        return Spec(input.dtype, shape), Spec(int32, shape)

    def kernel(self, input, k, reduction_dimension, is_max_k):
        rank = input.ndim
        if not -rank <= reduction_dimension < rank:
            raise invalid_argument(
                f"reduction_dimension {reduction_dimension} is out of bounds for rank {rank}"
            )
        if k < 0:
            raise invalid_argument(f"k must be non-negative, got {k}")
        if input.shape[reduction_dimension] < k:
            size = input.shape[reduction_dimension]
            raise invalid_argument(f"input must have last dimension >= k = {k} but is {size}")
        rows = np.moveaxis(input, reduction_dimension, -1)
        _, order = largest(rows if is_max_k else -rows, k)
        chosen = np.moveaxis(order, -1, reduction_dimension)
        values = np.take_along_axis(input, chosen, reduction_dimension)
        return values, chosen.astype(np.int32)

    def gradient(self, input: Spec, indices, dvalues, reduction_dimension) -> Any:
        if dvalues is None:
            return None
        shape = spec_of(input)
        size = raw.GatherV2(
            shape_of(shape), np.int32(reduction_dimension % (shape.rank or 1)), np.int32(0)
        )
        # One matrix [k, size] of zeros and ones for each row.
        one, zero = (np.asarray(v, dvalues.dtype.numpy) for v in (1, 0))
        at = reduction_dimension % (shape.rank or 1)
        one_hot = raw.OneHot(indices, size, one, zero, axis=at + 1)
        products = raw.Mul(raw.ExpandDims(dvalues, np.int32(at + 1)), one_hot)
        return raw.Sum(products, np.array([at], np.int32))
