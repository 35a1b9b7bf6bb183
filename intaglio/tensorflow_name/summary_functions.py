"""`tensorflow.python.ops.summary_ops_v2`: summaries with the parameters of the first TensorFlow 2."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from intaglio.summaries import kinds, writers


def always_record_summaries() -> AbstractContextManager[None]:
    """Summaries of the block are written."""
    return writers.record_if(True)


def never_record_summaries() -> AbstractContextManager[None]:
    """Summaries of the block are not written."""
    return writers.record_if(False)


def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes a number."""
    return kinds.scalar(_tag(name, family), tensor, step)


def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes how numbers are distributed."""
    return kinds.histogram(_tag(name, family), tensor, step)


def image(
    name: str,
    tensor: Any,
    bad_color: Any = None,
    max_images: int = 3,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes the first images of a batch. `bad_color` is not used: NaNs are what they become as integers."""
    return kinds.image(_tag(name, family), tensor, step, max_images)


def _tag(name: str, family: str | None) -> str:
    return name if family is None else f"{family}/{name}"
