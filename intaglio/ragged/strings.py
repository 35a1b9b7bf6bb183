"""Functions of strings that take ragged tensors, or give them.

Follows https://www.tensorflow.org/api_docs/python/tf/strings.
"""

from __future__ import annotations

from typing import Any

from intaglio.op import convert, raw
from intaglio.op.tensor import Tensor
from intaglio.ragged import broadcasting, core
from intaglio.ragged.core import Ragged


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """The strings of all operands joined element by element."""
    operands = [
        x if isinstance(x, (Ragged, Tensor)) else convert.to_tensor(x) for x in inputs
    ]
    flats, partitions = broadcasting.together(operands)
    return core.nested(
        raw.StringJoin(flats, separator=separator, name=name), partitions
    )
