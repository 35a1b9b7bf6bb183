"""The log of conversion, with its verbosity.

Follows https://www.tensorflow.org/api_docs/python/tf/autograph/set_verbosity.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from intaglio.base.log import logger


class _Verbosity:
    """The process-wide setting of `set_verbosity`."""

    level = int(os.environ.get("AUTOGRAPH_VERBOSITY") or 0)
    to_stdout = False


_verbosity = _Verbosity()


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Sets how much is logged about conversion.

    0: only what could not be converted; 1: each function that is; 2: each call too; 3: the
    converted code too. Before the first call of this the environment variable
    AUTOGRAPH_VERBOSITY sets it. `alsologtostdout` prints it too.

    >>> tf.autograph.set_verbosity(0)
    """
    _verbosity.level, _verbosity.to_stdout = level, alsologtostdout


def report(level: int, line: Callable[[], str]) -> None:
    """Logs `line()`, if the verbosity is high enough."""
    if level > _verbosity.level:
        return
    text = line()
    logger().info(text)
    if _verbosity.to_stdout:
        print(text)
