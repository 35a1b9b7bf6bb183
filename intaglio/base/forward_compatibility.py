"""Which programs of other versions must be able to read what is written: `tf.compat.forward_compatible`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/forward_compatible. Nothing here writes differently for
readers of another date; libraries ask before they do.
"""

from __future__ import annotations

import datetime
from collections.abc import Generator
from contextlib import contextmanager

from intaglio.base.threads import Inherited

# The last day on which TensorFlow 2.21 answers True, as recorded, is the one before.
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
    """The block's `forward_compatible` answers as if this were the date. Raises ValueError for what is none.

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
