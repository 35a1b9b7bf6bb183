"""`AutoTrackable`: objects whose attributes checkpoints and saved models walk.

Follows https://www.tensorflow.org/guide/checkpoint, "Loading mechanics".
"""

from __future__ import annotations

import contextlib
import functools
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

Hook = Callable[[Any, str, Any], None]
Method = TypeVar("Method", bound=Callable[..., Any])

# The attribute with the hooks that are notified of new attributes: in the object, so that they are
# freed with it.
WAITING = "_self_waiting"


_TRACKS = "_self_setattr_tracking"
# The attribute with the names of attributes that were set without tracking.
UNTRACKED = "_self_untracked_names"
# The attribute with the assigned objects, by name, where a later base class stored another one: Keras'
# optimizers store lists of their own class. The assigned objects are saved.
REPLACED = "_self_replaced_values"


# The attribute with the explicitly added parts; libraries use the name.
PARTS = "_self_unconditional_dependency_names"
# Set in objects whose parts are explicit: Keras 2's layers set attributes past `AutoTrackable`.
EXPLICIT = "_self_parts_are_explicit"


_OWN = frozenset((_TRACKS, UNTRACKED, REPLACED, PARTS, EXPLICIT, WAITING))


class _Replaced(dict[str, Any]):
    """The value of `REPLACED`; not a plain dict, as that would be saved with the object."""


class _Parts(dict[str, Any]):
    """The value of `PARTS`; not a plain dict, as that would be saved with the object."""


class Trackable:
    """An object that can be saved as a part of another.

    Its own parts are those added by name (`_track_trackable`); subclasses also track attributes.
    """

    _object_identifier = "_generic_user_object"
    # Libraries list the attribute names of the class.
    _self_unconditional_dependency_names: Mapping[str, Any] = MappingProxyType({})

    @property
    def _unconditional_dependency_names(self) -> Mapping[str, Any]:
        """The explicit parts by name."""
        return self._self_unconditional_dependency_names

    @property
    def _setattr_tracking(self) -> bool:
        """Whether attributes that are set become parts."""
        return self.__dict__.get(_TRACKS, True)

    @_setattr_tracking.setter
    def _setattr_tracking(self, value: bool) -> None:
        self.__dict__[_TRACKS] = value

    def _maybe_initialize_trackable(self) -> None:
        """Called before the first part is tracked, which needs no preparation here."""

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Adds an object as a part under a name, which need not be an attribute's. Returns the object.

        Raises TypeError for what cannot be saved, ValueError if another part has the name.
        """
        if not is_trackable(trackable):
            raise TypeError(
                "Trackable._track_trackable() can only be used to track objects of type Trackable. Got type "
                f"{type(trackable)}."
            )
        present = self._lookup_dependency(name)
        if not (overwrite or present is None or present is trackable):
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this name is already "
                "declared as a dependency. Names must be unique (or overwrite=True)."
            )
        self.__dict__.setdefault(PARTS, _Parts())[name] = trackable
        self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _delete_tracking(self, name: str) -> None:
        """Removes the part of that name; an attribute of the name stays."""
        self.__dict__.get(PARTS, {}).pop(name, None)
        if name in self.__dict__:
            self.__dict__.setdefault(UNTRACKED, set()).add(name)

    def _lookup_dependency(
        self, name: str, cached_dependencies: Mapping[str, Any] | None = None
    ) -> Any:
        """The part of that name, or None."""
        if cached_dependencies is not None:
            return cached_dependencies.get(name)
        return self.__dict__.get(PARTS, {}).get(name)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The parts by name; subclasses leave out and add."""
        return dict(self.__dict__.get(PARTS, ()))

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Restores the object from pending restorations that have a part of that name."""
        for hook in self.__dict__.get(WAITING, ()):
            hook(self, name, trackable)

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
        """Creates a variable by `getter`, and adds it as a part under its name."""
        variable = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs)
        if not is_trackable(variable):
            return variable
        return self._track_trackable(variable, name, overwrite)


class NoDependency:
    """A wrapper for an attribute's value that excludes it from tracking."""

    def __init__(self, value: Any) -> None:
        self.value = value


class TrackedStructure(Trackable):
    """The base class of libraries' lists, tuples and dicts in attributes, which are saved as plain ones."""


@contextlib.contextmanager
def not_tracking(owner: Any) -> Generator[None]:
    """Excludes attributes of `owner` set in the block from saving: `_self_setattr_tracking` is False."""
    space = owner.__dict__
    before, names = space.get(_TRACKS), set(space)
    space[_TRACKS] = False
    try:
        yield
    finally:
        if before is None:
            space.pop(_TRACKS, None)
        else:
            space[_TRACKS] = before
        if space.keys() - names - space.get(UNTRACKED, set()) - _OWN:
            space[EXPLICIT] = True  # set past `AutoTrackable`, as Keras 2's layers do


def no_automatic_dependency_tracking(method: Method) -> Method:
    """Decorates a method: the attributes that it sets are not saved.

    While it runs, `_self_setattr_tracking` of the object is False, which `AutoTrackable` obeys.
    """

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with not_tracking(self):
            return method(self, *args, **kwargs)

    return untracked  # type: ignore[return-value]  # callable as the method is


class AutoTrackable(Trackable):
    """An object whose variables and trackable objects among its attributes are saved.

    `tf.Module` is one. Other classes take part by being a subclass, or by a method
    `_trackable_children(save_type)` that returns the children by name.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if type(value) is NoDependency:
            super().__setattr__(name, value.value)
            self.__dict__.setdefault(UNTRACKED, set()).add(name)
            return
        space = self.__dict__
        kept = name in space and space[name] is value
        super().__setattr__(name, value)
        if (_TRACKS in space or UNTRACKED in space) and not (kept and space.get(_TRACKS) is False):
            note(space, name)  # `self.x += [y]` leaves a part what it is
        if REPLACED in space or (name in space and space[name] is not value):
            _note_replacement(space, name, value)
        for hook in space.get(WAITING, ()):
            hook(self, name, value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self.__dict__.get(PARTS, {}).pop(name, None)

    def _no_dependency(self, value: Any) -> Any:
        """A wrapper of a value that is assigned to an attribute without being saved."""
        return NoDependency(value)

    def _lookup_dependency(
        self, name: str, cached_dependencies: Mapping[str, Any] | None = None
    ) -> Any:
        space = vars(self)
        if cached_dependencies is None and EXPLICIT not in space:
            value = space.get(name)
            if is_trackable(value) and name not in space.get(UNTRACKED, ()):
                return value
        return super()._lookup_dependency(name, cached_dependencies)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The parts by name: those added explicitly, then the tracked attributes."""
        parts = super()._trackable_children(save_type, **kwargs)
        if save_type == "savedmodel":  # a function whose attribute was deleted cannot be called
            parts = {n: v for n, v in parts.items() if not _is_stale(self, n, v)}
        if EXPLICIT in vars(self):
            return parts
        ignored: Any = getattr(self, "_TF_MODULE_IGNORED_PROPERTIES", ())
        untracked = vars(self).get(UNTRACKED, ())
        replaced = vars(self).get(REPLACED, {})
        attributes = {
            name: value
            for name, stored in vars(self).items()
            if name not in ignored
            and name not in untracked
            and is_trackable(value := replaced.get(name, stored))
        }
        # Parts that are also attributes are in the order of the attributes.
        return {n: v for n, v in parts.items() if n not in attributes} | attributes


def _is_stale(owner: Any, name: str, part: Any) -> bool:
    return hasattr(type(part), "function_type") and vars(owner).get(name) is not part


def note(space: dict[str, Any], name: str) -> None:
    """Notes whether the attribute that is set in an object's `__dict__` is tracked."""
    if space.get(_TRACKS, True):
        space.get(UNTRACKED, set()).discard(name)
    elif name != _TRACKS:
        space.setdefault(UNTRACKED, set()).add(name)


def _note_replacement(space: dict[str, Any], name: str, value: Any) -> None:
    """Notes whether a later base class has stored another object than the one assigned."""
    replaced: _Replaced = space.setdefault(REPLACED, _Replaced())
    if name in space and space[name] is not value:
        replaced[name] = value
    else:
        replaced.pop(name, None)


def is_trackable(value: Any) -> bool:
    """True for an object that is saved if it is an attribute or an element of one."""
    # Other classes of lists and dicts cannot be rebuilt.
    if type(value) in (list, dict, OrderedDict) or isinstance(value, TrackedStructure):
        return True
    if isinstance(value, tuple):
        return any(map(is_trackable, value))
    return has_children(value) or acts_as_variable(value)


def has_children(value: Any) -> bool:
    """True for an object that defines its parts, by `_trackable_children`."""
    return hasattr(type(value), "_trackable_children")


def acts_as_variable(value: Any) -> bool:
    """True for a library's object that wraps a variable in its attribute `value`."""
    return getattr(type(value), "_should_act_as_resource_variable", False)


def when_set(owner: Trackable, hook: Hook) -> None:
    """Calls `hook(owner, name, value)` for every attribute set and every part added from now on."""
    owner.__dict__[WAITING] = (*owner.__dict__.get(WAITING, ()), hook)
