"""`tf.summary.experimental`: the step of a thread, scopes of tags, messages as they are.

Follows https://www.tensorflow.org/api_docs/python/tf/summary/experimental.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import string
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.summaries.writers import STATE, recorded, step_of, summary_scope


def get_step() -> Any:
    """The step of this thread's summaries, or None.

    >>> tf.summary.experimental.get_step()
    """
    return STATE.step


def set_step(step: Any) -> None:
    """Sets the step of this thread's summaries: a number, variable or None.

    >>> tf.summary.experimental.set_step(3)
    >>> tf.summary.experimental.get_step()
    3
    >>> tf.summary.experimental.set_step(None)
    """
    STATE.step = step


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


__all__ = ["get_step", "set_step", "summary_scope", "write_raw_pb"]
