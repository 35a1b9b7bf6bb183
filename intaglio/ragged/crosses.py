"""Feature crosses of ragged tensors and tensors."""

from __future__ import annotations

from typing import Any

from intaglio.base import dtypes
from intaglio.opdef import raw
from intaglio.ragged import core
from intaglio.ragged.core import Ragged

# The default hash key.
_KEY = 0xDECAFCAFFE


def cross(
    inputs: Any, hashed: bool, num_buckets: int, hash_key: int | None, name: str | None
) -> Any:
    """The combinations of one value of each input, in every row."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    if hasattr(inputs, "_fields"):
        raise ValueError("Inputs must be a list of RaggedTensors and Tensors")
    operands = [core.as_operand(x) for x in inputs]
    kinds = {x.row_splits.dtype for x in operands if isinstance(x, Ragged)}
    splits = dtypes.int64 if len(kinds) != 1 else kinds.pop()
    ragged = [x for x in operands if isinstance(x, Ragged)]
    for i, x in enumerate(operands):
        if not x.dtype.is_integer and x.dtype is not dtypes.string:
            raise ValueError(f"Unexpected dtype for inputs[{i}]: <dtype: '{x.dtype.name}'>")
        if isinstance(x, Ragged) and x.ragged_rank != 1:
            raise ValueError("tf.ragged.cross only supports inputs with rank=2.")
    crossed = raw.RaggedCross(
        [_wide(x.flat_values) for x in ragged],
        [x.row_splits for x in ragged],
        [],
        [],
        [],
        [_wide(x) for x in operands if not isinstance(x, Ragged)],
        input_order="".join(["R" if isinstance(x, Ragged) else "D" for x in operands]),
        hashed_output=hashed,
        num_buckets=num_buckets,
        hash_key=_KEY if hash_key is None else hash_key,
        out_values_type=dtypes.int64 if hashed else dtypes.string,
        out_row_splits_type=splits,
        name=name,
    )
    return core.from_splits(crossed.output_values, crossed.output_row_splits)


def _wide(x: Any) -> Any:
    if x.dtype is dtypes.string or x.dtype is dtypes.int64:
        return x
    return raw.Cast(x, DstT=dtypes.int64)
