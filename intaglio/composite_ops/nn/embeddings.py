"""Look-ups in tables of vectors.

Follows https://www.tensorflow.org/api_docs/python/tf/nn/embedding_lookup.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.composite_ops.array.indexing import gather
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def embedding_lookup(
    params: Any, ids: Any, max_norm: float | None = None, name: str | None = None
) -> Tensor:
    """The rows of `params` that `ids` names: shape `ids.shape + params.shape[1:]`.

    `params` is a tensor or variable, or a list of them: then the rows of
    all parts count on, and parts but for the first ones have equally many. Rows longer than `max_norm` are shortened to
    it. Raises ValueError for an empty list; ids out of range raise InvalidArgumentError.

    https://www.tensorflow.org/api_docs/python/tf/nn/embedding_lookup

    >>> print(tf.nn.embedding_lookup([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [2, 0]).numpy())
    [3. 1.]
    """
    if params is None:
        raise ValueError("params must be specified")
    parts = list(params) if isinstance(params, (list, tuple)) else [params]
    if not parts:
        raise ValueError(f"Length of params is currently 0. Received params={params}")
    with door.level().scoped(name or "embedding_lookup"):
        ids = convert.to_tensor(ids, name="ids")
        if len(parts) == 1:
            rows = gather(parts[0], ids)
        else:
            rows = _from_parts(parts, ids)
        return rows if max_norm is None else _shortened(rows, ids, max_norm)


def _from_parts(parts: list[Any], ids: Tensor) -> Tensor:
    """Rows of tables that follow one another; the first of them may be one row longer."""
    tables = [convert.to_tensor(p) for p in parts]
    flat = raw.Reshape(ids, [-1])
    part, index = _where(tables, flat)
    part = raw.Cast(part, DstT="int32")
    n = len(parts)
    numbers = raw.Range(np.int32(0), raw.Size(flat), np.int32(1))
    targets = raw.DynamicPartition(numbers, part, num_partitions=n)
    wanted = raw.DynamicPartition(index, part, num_partitions=n)
    rows = [gather(p, w) for p, w in zip(parts, wanted, strict=True)]
    whole = raw.ParallelDynamicStitch(list(targets), rows)
    tail = raw.StridedSlice(raw.Shape(tables[0]), [1], [0], [1], end_mask=1)
    return raw.Reshape(whole, raw.ConcatV2([raw.Shape(ids), tail], 0))


def _where(tables: list[Tensor], ids: Tensor) -> tuple[Any, Any]:
    """(the table, the row in it) of each id."""
    kind = ids.dtype.numpy
    if any(t.dims == () for t in tables):
        raise ValueError("params must have rows, but one of them is a scalar")
    heights = [None if t.dims is None else t.dims[0] for t in tables]
    if None in heights:
        raise ValueError(
            "embedding_lookup needs the static number of rows of each of several params"
        )
    n, total = len(tables), sum(heights)  # type: ignore[arg-type]  # heights are known here
    each, extra = np.asarray(total // n, kind), np.asarray(total % n, kind)
    more = np.asarray(total // n + 1, kind)
    after = raw.Sub(ids, extra)
    part = raw.Maximum(raw.FloorDiv(ids, more), raw.FloorDiv(after, each))
    index = raw.SelectV2(raw.Less(part, extra), raw.FloorMod(ids, more), raw.FloorMod(after, each))
    return part, index


def _shortened(rows: Tensor, ids: Tensor, max_norm: float) -> Tensor:
    """The rows scaled so that none is longer than `max_norm`."""
    if rows.dims is None or ids.dims is None:
        raise ValueError("max_norm needs params and ids of known rank")
    over = np.arange(len(ids.dims), len(rows.dims), dtype=np.int32)
    longest = np.asarray(max_norm, rows.dtype.numpy)
    squares = raw.Sum(raw.Mul(rows, rows), over, keep_dims=True)
    # The square root has no gradient at 0.
    positive = raw.Greater(squares, np.asarray(0, rows.dtype.numpy))
    safe = raw.Select(positive, squares, raw.OnesLike(squares))
    norm = raw.Select(positive, raw.Sqrt(safe), squares)
    return raw.RealDiv(raw.Mul(rows, longest), raw.Maximum(norm, longest))
