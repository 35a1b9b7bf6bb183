"""`AutoTrackable`: objects whose attributes checkpoints and saved models walk.

Follows https://www.tensorflow.org/guide/checkpoint, "Loading mechanics".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Hook = Callable[[Any, str, Any], None]

# Where an object keeps the hooks that are told of attributes: with the object, so that they
# go when it goes.
WAITING = "_self_waiting"


class AutoTrackable:
    """An object that is saved with the variables and trackable objects in its attributes.

    `tf.Module` is one. Other classes take part by being a subclass, or by a method
    `_trackable_children(save_type)` that returns the children by name.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        for hook in self.__dict__.get(WAITING, ()):
            hook(self, name, value)


def when_set(owner: AutoTrackable, hook: Hook) -> None:
    """Calls `hook(owner, name, value)` for every attribute set from now on."""
    owner.__dict__[WAITING] = (*owner.__dict__.get(WAITING, ()), hook)
