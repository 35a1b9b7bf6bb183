"""The window of forward compatibility for written files: `tf.compat.forward_compatible`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/forward_compatible. This package writes the same files
for readers of any date; libraries call it to decide what they write.
"""

from __future__ import annotations

import datetime
from collections.abc import Generator
from contextlib import contextmanager

from intaglio.base.threads import Inherited

# The first day for which TensorFlow 2.21 returns False, as recorded.
HORIZON = datetime.date(2026, 1, 16)


class _Horizon(Inherited):
    def __init__(self) -> None:
        self.date = HORIZON


_horizon = _Horizon()


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether readers older than a date need not be considered. Raises ValueError for what is no date.

    >>> tf.compat.forward_compatible(2019, 7, 1)
    True
    """
    return _horizon.date > datetime.date(year, month, day)


@contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Generator[None]:
    """Sets the date that `forward_compatible` assumes in the block. Raises ValueError for an invalid date.

    >>> with tf.compat.forward_compatibility_horizon(2100, 2, 2):
    ...     tf.compat.forward_compatible(2100, 2, 1)
    True
    """
    before, _horizon.date = _horizon.date, datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon.date = before


__all__ = ["forward_compatibility_horizon", "forward_compatible"]
