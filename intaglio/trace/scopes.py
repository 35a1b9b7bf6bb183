"""Scopes: names, order and devices of ops, and leaving the graph that is being traced.

Follows https://www.tensorflow.org/api_docs/python/tf/init_scope,
https://www.tensorflow.org/api_docs/python/tf/name_scope,
https://www.tensorflow.org/api_docs/python/tf/control_dependencies and
https://www.tensorflow.org/api_docs/python/tf/device.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from intaglio.base.device_spec import DeviceSpec
from intaglio.base.devices import (
    DEVICE,
    LogicalDevice,
    available,
    default_device,
    elsewhere,
    full_name,
    list_accelerators,
    list_physical_devices,
    malformed,
    merged_devices,
    placed,
)
from intaglio.base.errors import invalid_argument
from intaglio.base.log import logger
from intaglio.base.options import OPTIONS
from intaglio.base.threads import Inherited
from intaglio.opdef import door
from intaglio.runtime.placement import PlacedLevel, eager_level
from intaglio.trace.graph import as_operations
from intaglio.trace.recorder import Recorder


class _Eager(Inherited):
    """The open name scope and devices of this thread while ops run eagerly."""

    def __init__(self) -> None:
        self.scope = ""
        self.devices: list[str] = []


_eager = _Eager()


@contextmanager
def init_scope() -> Generator[None]:
    """Ops of the block leave all functions being traced, and no tape sees them.

    They run eagerly, or are recorded into the innermost graph that is no function's; the name scope stays.

    >>> with tf.init_scope():
    ...     print(tf.executing_eagerly())
    True
    """
    levels = door.stack().levels
    outer = next(
        lv for lv in reversed(levels) if lv.eager or not getattr(lv, "graph", lv).building_function
    )
    scope = current_name_scope()
    scope = f"{scope}/" if scope else ""
    if outer.eager:
        with _new_eager_level(), _eager_scope(scope):
            yield
        return
    with door.pushed(outer), door.unwatched(), outer.after(None), outer.scoped(scope):
        yield


@contextmanager
def eager_mode() -> Generator[None]:
    """Executes the ops of the block eagerly, also inside a graph."""
    if door.level().eager:
        yield
        return
    with _new_eager_level():
        yield


@contextmanager
def _new_eager_level() -> Generator[None]:
    name = _eager.devices[-1] if _eager.devices else ""
    found = _local(name)
    with door.pushed(eager_level(None if found == DEVICE else found, None, _is_chosen(name))):
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
    """Ops of the block run on the device, and their results are there.

    An op of a device that is not there runs on the host's first, which is logged once for each
    name, unless `tf.config.set_soft_device_placement` says otherwise. In a graph nodes carry the
    device. Raises ValueError for a malformed name, RuntimeError for a function eagerly, and
    InvalidArgumentError for a number below 0, a device of another process and, without soft
    placement, one that is not there: at once, or when a graph runs.

    >>> with tf.device("/cpu:0"):
    ...     print((tf.constant(1) + 1).device)
    /job:localhost/replica:0/task:0/device:CPU:0
    """
    level = door.level()
    if callable(device_name):
        if not isinstance(level, Recorder):
            raise RuntimeError(
                "tf.device does not support functions when eager execution is enabled."
            )
        yield
        return
    if isinstance(device_name, LogicalDevice):
        device_name = device_name.name
    if not (device_name is None or isinstance(device_name, (str, DeviceSpec))):
        raise ValueError(
            f"Expecting a string device name. Got {type(device_name)}({device_name!r})"
        )
    is_spec = isinstance(device_name, DeviceSpec)
    name = device_name.to_string() if is_spec else device_name or ""
    DeviceSpec.from_string(name)
    if malformed(name):
        raise invalid_argument(f"Malformed device specification '{name}'")
    if isinstance(level, Recorder):
        _log_absent(name)
        with level.on(None if device_name is None else name):
            yield
        return
    outer = _eager.devices[-1] if _eager.devices and device_name is not None else ""
    name = merged_devices(outer, name)
    found = _local(name)
    _eager.devices.append(name)
    is_chosen = _is_chosen(name)
    try:
        if found == _placed_on(level) and not _changes(level, is_chosen):
            yield
        else:
            with door.pushed(eager_level(found, level, is_chosen)):
                yield
    finally:
        _eager.devices.pop()


def _local(name: str) -> str:
    """The device of this process that ops of the device `name` run on. Raises InvalidArgumentError."""
    other = elsewhere(name)
    if other is not None:
        raise invalid_argument(f"{other} unknown device.")
    if not _is_chosen(name):
        return default_device() or DEVICE
    found = placed(name)
    if found is not None or OPTIONS.soft_placement:
        _log_absent(name)
        return found or DEVICE
    raise invalid_argument(
        f"Could not satisfy device specification '{full_name(name)}'. enable_soft_placement=0."
        f" Supported device types [{', '.join(_types())}]. All available devices {available()}."
    )


def _is_chosen(name: str) -> bool:
    """Whether a device name specifies the device type."""
    return DeviceSpec.from_string(name).device_type is not None


def _types() -> list[str]:
    return [*dict.fromkeys([d.device_type for d in list_physical_devices()])]


def _changes(level: Any, is_chosen: bool) -> bool:
    """Whether a block on a level's device has an effect: it decides where ops on accelerator tensors run."""
    was_chosen = isinstance(level, PlacedLevel) and level.is_chosen
    return was_chosen != is_chosen and bool(list_accelerators())


def _placed_on(level: Any) -> str:
    return level.device if isinstance(level, PlacedLevel) else DEVICE


def created_on() -> str:
    """The device for a variable that is created now, in a graph or eagerly."""
    level = door.level()
    if isinstance(level, Recorder):
        return (placed(level.device) if level.device else default_device()) or DEVICE
    return _placed_on(level)


def _log_absent(name: str) -> None:
    """Logs once that ops of a device which is not there run on the host."""
    if not OPTIONS.soft_placement or elsewhere(name) is not None or placed(name) is not None:
        return
    missing = full_name(name)
    if missing not in _LOGGED:
        _LOGGED.add(missing)
        logger().warning(
            "There is no device %s: its ops run on %s, since soft placement is on "
            "(tf.config.set_soft_device_placement). The devices are %s.",
            missing,
            DEVICE,
            available(),
        )


_LOGGED: set[str] = set()


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
