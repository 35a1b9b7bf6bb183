"""`tf.train.checkpoints_iterator`: checkpoints as they are written.

Follows https://www.tensorflow.org/api_docs/python/tf/train/checkpoints_iterator.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from intaglio.saved_model.checkpoint import latest_checkpoint

_POLL_SECONDS = 1.0  # seconds between looks at the folder


def checkpoints_iterator(
    checkpoint_dir: Any,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """The prefixes of a folder's checkpoints, each when it has become the newest.

    Args:
      checkpoint_dir: the folder.
      min_interval_secs: the least time between two of them.
      timeout: how long to wait for another, in seconds; None waits for ever.
      timeout_fn: called after that time; the iteration ends if it returns true.

    >>> import tempfile
    >>> list(tf.train.checkpoints_iterator(tempfile.mkdtemp(), timeout=0))
    []
    """
    last: str | None = None
    while True:
        found = _awaited(checkpoint_dir, last, timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        begin = time.monotonic()
        last = found
        yield found
        time.sleep(max(0.0, begin + min_interval_secs - time.monotonic()))


def _awaited(folder: Any, last: str | None, timeout: float | None) -> str | None:
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        found = latest_checkpoint(folder)
        if found is not None and found != last:
            return found
        if end is not None and time.monotonic() + _POLL_SECONDS > end:
            return None
        time.sleep(_POLL_SECONDS)


__all__ = ["checkpoints_iterator"]
