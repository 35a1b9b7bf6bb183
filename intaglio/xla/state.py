"""What a program reads and writes besides its arguments: variables and streams of random numbers.

Effects are values while a program is traced. A `State` has the present value of each resource;
reads and writes follow the order of the graph's nodes, and what was written is a result of the
program. In a branch or body a copy is written, which `control_flow` makes a result of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from intaglio.base.dtypes import RESOURCE_MARKER
from intaglio.opdef.spec import Spec
from intaglio.ops.random.philox import MASK64
from intaglio.runtime.resources import of_other_shape
from intaglio.xla.arrays import Array, unwrapped, wrapped
from intaglio.xla.values import Untraceable


class Cell(NamedTuple):
    """The key of a value that is the program's own, zeros in the beginning: a check has one for each operand."""

    check: int
    operand: int
    shape: tuple[int, ...]
    dtype: Any


# The number of the first check that has failed, or 0.
FAILED = Cell(0, 0, (), np.dtype(np.int32))


class State:
    """The values of resources, by key."""

    def __init__(self, values: dict[Hashable, Any]) -> None:
        self.values = values
        self.written: dict[Hashable, None] = {}
        # Of resources whose values are rows of one: its key, and the row.
        self.rows: Mapping[Any, tuple[Hashable, int]] = {}
        # By stream, the blocks drawn from it; None where that follows from data, as in loops and branches.
        self.distances: dict[Hashable, int | None] = {}
        # The mesh of the program's replicas, in a list that all states of a program share.
        self.meshes: list[Any] = []
        # Whether the program is one of all processes of a cluster, with an axis for these.
        self.spans = False
        # What notes checks of data (`intaglio.xla.checks`); None where the program carries none out.
        self.checks: Any = None

    def read(self, key: Hashable) -> Any:
        """The present value. Raises Untraceable if there is none."""
        if key in self.rows:
            whole, row = self.rows[key]
            return self.values[whole][row]
        value = self.values.get(key)
        if value is None and isinstance(key, Cell):
            return jnp.zeros(key.shape, key.dtype)
        if value is None:
            raise Untraceable("a variable that it reads has no value yet")
        return value

    def has(self, key: Hashable) -> bool:
        """Whether there is a value."""
        return key in self.rows or self.values.get(key) is not None

    def write(self, key: Hashable, value: Any) -> None:
        """Makes a value the resource's, unless a check has failed before."""
        if key in self.rows:
            key, row = self.rows[key]
            value = self.values[key].at[row].set(value)
        self.take(key, self._unless_failed(key, value))

    def _unless_failed(self, key: Hashable, value: Any) -> Any:
        """What a variable has after a write: what it had, if a check has failed before."""
        failed, before = self.values.get(FAILED), self.values.get(key)
        if failed is None or before is None or not isinstance(key, (int, tuple)):
            return value
        if isinstance(key, Cell):
            return value
        if np.shape(before) != np.shape(value):
            raise Untraceable("a variable gets another shape after an assertion")
        return jnp.where(failed == 0, value, before)

    def take(self, key: Hashable, value: Any) -> None:
        """Makes a value that a branch or body has written the resource's."""
        self.distances[key] = None
        self.values[key] = value
        self.written[key] = None

    def divide(self, mesh: Any) -> None:
        """Notes the mesh of replicas. Raises Untraceable if the program has another one."""
        if self.meshes and self.meshes[0] != mesh:
            raise Untraceable("other replicas of the program run on other devices")
        self.meshes[:] = [mesh]

    def copy(self) -> State:
        """A state for a branch or body, with nothing written."""
        copied = State(dict(self.values))
        copied.rows, copied.meshes, copied.checks = self.rows, self.meshes, self.checks
        copied.spans = self.spans
        return copied


@jax.tree_util.register_pytree_node_class
class Variable:
    """A handle of a variable: the value of a tensor of dtype resource while a program is traced.

    `key` finds the variable's value in the state. It is a tree without leaves for jax.
    """

    dtype = RESOURCE_MARKER

    def __init__(self, key: Hashable, spec: Spec) -> None:
        self.key = key
        self.spec = spec

    def tree_flatten(self) -> tuple[tuple[()], Any]:
        """For jax."""
        return (), (self.key, self.spec)

    @classmethod
    def tree_unflatten(cls, static: Any, leaves: Any) -> Variable:
        """For jax."""
        return cls(*static)

    def within(self, state: State) -> Resource:
        """The variable for kernels, whose storage is the state."""
        return Resource(self, state)


class Resource:
    """A variable as kernels see it: `intaglio.runtime.resources.Resource`, on a `State`."""

    dtype = RESOURCE_MARKER
    lock = nullcontext()

    def __init__(self, variable: Variable, state: State) -> None:
        self._variable = variable
        self._state = state
        self.spec = variable.spec

    @property
    def initialized(self) -> bool:
        """True if the state has a value."""
        return self._state.has(self._variable.key)

    def read(self) -> Any:
        """The present value."""
        return wrapped(self._state.read(self._variable.key))

    def assign(self, value: Any) -> None:
        """Makes the value the variable's."""
        self._state.write(self._variable.key, unwrapped(value))

    def accumulate(self, ufunc: Any, delta: Any) -> None:
        """value = ufunc(value, delta), where the shapes are the same."""
        before = self.read()
        if before.shape != delta.shape:
            raise of_other_shape(before.shape, delta.shape)
        self.assign(ufunc(before, delta))

    def modify(self, change: Callable[[Any], None], dtype: Any = None) -> None:
        """Calls `change` with an array that it may write to."""
        array = Array(self._state.read(self._variable.key))
        change(array)
        self.assign(array)


class Stream:
    """A Philox stream whose key and counter are known only when the program runs."""

    def __init__(self, key: Any, low: Any, high: Any) -> None:
        self.key, self.low, self.high = key, low, high

    def __iter__(self) -> Iterator[Any]:
        return iter((self.key, self.low, self.high))

    def skipped(self, blocks: int) -> Stream:
        """The stream `blocks` blocks later."""
        step, above = np.uint64(blocks & MASK64), np.uint64(blocks >> 64)
        low = self.low + step
        return Stream(self.key, low, self.high + (low < step).astype(jnp.uint64) + above)


class Counters:
    """The state of a random op, as its kernel takes it: `runtime.random_state.Counters`."""

    def __init__(self, key: Hashable, state: State) -> None:
        self._key = key
        self._state = state

    def take(self, blocks: int) -> Stream:
        """The stream from here on, of which `blocks` counters are set aside."""
        words = self._state.read(self._key)
        distances = self._state.distances
        known = distances.get(self._key, 0)
        here = Stream(words[0], words[1], words[2])
        later = here.skipped(blocks)
        self._state.write(self._key, jnp.stack([later.key, later.low, later.high]))
        distances[self._key] = None if known is None else known + blocks
        return here

    def exchange(self, *args: Any) -> Any:
        """Raises Untraceable: how far the stream is moved depends on what is drawn."""
        raise Untraceable("how many random numbers it draws depends on them")


__all__ = ["FAILED", "Cell", "Counters", "Resource", "State", "Stream", "Variable"]
