"""Scopes: names, order and devices of ops, and leaving the graph that is being traced.

Follows https://www.tensorflow.org/api_docs/python/tf/init_scope,
https://www.tensorflow.org/api_docs/python/tf/name_scope,
https://www.tensorflow.org/api_docs/python/tf/control_dependencies and
https://www.tensorflow.org/api_docs/python/tf/device.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from intaglio.base.device_spec import DeviceSpec
from intaglio.base.devices import absent, elsewhere, malformed
from intaglio.base.errors import invalid_argument
from intaglio.base.options import OPTIONS
from intaglio.opdef import door
from intaglio.runtime.eager import EagerLevel
from intaglio.trace.graph import as_operations
from intaglio.trace.recorder import Recorder


class _Eager(threading.local):
    """Scopes that are open where nothing records them."""

    def __init__(self) -> None:
        self.scope = ""
        self.devices: list[str] = []


_eager = _Eager()
_DEVICE = re.compile(
    r"^(/job:[^/]+)?(/replica:\d+)?(/task:\d+)?/?(device:)?(CPU|GPU|TPU|XLA_CPU|XLA_GPU):(\d+|\*)$",
    re.IGNORECASE,
)


@contextmanager
def init_scope() -> Generator[None]:
    """Ops of the block leave all functions being traced, and no tape sees them.

    They run eagerly, or are recorded into the innermost graph that is no function's.

    >>> with tf.init_scope():
    ...     print(tf.executing_eagerly())
    True
    """
    levels = door.stack().levels
    outer = next(
        lv for lv in reversed(levels) if lv.eager or not getattr(lv, "graph", lv).building_function
    )
    if outer.eager:
        with door.pushed(EagerLevel()):
            yield
        return
    with door.pushed(outer), door.unwatched(), outer.after(None):
        yield


class name_scope:
    """Names of the block's ops begin with `name/`. Yields the scope's whole name.

    >>> with tf.name_scope("part") as scope:
    ...     print(scope)
    part/
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._open: list[Any] = []

    @property
    def name(self) -> str:
        """The name that was given."""
        return self._name

    def __enter__(self) -> str:
        level = door.level()
        manager = (
            level.scoped(self._name) if isinstance(level, Recorder) else _eager_scope(self._name)
        )
        self._open.append(manager)
        return manager.__enter__()

    def __exit__(self, *error: Any) -> Any:
        return self._open.pop().__exit__(*error)


@contextmanager
def _eager_scope(name: str) -> Generator[str]:
    outer = _eager.scope
    if not name:
        _eager.scope = ""
    else:
        _eager.scope = name if name.endswith("/") else f"{outer}{name}/"
    try:
        yield _eager.scope
    finally:
        _eager.scope = outer


def current_name_scope() -> str:
    """The current name scope, without its last slash.

    >>> with tf.name_scope("layer"):
    ...     tf.get_current_name_scope()
    'layer'
    """
    level = door.level()
    scope = level.scope if isinstance(level, Recorder) else _eager.scope
    return scope.rstrip("/")


@contextmanager
def control_dependencies(control_inputs: Any) -> Generator[None]:
    """Ops of the block run after `control_inputs`; eagerly that is so anyway.

    None forgets the current dependencies. Raises TypeError for what is no op or tensor.

    >>> with tf.control_dependencies([tf.constant(1)]):
    ...     print(tf.constant(2).numpy())
    2
    """
    level = door.level()
    if not isinstance(level, Recorder):
        if callable(control_inputs):
            control_inputs()
        yield
        return
    with level.after(as_operations(level.graph, control_inputs)):
        yield


@contextmanager
def device(device_name: Any) -> Generator[None]:
    """Ops of the block carry the device; there is one device that runs them, the CPU.

    It runs those of other devices of this process too, unless
    `tf.config.set_soft_device_placement` says otherwise. Raises ValueError for a malformed name,
    RuntimeError for a function eagerly, and InvalidArgumentError for a number below 0, a device of
    another process and, without soft placement, one that is not there: at once, or when a graph
    runs.

    >>> with tf.device("/cpu:0"):
    ...     print((tf.constant(1) + 1).numpy())
    2
    """
    level = door.level()
    if callable(device_name):
        if not isinstance(level, Recorder):
            raise RuntimeError(
                "tf.device does not support functions when eager execution is enabled."
            )
        yield
        return
    name = "" if device_name is None else str(device_name)
    DeviceSpec.from_string(name)
    if malformed(name):
        raise invalid_argument(f"Malformed device specification '{name}'")
    if isinstance(level, Recorder):
        with level.on(None if device_name is None else name):
            yield
        return
    other = elsewhere(name)
    if other is not None:
        raise invalid_argument(f"{other} unknown device.")
    missing = None if OPTIONS.soft_placement else absent(name)
    if missing is not None:
        raise invalid_argument(
            f"Could not satisfy device specification '{missing}'. enable_soft_placement=0."
            " Supported device types [CPU]."
        )
    _eager.devices.append(name)
    try:
        yield
    finally:
        _eager.devices.pop()


def executing_eagerly() -> bool:
    """True if ops run now, False if they are recorded.

    >>> tf.executing_eagerly()
    True
    """
    return door.level().eager


def inside_function() -> bool:
    """True while a function is being traced.

    >>> tf.inside_function()
    False
    """
    graph = getattr(door.level(), "graph", None)
    return bool(graph is not None and graph.building_function)


def current_graph() -> Any:
    """The graph being recorded, or None."""
    return getattr(door.level(), "graph", None)
