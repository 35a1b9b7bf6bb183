"""Lists, tuples and dicts by which Keras 2 and TensorFlow replace those in attributes of layers and models.

Intaglio's own modules keep attributes as they are. A layer of Keras 2 finds the layers, metrics and weights that
stand in a list by the list's class, and asks it again each time: what is appended later belongs to the layer as well.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from intaglio.state.module import Module
from intaglio.state.tracking import (
    EXPLICIT,
    NoDependency,
    Trackable,
    TrackedStructure,
    is_trackable,
)
from intaglio.state.variable import Variable


class TrackableDataStructure(TrackedStructure):
    """What the wrapped lists, tuples and dicts have in common: the variables of what they hold."""

    trainable = True

    def _elements(self) -> Iterable[Any]:
        return ()

    @property
    def _values(self) -> list[Any]:
        """The trackable objects inside, lists and dicts among them wrapped."""
        wrapped = (wrap_or_unwrap(value) for value in self._elements())
        return [v for v in wrapped if isinstance(v, (Trackable, Variable))]

    @property
    def layers(self) -> list[Any]:
        """The layers inside, with those of lists inside."""
        found: list[Any] = []
        for value in self._values:
            if isinstance(value, TrackableDataStructure):
                found += value.layers
            elif isinstance(value, Module):
                found.append(value)
        return found

    def _variables(self, kind: str, own: bool | None) -> list[Any]:
        found: list[Any] = []
        for value in self._values:
            if isinstance(value, Variable):
                found += [value] if own is None or value.trainable is own else []
            elif isinstance(value, (TrackableDataStructure, Module)):
                found += getattr(value, kind)
        return found

    @property
    def trainable_variables(self) -> list[Any]:
        """The trainable variables inside."""
        return self._variables("trainable_variables", True) if self.trainable else []

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The variables inside that are not trained."""
        return self._variables("non_trainable_variables", False)

    @property
    def variables(self) -> list[Any]:
        """The variables inside."""
        return self._variables("variables", None)

    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables
    weights = variables


class ListWrapper(TrackableDataStructure, list[Any]):
    """A list in an attribute."""

    def _elements(self) -> Iterable[Any]:
        return iter(self)

    def __repr__(self) -> str:
        return f"ListWrapper({[wrap_or_unwrap(v) for v in self]!r})"


class _TupleWrapper(TrackableDataStructure, tuple[Any, ...]):
    """A tuple with trackable elements in an attribute."""

    def _elements(self) -> Iterable[Any]:
        return iter(self)

    def __str__(self) -> str:
        return repr(tuple(map(wrap_or_unwrap, self)))

    def __repr__(self) -> str:
        return f"_TupleWrapper({self})"


class _DictWrapper(TrackableDataStructure, dict[Any, Any]):
    """A dict in an attribute."""

    def _elements(self) -> Iterable[Any]:
        return self.values()

    def __str__(self) -> str:
        return repr({k: wrap_or_unwrap(v) for k, v in self.items()})

    def __repr__(self) -> str:
        return f"DictWrapper({self})"


class _OrderedDictWrapper(TrackableDataStructure, OrderedDict[Any, Any]):
    """An ordered dict in an attribute."""

    def _elements(self) -> Iterable[Any]:
        return self.values()

    def __str__(self) -> str:
        return repr(OrderedDict((k, wrap_or_unwrap(v)) for k, v in self.items()))

    def __repr__(self) -> str:
        return f"DictWrapper({self})"


# By the class of the value. Subclasses of these stay as they are.
_WRAPPERS: dict[type, Any] = {
    list: ListWrapper,
    dict: _DictWrapper,
    OrderedDict: _OrderedDictWrapper,
}


def wrap_or_unwrap(value: Any) -> Any:
    """A list or dict as a wrapped one, a tuple if something in it is tracked; the value of NoDependency."""
    if isinstance(value, NoDependency):
        return value.value
    wrapper = _WRAPPERS.get(type(value))
    if wrapper is not None:
        return wrapper(value)
    if type(value) is tuple and any(
        isinstance(wrap_or_unwrap(v), (Trackable, Variable)) for v in value
    ):
        return _TupleWrapper(value)
    return value


def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """What an attribute gets: the value, lists and dicts wrapped, which becomes a part unless it is untracked.

    Layers of Keras 2 call it for each attribute that is tracked, and set it past `AutoTrackable`.
    """
    vars(trackable)[EXPLICIT] = True
    if isinstance(value, NoDependency):
        return value.value
    if not getattr(trackable, "_self_setattr_tracking", True):
        return value
    wrapped = wrap_or_unwrap(value)
    if is_trackable(wrapped):
        trackable._track_trackable(wrapped, name, overwrite=True)
    return wrapped
