"""`AutoTrackable`: objects whose attributes checkpoints and saved models walk.

Follows https://www.tensorflow.org/guide/checkpoint, "Loading mechanics".
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

Hook = Callable[[Any, str, Any], None]
Method = TypeVar("Method", bound=Callable[..., Any])

# Where an object keeps the hooks that are notified of attributes: with the object, so that they
# are freed with it.
WAITING = "_self_waiting"


_TRACKS = "_self_setattr_tracking"


class Trackable:
    """An object that can be saved as a part of another."""

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Called with what is saved under `name`. Saving finds it among the attributes."""
        return trackable

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Called with what has become a part. What waits to be restored finds it by itself."""

    def _add_variable_with_custom_getter(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        getter: Any = None,
        overwrite: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The variable that `getter` makes of the arguments."""
        return getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs)


def no_automatic_dependency_tracking(method: Method) -> Method:
    """Decorates a method whose attributes are not to be saved.

    What is saved is found when saving begins, not noted while attributes are set. Classes that
    note it themselves ask `_self_setattr_tracking`, which is False while the method runs.
    """

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = self.__dict__.get(_TRACKS)
        self.__dict__[_TRACKS] = False
        try:
            return method(self, *args, **kwargs)
        finally:
            if before is None:
                self.__dict__.pop(_TRACKS, None)
            else:
                self.__dict__[_TRACKS] = before

    return untracked  # type: ignore[return-value]  # callable as the method is


class AutoTrackable(Trackable):
    """An object that is saved with the variables and trackable objects in its attributes.

    `tf.Module` is one. Other classes take part by being a subclass, or by a method
    `_trackable_children(save_type)` that returns the children by name.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        for hook in self.__dict__.get(WAITING, ()):
            hook(self, name, value)

    def _no_dependency(self, value: Any) -> Any:
        """The value: what is saved is found when saving begins."""
        return value

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """What is saved of the attributes, by name; subclasses leave out and add."""
        ignored: Any = getattr(self, "_TF_MODULE_IGNORED_PROPERTIES", ())
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ignored and is_trackable(value)
        }


def is_trackable(value: Any) -> bool:
    """True for what saving follows when it is an attribute or an element."""
    # Other classes of lists and dicts cannot be rebuilt.
    if type(value) in (list, dict, OrderedDict):
        return True
    if isinstance(value, tuple):
        return any(map(is_trackable, value))
    return has_children(value) or acts_as_variable(value)


def has_children(value: Any) -> bool:
    """True for an object that defines what of it is saved."""
    return hasattr(type(value), "_trackable_children")


def acts_as_variable(value: Any) -> bool:
    """True for an object of a library that wraps the variable in its `value`."""
    return getattr(type(value), "_should_act_as_resource_variable", False)


def when_set(owner: AutoTrackable, hook: Hook) -> None:
    """Calls `hook(owner, name, value)` for every attribute set from now on."""
    owner.__dict__[WAITING] = (*owner.__dict__.get(WAITING, ()), hook)
