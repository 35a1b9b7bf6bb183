"""Summary messages written as they are.

Follows https://www.tensorflow.org/api_docs/python/tf/summary/experimental/write_raw_pb.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import string
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.summaries.writers import STATE, recorded, step_of


def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> Tensor:
    """Writes the bytes of a Summary message; returns whether they were written.

    >>> bool(tf.summary.experimental.write_raw_pb(b"", step=1))  # no writer
    False
    """
    if STATE.writer is None:
        return convert.to_tensor(False)
    data = convert.to_tensor(tensor, string)
    number = step_of(step)
    return recorded(lambda writer: raw.WriteRawProtoSummary(writer, number, data))


__all__ = ["write_raw_pb"]
