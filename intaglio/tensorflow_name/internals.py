"""What stands behind `tf.__internal__` for libraries such as Keras 2."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Generator
from typing import Any

from intaglio.autograph import api
from intaglio.autograph.calls import converted_call
from intaglio.base.dtypes import float32
from intaglio.base.threads import Inherited
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.compat_v1.variable_scopes import get_variable
from intaglio.opdef import convert, door, raw
from intaglio.ops.control_flow.xla_modules import MAX_VERSION
from intaglio.state.tracking import AutoTrackable, Trackable
from intaglio.trace import scopes


class ControlStatusCtx:
    """Whether code of the block is converted by AutoGraph; what is called decides that here."""

    def __init__(self, status: Any = None, options: Any = None) -> None:
        self.status = status
        self.options = options

    def __enter__(self) -> ControlStatusCtx:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def control_status_ctx() -> ControlStatusCtx:
    """How the current code is converted."""
    return ControlStatusCtx()


def tf_convert(
    f: Any, ctx: Any, convert_by_default: bool = True, user_requested: bool = False
) -> Any:
    """The function, converted by AutoGraph where it is called inside a graph."""
    if getattr(f, "_autograph_artifact", False) or hasattr(f, "__ag_compiled"):
        return f

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        if scopes.executing_eagerly():
            return f(*args, **kwargs)
        return converted_call(f, args, kwargs)

    vars(called)["_autograph_artifact"] = True
    return api.do_not_convert(called)


def should_record_backprop(tensors: Any) -> bool:
    """True if a tape watches one of the tensors."""
    found = [convert.to_tensor(t) for t in tensors if t is not None]
    return any(watcher.depends(found) for watcher in door.level().watchers)


def get_name_scope() -> str:
    """The current name scope."""
    return "" if scopes.executing_eagerly() else get_default_graph().get_name_scope()


def no_callback(*_: Any, **__: Any) -> None:
    """Registers nothing: TensorFlow 1's sessions and Keras' classes need no callbacks here."""


def nothing(*_: Any, **__: Any) -> list[Any]:
    """An empty list: there are no devices that a plugin brings."""
    return []


def never() -> bool:
    """False."""
    return False


def execute_fn_for_device(device_branches: dict[str, Any], default_fn: Any, name: str = "") -> Any:
    """What the function for the host returns, or the default one."""
    return device_branches.get("CPU", default_fn)()


def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = False, name: str | None = None
) -> Any:
    """variable = variable * decay + value * (1 - decay), in place. Returns the variable's new value."""
    dtype = variable.dtype.base_dtype
    rate = raw.Sub(raw.Cast(1.0, DstT=dtype), raw.Cast(decay, DstT=dtype))
    change = raw.Mul(raw.Sub(variable.read_value(), raw.Cast(value, DstT=dtype)), rate)
    return variable.assign_sub(change)


def add_variable(
    trackable: Any,
    name: str,
    shape: Any = None,
    dtype: Any = float32,
    initializer: Any = None,
    trainable: bool = True,
) -> Any:
    """A variable that is a part of an object under its name. Raises ValueError if there is one already."""
    return trackable._add_variable_with_custom_getter(
        name=name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        getter=get_variable,
        trainable=trainable,
    )


class DelegatingTrackableMixin:
    """An object that is saved as another one is."""

    def __init__(self, trackable_obj: Any) -> None:
        self._trackable = trackable_obj

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return self._trackable._trackable_children(save_type, **kwargs)

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        return self._trackable._track_trackable(trackable, name, overwrite)

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        return self._trackable._lookup_dependency(name, cached_dependencies)

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        self._trackable._handle_deferred_dependencies(name, trackable)

    def _add_variable_with_custom_getter(self, name: str, **kwargs: Any) -> Any:
        return self._trackable._add_variable_with_custom_getter(name, **kwargs)

    @property
    def _object_identifier(self) -> str:
        return self._trackable._object_identifier


class NoDistributedDataset:
    """A dataset of several hosts. There is one; nothing has this class."""


class NoDataset:
    """A class of datasets or columns that Keras 2 names. Nothing has this class."""


class KerasModeKeys:
    """What a model is run for."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"


class _Loading(Inherited):
    """The options of the SavedModels that are being loaded, the innermost last."""

    def __init__(self) -> None:
        self.options: list[Any] = []


_loading = _Loading()


@contextlib.contextmanager
def load_context(load_options: Any) -> Generator[None]:
    """A model is loaded in the block, with these options."""
    _loading.options.append(load_options)
    try:
        yield
    finally:
        _loading.options.pop()


def in_load_context() -> bool:
    """True while a model is loaded."""
    return bool(_loading.options)


def get_load_options() -> Any:
    """The options with which a model is being loaded, or None."""
    return _loading.options[-1] if _loading.options else None


def maximum_module_version() -> int:
    """The newest calling convention of StableHLO modules that can be called."""
    return MAX_VERSION


def no_variadic_reduce(*_: Any, **__: Any) -> Any:
    """Raises NotImplementedError: XLA's own ops are not called."""
    raise NotImplementedError("xla.variadic_reduce is an op of XLA's. Use tf.reduce_* instead.")


__all__ = ["AutoTrackable", "Trackable"]
