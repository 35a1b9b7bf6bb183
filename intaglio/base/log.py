"""The logger that warnings go to: `tensorflow`, as programs and their filters expect.

Follows https://www.tensorflow.org/api_docs/python/tf/get_logger.
"""

from __future__ import annotations

import logging
import sys
import threading
from typing import Any

from intaglio.base.locks import lasting_lock

_lock = lasting_lock()
_name = "tensorflow"
_ready = threading.Event()


class StderrHandler(logging.StreamHandler[Any]):
    """Writes to what `sys.stderr` is at the time, so that redirections are followed."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:
        """The current `sys.stderr`."""
        return sys.stderr


def logger() -> logging.Logger:
    """The logger, with a handler of its own if the root logger has none.

    >>> tf.get_logger().name
    'tensorflow'
    """
    found = logging.getLogger(_name)
    if _ready.is_set():
        return found
    with _lock:
        if not logging.getLogger().handlers and not found.handlers:
            handler = StderrHandler()
            handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT, None))
            found.addHandler(handler)
        _ready.set()
    return found
