"""Runs a function in each replica of this process: in threads, of which one runs at a time.

A replica's thread runs until it calls `merge_call` or ends; then the next one does. When all of
them wait, the thread that started them calls the merged function once, and hands the results
back. The order is fixed, so that a trace records the same graph and eager code the same numbers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from intaglio.base.threads import inheriting
from intaglio.distribute.contexts import (
    Context,
    ReplicaContext,
    cross_replica,
    merge_in_inner_graph,
    pushed,
)
from intaglio.distribute.values import of_replica, regrouped
from intaglio.opdef import door
from intaglio.runtime.eager import EagerLevel
from intaglio.trace.recorder import Recorder
from intaglio.trace.scopes import device

# What a recorder has that belongs to the code which runs, not to its graph.
_SCOPES = ("scope", "control", "_controlled", "device", "colocated", "overrides", "watchers")


class _Ended(BaseException):
    """Ends a replica that waits for others, of which one has failed."""


class _Replica(ReplicaContext):
    """A replica and its thread."""

    def __init__(
        self, strategy: Any, index: int, call: Callable[[], Any], variables: list[Any]
    ) -> None:
        super().__init__(strategy, strategy.extended._replica_ids[index])
        self.index = index
        # What the replicas of a run have created: the first creates, the others get the same.
        self._variables, self._created = variables, 0
        self.result: Any = None
        self.error: BaseException | None = None
        self.merged: tuple[Any, ...] | None = None
        self._is_ended = False
        self._call = call
        self._go, self._paused = threading.Semaphore(0), threading.Semaphore(0)
        self._level = door.level()
        # Graphs that enclose the one which is recorded: its captures may be theirs.
        self._recorders = [level for level in door.stack().levels if not level.eager]
        # Tapes around the run see nothing of its replicas, which are threads: as with TensorFlow.
        self._scopes = {**_scopes_of(self._level), "watchers": []}
        self._thread = threading.Thread(
            target=inheriting(self._run), name=f"replica {index}", daemon=True
        )
        self._thread.start()

    @property
    def devices(self) -> list[Any]:
        """The device of this replica, in a list of such lists, as TensorFlow has it."""
        return [[self._strategy.extended.worker_devices[self.index]]]

    def advance(self) -> None:
        """Runs the replica until it waits or ends."""
        outer = _scopes_of(self._level)
        _restore(self._level, self._scopes)
        self.merged = None
        self._go.release()
        try:
            self._paused.acquire()
        finally:
            self._scopes = _scopes_of(self._level)
            _restore(self._level, outer)

    def end(self) -> None:
        """Ends the thread if it waits."""
        if self._thread.is_alive() and not self._is_ended:
            self._is_ended = True
            self._go.release()
            self._thread.join()

    def created(self, create: Callable[[], Any]) -> Any:
        """A variable: the one that another replica has created as its n-th, or a new one."""
        number, self._created = self._created, self._created + 1
        if number == len(self._variables):
            self._variables.append(create())
        return self._variables[number]

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """`merge_fn(strategy, *args)`, called once for all replicas; returns this one's result.

        Raises RuntimeError in the trace of another function or control flow, and for a replica that
        does not run: one that has ended, or one that a tape around `strategy.run` differentiates.
        """
        here = door.level()
        if threading.current_thread() is not self._thread:
            raise RuntimeError(
                "`merge_call` called outside of the replica that is to wait for the others, where "
                "nothing would wake it: by the gradient of `all_reduce` or `all_gather` for a tape around "
                "strategy.run, or by a replica context that was kept. Open the tape in the function "
                "that strategy.run is given, and call tf.distribute.get_replica_context() in it."
            )
        if here is not self._inner:
            raise merge_in_inner_graph()
        self.merged = (merge_fn, args, kwargs or {})
        self._paused.release()
        self._go.acquire()
        if self._is_ended:
            raise _Ended
        return self.result

    def _run(self) -> None:
        self._go.acquire()
        try:
            if not self._is_ended:
                self.result = self._called()
        except _Ended:
            pass
        except BaseException as e:
            self.error = e
        self.merged = None
        self._paused.release()

    def _called(self) -> Any:
        here = pushed(Context(self._strategy, self))
        where = device(self._strategy.extended.worker_devices[self.index])
        levels = [*self._recorders, EagerLevel()] if self._level.eager else self._recorders
        with ExitStack() as stack:
            stack.enter_context(here)
            for level in levels:
                stack.enter_context(door.pushed(level))
            stack.enter_context(where)
            self._inner = door.level()
            return self._call()


def _scopes_of(level: Any) -> dict[str, Any]:
    return {k: getattr(level, k) for k in _SCOPES} if isinstance(level, Recorder) else {}


def _restore(level: Any, scopes: dict[str, Any]) -> None:
    for name, value in scopes.items() if isinstance(level, Recorder) else ():
        setattr(level, name, value)


def run(
    strategy: Any,
    function: Callable[..., Any],
    args: Any,
    kwargs: Any,
    count: int,
    variables: list[Any],
) -> Any:
    """`function(*args, **kwargs)` in each of `count` replicas; the results as one structure.

    `variables` are those that the replicas have created before, which they get again. Raises what a
    replica raises, and RuntimeError if replicas call `merge_call` differently often.
    """

    def bound(index: int) -> Callable[[], Any]:
        own_args, own_kwargs = of_replica(index, args), of_replica(index, kwargs)
        return lambda: function(*own_args, **own_kwargs)

    replicas = [_Replica(strategy, i, bound(i), variables) for i in range(count)]
    try:
        _to_the_end(strategy, replicas)
    finally:
        for replica in replicas:
            replica.end()
    return regrouped([replica.result for replica in replicas])


def _to_the_end(strategy: Any, replicas: Sequence[_Replica]) -> None:
    while True:
        for replica in replicas:
            replica.advance()
            if replica.error is not None:
                raise replica.error
        waiting = [replica.merged for replica in replicas if replica.merged is not None]
        if not waiting:
            return
        if len(waiting) != len(replicas):
            raise RuntimeError(
                "Some replicas made a different number of replica_context().merge_call() calls."
            )
        function = waiting[0][0]
        args = regrouped([tuple(m[1]) for m in waiting])
        kwargs = regrouped([m[2] for m in waiting])
        with cross_replica(strategy):
            result = function(strategy, *args, **kwargs)
        for replica in replicas:
            replica.result = of_replica(replica.index, result)


__all__ = ["run"]
