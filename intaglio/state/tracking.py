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
# Where an object keeps the names of attributes set while it did not track them.
UNTRACKED = "_self_untracked_names"
# Where an object keeps what it was told to store where a later base class stored something else, by
# name: Keras' optimizers keep lists of a class of their own. What was set is what is saved.
REPLACED = "_self_replaced_values"


class _Replaced(dict[str, Any]):
    """A class of its own, for a plain dict in an attribute is saved."""


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


class TrackedStructure(Trackable):
    """A list, tuple or dict of a class that libraries' attributes have; it is saved as a plain one."""


def no_automatic_dependency_tracking(method: Method) -> Method:
    """Decorates a method: the attributes that it sets are not saved.

    While it runs, `_self_setattr_tracking` of the object is False, which `AutoTrackable` obeys.
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
        super().__setattr__(name, value)
        space = self.__dict__
        if _TRACKS in space or UNTRACKED in space:
            note(space, name)
        if REPLACED in space or (name in space and space[name] is not value):
            _note_replacement(space, name, value)
        for hook in space.get(WAITING, ()):
            hook(self, name, value)

    def _no_dependency(self, value: Any) -> Any:
        """The value: what is saved is found when saving begins."""
        return value

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """What is saved of the attributes, by name; subclasses leave out and add."""
        ignored: Any = getattr(self, "_TF_MODULE_IGNORED_PROPERTIES", ())
        untracked = vars(self).get(UNTRACKED, ())
        replaced = vars(self).get(REPLACED, {})
        return {
            name: value
            for name, stored in vars(self).items()
            if name not in ignored
            and name not in untracked
            and is_trackable(value := replaced.get(name, stored))
        }


def note(space: dict[str, Any], name: str) -> None:
    """Notes whether the attribute that is set in an object's `__dict__` is tracked."""
    if space.get(_TRACKS, True):
        space.get(UNTRACKED, set()).discard(name)
    elif name != _TRACKS:
        space.setdefault(UNTRACKED, set()).add(name)


def _note_replacement(space: dict[str, Any], name: str, value: Any) -> None:
    """Notes whether what was set as an attribute is stored there."""
    replaced: _Replaced = space.setdefault(REPLACED, _Replaced())
    if name in space and space[name] is not value:
        replaced[name] = value
    else:
        replaced.pop(name, None)


def is_trackable(value: Any) -> bool:
    """True for what saving follows when it is an attribute or an element."""
    # Other classes of lists and dicts cannot be rebuilt.
    if type(value) in (list, dict, OrderedDict) or isinstance(value, TrackedStructure):
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
