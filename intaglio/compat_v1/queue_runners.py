"""Threads that fill queues: `tf.compat.v1.train.QueueRunner`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/QueueRunner.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from intaglio.base import errors, log
from intaglio.compat_v1 import logging
from intaglio.compat_v1.sessions import get_default_session
from intaglio.compat_v1.variable_scopes import GraphKeys, add_to_collection, get_collection
from intaglio.runtime.coordinator import Coordinator
from intaglio.trace import scopes


class QueueRunner:
    """Runs operations that fill a queue, each in a thread, until the queue is closed.

    Args:
      queue: the queue.
      enqueue_ops: the operations.
      close_op: closes the queue; elements that wait for capacity are still put in.
      cancel_op: closes the queue and cancels what waits for capacity.
      queue_closed_exception_types: errors that say that there is nothing more; OutOfRangeError by default.

    Raises RuntimeError eagerly, ValueError without a queue or operations, TypeError for types that are no errors.
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Any = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: Any = None,
        queue_runner_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if scopes.executing_eagerly():
            raise RuntimeError(
                "QueueRunners are not supported when eager execution is enabled. Instead, please use tf.data to get data into "
                "your model."
            )
        if queue_runner_def is not None:
            raise NotImplementedError(
                "QueueRunner(queue_runner_def=...): pass the queue and its operations"
            )
        if queue is None or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        closed = queue_closed_exception_types or (errors.OutOfRangeError,)
        if not (
            isinstance(closed, tuple)
            and closed
            and all([isinstance(t, type) and issubclass(t, errors.OpError) for t in closed])
        ):
            raise TypeError(
                "queue_closed_exception_types, when provided, must be a tuple of tf.error types, but "
                f"saw: {closed}"
            )
        self._queue = queue
        self._enqueue_ops = list(enqueue_ops)
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = (
            queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        )
        self._closed_types = closed
        self._lock = threading.Lock()
        # How many operations run, by session.
        self._running: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._raised: list[Exception] = []

    @property
    def queue(self) -> Any:
        """The queue."""
        return self._queue

    @property
    def enqueue_ops(self) -> list[Any]:
        """The operations that fill the queue."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        """The operation that closes the queue."""
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        """The operation that closes the queue and cancels what waits."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type[Exception], ...]:
        """The errors that say that there is nothing more."""
        return self._closed_types

    @property
    def exceptions_raised(self) -> list[Exception]:
        """The errors of threads without a coordinator."""
        return self._raised

    @property
    def name(self) -> str:
        """The name of the queue."""
        return self._queue.name

    def create_threads(
        self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """The threads for a session, none if they run already; the coordinator waits for them."""
        with self._lock:
            if self._running.get(sess):
                return []
            self._running[sess] = len(self._enqueue_ops)
            self._raised = []
        work: list[Callable[[], None]] = [self._runs(sess, op, coord) for op in self._enqueue_ops]
        if coord is not None:
            work.append(lambda: self._close_on_stop(sess, coord))
        threads = [threading.Thread(target=one, daemon=daemon) for one in work]
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def _runs(self, session: Any, operation: Any, coord: Any) -> Callable[[], None]:
        return lambda: self._run(session, operation, coord)

    def _run(self, session: Any, operation: Any, coord: Any) -> None:
        """What a thread does: the operation again and again."""
        try:
            while coord is None or not coord.should_stop():
                session.run(operation)
        except self._closed_types:
            self._closing(session)
        except Exception as e:
            if coord is not None:
                coord.request_stop(e)
                return
            log.logger().exception("Exception in QueueRunner: %s", e)
            with self._lock:
                self._raised.append(e)
            raise
        finally:
            with self._lock:
                self._running[session] -= 1

    def _closing(self, session: Any) -> None:
        """Closes the queue if the last operation has nothing more. Whoever closed it meanwhile did the same."""
        with self._lock:
            last = self._running[session] == 1
        if last:
            try:
                session.run(self._close_op)
            except Exception as e:
                logging.vlog(1, "Ignored exception: %s", e)

    def _close_on_stop(self, session: Any, coord: Any) -> None:
        coord.wait_for_stop()
        try:
            session.run(self._cancel_op)
        except Exception as e:
            logging.vlog(1, "Ignored exception: %s", e)


def add_queue_runner(qr: QueueRunner, collection: Any = GraphKeys.QUEUE_RUNNERS) -> None:
    """Adds a runner to a collection of the graph, for `start_queue_runners`."""
    add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None,
    coord: Any = None,
    daemon: bool = True,
    start: bool = True,
    collection: Any = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Starts the threads of all runners of the graph; returns them.

    Raises RuntimeError eagerly, ValueError without a session.
    """
    if scopes.executing_eagerly():
        raise RuntimeError("Queues are not compatible with eager execution.")
    session = get_default_session() if sess is None else sess
    if session is None:
        raise ValueError(
            "Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or pass an explicit "
            "session to tf.start_queue_runners(sess=sess)"
        )
    with session.graph.as_default():
        found = get_collection(collection)
    if not found:
        logging.warning(
            "`tf.train.start_queue_runners()` was called when no queue runners were defined. You can safely remove the call "
            "to this deprecated function."
        )
    return [t for qr in found for t in qr.create_threads(session, coord, daemon, start)]


class LooperThread(threading.Thread):
    """A thread that calls a function every so many seconds until its coordinator stops.

    Raises ValueError for a coordinator that is none.
    """

    def __init__(
        self,
        coord: Any,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Any = None,
        kwargs: Any = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__(daemon=True)
        self._coord = coord
        self._interval = timer_interval_secs
        self._call = target
        self._call_args, self._call_kwargs = args or (), kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Any,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
    ) -> LooperThread:
        """A thread that is started."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """What the thread does; errors stop the coordinator."""
        with self._coord.stop_on_exception():
            self.start_loop()
            following = time.time()
            while not self._coord.should_stop():
                if self._interval is not None:
                    following += self._interval
                    if self._coord.wait_for_stop(following - time.time()):
                        break
                self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called when the thread begins."""

    def stop_loop(self) -> None:
        """Called when the thread ends."""

    def run_loop(self) -> None:
        """Called in each turn; by default the function that was given."""
        if self._call is not None:
            self._call(*self._call_args, **self._call_kwargs)
