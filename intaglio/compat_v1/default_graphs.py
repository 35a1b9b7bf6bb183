"""The graph that programs of TensorFlow 1 write into, where no block says which.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/get_default_graph.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any

from intaglio.opdef import door
from intaglio.trace.graph import Graph
from intaglio.trace.recorder import Recorder


class _Default(threading.local):
    """The graph of a thread outside of all blocks, and the level by which ops go there."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.entered: ExitStack | None = None


_default = _Default()


def get_default_graph() -> Graph:
    """The graph that is being recorded; outside of graphs one that ops do not go to by themselves."""
    level = door.level()
    return level.graph if isinstance(level, Recorder) else _default.graph


@contextmanager
def graph_mode() -> Generator[None]:
    """Ops of the block are recorded: into the graph whose block this is in, else into the default graph."""
    levels = door.stack().levels
    recorder = next((lv for lv in reversed(levels) if isinstance(lv, Recorder)), None)
    with _default.graph.as_default() if recorder is None else door.pushed(recorder):
        yield


def in_another_graph() -> bool:
    """True in the block of a graph that is not the one outside of all blocks."""
    level = door.level()
    return isinstance(level, Recorder) and level.graph is not _default.graph


def reset_default_graph() -> None:
    """Replaces the graph outside of all blocks with an empty one.

    Raises AssertionError inside of a block of another graph.

    >>> tf.compat.v1.reset_default_graph()
    """
    if in_another_graph():
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting "
            "and create a new graph."
        )
    if _default.entered is None:
        _default.graph = Graph()
        return
    _default.entered.close()
    _default.graph = Graph()
    disable_eager_execution()


def disable_eager_execution() -> None:
    """From now on ops of this thread go to the default graph instead of running at once.

    Raises ValueError inside of a graph. `tf.compat.v1.Session` runs them.
    """
    level = door.level()
    if isinstance(level, Recorder):
        if level.graph is _default.graph:
            return
        raise ValueError("tf.disable_eager_execution must be called at program startup.")
    _default.entered = ExitStack()
    _default.entered.enter_context(_default.graph.as_default())


def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """Ops run at once, as they do unless `disable_eager_execution` was called before.

    Raises ValueError inside of a block of a graph.
    """
    if _default.entered is not None and getattr(door.level(), "graph", None) is _default.graph:
        _default.entered.close()
        _default.entered = None
    elif isinstance(door.level(), Recorder):
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
