"""Declared state: Python attributes that traced functions read at each call, and write back after it.

Each has a variable of its own. While a function is traced the attribute is a tensor, which is read from
the variable at the beginning and assigned to it at the end. A call copies the attribute to the variable
before the graph runs, and back afterwards.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from intaglio.autograph.watches import note_attribute
from intaglio.opdef import convert, door
from intaglio.state.variable import Variable


class State:
    """A declared attribute of an object, with its variable."""

    __slots__ = ("_last", "name", "reference", "variable")

    def __init__(self, owner: Any, name: str) -> None:
        self.reference = weakref.ref(owner)
        self.name = name
        value = getattr(owner, name)
        self.variable = Variable(value, trainable=False, name=name)
        self._last: Any = value

    def take(self) -> None:
        """Copies the attribute to the variable. Raises TypeError for a value of another type."""
        owner = self.reference()
        value = getattr(owner, self.name)
        if value is self._last:
            return
        try:
            self.variable.assign(convert.to_tensor(value, self.variable.dtype))
        except (TypeError, ValueError) as e:
            kind = f"{self.variable.dtype.name} of shape {self.variable.shape}"
            raise TypeError(
                f"python_state: '{self.name}' is {kind}, and was set to {value!r}"
            ) from e
        self._last = value

    def put(self) -> None:
        """Copies the variable to the attribute: as a Python number, or as an array."""
        value = np.asarray(self.variable.numpy())
        self._last = value.item() if value.ndim == 0 else value
        setattr(self.reference(), self.name, self._last)


_states: dict[tuple[int, str], State] = {}


def python_state(obj: Any, *names: str) -> None:
    """Makes attributes of an object state of the traced functions that read or set them.

    A call uses their values at that time, and sets them to what the function has left in them:
    numbers, or arrays of fixed shapes. A name may have dots: `"schedule.step"`. Functions
    that read them already are traced with their old values; declare the state first. Calls of
    functions with state take some microseconds more for each attribute.

    Raises TypeError for an object without weak references or a value that no tensor can hold,
    AttributeError for a name that the object lacks, RuntimeError in a traced function.

    >>> class Model:
    ...     steps = 0
    >>> model = Model()
    >>> intaglio.python_state(model, "steps")
    >>> @tf.function
    ... def step(x):
    ...     model.steps += 1
    ...     return x * model.steps
    >>> [int(step(tf.constant(10))) for _ in range(3)], model.steps
    ([10, 20, 30], 3)
    """
    if not door.level().eager:
        raise RuntimeError("python_state: declare the attributes outside of traced functions")
    for name in names:
        *path, last = name.split(".")
        owner = obj
        for part in path:
            owner = getattr(owner, part)
        key = id(owner), last
        known = _states.get(key)
        if known is None or known.reference() is not owner:
            _states[key] = State(owner, last)
            weakref.finalize(owner, _states.pop, key, None)


class Begun:
    """The declared attributes that one trace uses, which are tensors of its graph until it ends."""

    def __init__(self) -> None:
        self.before: list[tuple[State, Any, Any, Any]] = []
        for state in list(_states.values()):
            owner = state.reference()
            if owner is not None:
                note_attribute(owner, state.name)  # a block may be around the trace
                tensor = state.variable.read_value()
                self.before.append((state, owner, getattr(owner, state.name), tensor))
                setattr(owner, state.name, tensor)

    def assign(self) -> tuple[State, ...]:
        """Records the assignments to what has changed; the states that the trace reads or changes."""
        used: list[State] = []
        for state, owner, _, tensor in self.before:
            now = getattr(owner, state.name)
            if now is not tensor:
                state.variable.assign(convert.to_tensor(now, state.variable.dtype))
                used.append(state)
            elif any(i is tensor for n in tensor.graph.nodes for i in n.inputs):
                used.append(state)
            else:
                tensor.graph.drop_read(state.variable, tensor)
        return tuple(used)

    def restore(self) -> None:
        """Restores the Python values of the attributes."""
        for state, owner, value, _ in self.before:
            setattr(owner, state.name, value)


def hand_over(states: Iterable[State]) -> None:
    """Called before a trace calls another one: assigns the current tensors to the variables."""
    for state in states:
        value = getattr(state.reference(), state.name)
        state.variable.assign(convert.to_tensor(value, state.variable.dtype))


def take_back(states: Iterable[State]) -> None:
    """Called after a trace has called another one: reads the variables, which that may have changed."""
    for state in states:
        owner = state.reference()
        note_attribute(owner, state.name)
        setattr(owner, state.name, state.variable.read_value())


__all__ = ["Begun", "State", "hand_over", "python_state", "take_back"]
