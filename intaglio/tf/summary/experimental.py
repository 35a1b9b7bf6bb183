"""`tf.summary.experimental`: the step of a thread, scopes of tags, messages as they are.

Follows https://www.tensorflow.org/api_docs/python/tf/summary/experimental.
"""

from __future__ import annotations

from typing import Any

from intaglio.summaries.raw_messages import write_raw_pb
from intaglio.summaries.writers import STATE, summary_scope


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


__all__ = ["get_step", "set_step", "summary_scope", "write_raw_pb"]
