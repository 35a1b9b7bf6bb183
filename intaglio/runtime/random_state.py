"""Seeds and streams: the state of the random ops.

Follows https://www.tensorflow.org/api_docs/python/tf/random/set_seed. The global seed and
an op's own seed become the attributes (seed, seed2) of a stateful random op; (0, 0) means
that the stream starts anywhere. Setting the global seed starts every stream again.
"""

from __future__ import annotations

import os
import random
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from intaglio.base.locks import lasting_lock
from intaglio.base.options import OPTIONS
from intaglio.opdef import door
from intaglio.opdef.op import Op
from intaglio.ops.random import philox

DEFAULT_GRAPH_SEED = 87654321
MAX_SEED = 2**31 - 1
# Maximum number of eager streams; the least recently used is dropped first.
MAX_REMEMBERED_STREAMS = 1 << 16


def fresh_bits(count: int) -> int:
    """An unpredictable number of `count` bits, at most 64."""
    return int.from_bytes(os.urandom(8)) >> (64 - count)


class Counters:
    """The state of a stateful random op: allocates consecutive ranges of its Philox counters."""

    __slots__ = ("_epoch", "_kept", "_lock", "_seeds", "_stream")

    def __init__(self, seed: int, seed2: int) -> None:
        self._seeds = (seed, seed2)
        self._lock = lasting_lock()
        self._start()

    def _start(self) -> None:
        seed, seed2 = self._seeds
        if not seed and not seed2:
            seed, seed2 = fresh_bits(64), fresh_bits(64)
        self._epoch = SEEDS.epoch
        self._stream = philox.from_seed(seed, seed2)
        self._kept: Any = None

    def _renew(self) -> None:
        """Starts again if the global seed was set since."""
        if self._epoch != SEEDS.epoch:
            self._start()

    def _drawn_from(self) -> Counters:
        """The state that this thread draws from: a copy in a block of `replaying`."""
        return _replay.copies.get(id(self), self)

    def exchange(self, change: Callable[[Any], Any]) -> Any:
        """Returns an op's additional state, None at first, and replaces it by `change` of it."""
        state = self._drawn_from()
        with state._lock:
            state._renew()
            kept = state._kept
            state._kept = change(kept)
            return kept

    def take(self, blocks: int) -> philox.Stream:
        """The stream at the current position, which advances by `blocks` counters."""
        state = self._drawn_from()
        with state._lock:
            state._renew()
            here = state._stream
            state._stream = here.skipped(blocks)
            return here

    def mark(self) -> tuple[int, philox.Stream, Any]:
        """The current position of the stream, for `reset`."""
        state = self._drawn_from()
        with state._lock:
            return state._epoch, state._stream, state._kept

    def reset(self, mark: tuple[int, philox.Stream, Any]) -> None:
        """Resets the stream to a mark: numbers drawn since are drawn again."""
        state = self._drawn_from()
        with state._lock:
            if state._epoch == mark[0]:
                _, state._stream, state._kept = mark


class _Copy(Counters):
    """The state of a stream from a mark on; it does not start again when the global seed is set."""

    __slots__ = ()

    def __init__(self, mark: tuple[int, philox.Stream, Any]) -> None:
        self._lock = lasting_lock()
        self._epoch, self._stream, self._kept = mark

    def _renew(self) -> None:
        pass


class _Replay(threading.local):
    """The copies that a thread draws from, by the ids of their streams."""

    copies: Mapping[int, Counters] = MappingProxyType({})


_replay = _Replay()


@contextmanager
def replaying(marks: Iterable[tuple[Counters, tuple[int, philox.Stream, Any]]]) -> Generator[None]:
    """Lets this thread draw from copies of streams, at these marks, in the block.

    The streams themselves, which other threads draw from, go on.
    """
    outer = _replay.copies
    _replay.copies = {id(stream): _Copy(mark) for stream, mark in marks}
    try:
        yield
    finally:
        _replay.copies = outer


class _Seeds:
    """The global seed, and the sequence of op seeds that eager calls get from it."""

    def __init__(self) -> None:
        self.epoch = 0
        self.seed: int | None = None
        self._sequence = random.Random(None)
        self._eager: OrderedDict[Any, Counters] = OrderedDict()
        self._lock = lasting_lock()

    def set(self, seed: int | None) -> None:
        """Sets the global seed; every stream starts again."""
        with self._lock:
            self.seed = seed
            self.epoch += 1
            self._sequence = random.Random(seed)
            self._eager.clear()

    def next_op_seed(self) -> int:
        """The op seed of an eager call that was given none."""
        with self._lock:
            return self._sequence.randint(0, MAX_SEED)

    def for_node(self, op: Op, attrs: dict[str, Any]) -> Counters:
        """The state of one node of a graph."""
        return Counters(attrs["seed"], attrs["seed2"])

    def for_call(self, op: Op, types: dict[str, Any], attrs: dict[str, Any]) -> Counters:
        """The state that eager calls of the op with these attributes share."""
        key = (op.name, *types.values(), *attrs.values())
        with self._lock:
            found = self._eager.get(key)
            if found is None:
                found = self._eager[key] = Counters(attrs["seed"], attrs["seed2"])
                if len(self._eager) > MAX_REMEMBERED_STREAMS:
                    self._eager.popitem(last=False)
            else:
                self._eager.move_to_end(key)
            return found


SEEDS = _Seeds()


def set_seed(seed: Any) -> None:
    """Sets the global seed: of the graph being recorded, or of the program. See the module."""
    graph = getattr(door.level(), "graph", None)
    if graph is not None:
        graph.seed = seed
    else:
        SEEDS.set(seed)


def global_seed() -> int | None:
    """The current global seed here: functions have that of where they are traced."""
    for level in reversed(door.stack().levels):
        graph = getattr(level, "graph", None)
        if graph is None:
            return SEEDS.seed
        if graph.seed is not None or not graph.building_function:
            return graph.seed
    return SEEDS.seed


def op_seeds(op_seed: int | None) -> tuple[int, int]:
    """The attributes (seed, seed2) for an op with the user's `op_seed`.

    Raises RuntimeError if there is no seed, where every run must give the same.
    """
    graph = getattr(door.level(), "graph", None)
    wide = global_seed()
    if wide is None and op_seed is None:
        if OPTIONS.deterministic:
            raise RuntimeError(
                "Random ops require a seed to be set when determinism is enabled. Please set a seed before running "
                "the op, e.g. by calling tf.random.set_seed(1)."
            )
        return 0, 0
    if wide is None:
        wide = DEFAULT_GRAPH_SEED
    elif op_seed is None:
        op_seed = SEEDS.next_op_seed() if graph is None else _count(graph)
    seeds = int(wide) % MAX_SEED, int(op_seed) % MAX_SEED  # type: ignore[arg-type]  # both are numbers here
    return (0, MAX_SEED) if seeds == (0, 0) else seeds


def _count(graph: Any) -> int:
    """0, 1, 2, ... for the random ops that one graph records."""
    graph.random_ops = count = getattr(graph, "random_ops", -1) + 1
    return count
