"""Messages to the log of the name `tensorflow`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/logging.
"""

from __future__ import annotations

import collections
import logging
from typing import Any

from intaglio.base.log import logger

DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50

_counts: collections.Counter[str] = collections.Counter()


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` on a level."""
    logger().log(level, msg, *args, **kwargs)


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs on the level DEBUG."""
    logger().debug(msg, *args, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs on the level INFO."""
    logger().info(msg, *args, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs on the level WARN."""
    logger().warning(msg, *args, **kwargs)


warn = warning


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs on the level ERROR."""
    logger().error(msg, *args, **kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs on the level FATAL; the program goes on."""
    logger().fatal(msg, *args, **kwargs)


def vlog(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs on a level."""
    log(level, msg, *args, **kwargs)


def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Logs if the condition holds."""
    if condition:
        log(level, msg, *args)


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs the first n times that it is called with this message."""
    _counts[str(msg)] += 1
    log_if(level, msg, _counts[str(msg)] <= n, *args)


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs every n-th time that it is called with this message, the first time too."""
    log_if(level, msg, _counts[str(msg)] % n == 0, *args)
    _counts[str(msg)] += 1


def get_verbosity() -> int:
    """The lowest level that is logged."""
    return logger().getEffectiveLevel()


def set_verbosity(v: int) -> None:
    """Sets the lowest level that is logged."""
    logger().setLevel(v)


def flush() -> None:
    """Writes out what handlers hold back."""
    for handler in [*logger().handlers, *logging.getLogger().handlers]:
        handler.flush()
