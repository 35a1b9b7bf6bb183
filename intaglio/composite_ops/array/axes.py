"""Which axes an op without `axis` goes over."""

from __future__ import annotations

import numpy as np

from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor


def all_axes(x: Tensor) -> Tensor:
    """The numbers of all axes of a tensor, an int32 vector: a constant if the rank is known."""
    dims = x.dims
    if dims is not None:
        return convert.to_tensor(np.arange(len(dims), dtype=np.int32), name="Const")
    return raw.Range(0, raw.Rank(x), 1, name="range")


__all__: list[str] = []
