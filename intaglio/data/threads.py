"""Work on threads that end with the iterator they work for."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import Empty, SimpleQueue
from typing import Any

from intaglio.base import errors
from intaglio.base.locks import fork_count
from intaglio.base.processors import cores
from intaglio.data.options import DEBUGGED, Options
from intaglio.data.positions import elements_of, error_of, of_elements, of_error
from intaglio.data.stage import Advance, Element, Root, Stage

_END = object()


class _Failure:
    """An error on its way from the thread that raised it."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


def ahead(stage: Stage, root: Root, size: int, arrived: threading.Event | None = None) -> Advance:
    """The stage's elements, computed ahead on a thread, at most `size` of them.

    `arrived` is set whenever there is another.
    """
    prefetcher = Prefetcher(size, arrived)
    # Before the source opens: saving stops the threads farther from the source first.
    root.pause_with(prefetcher.lock)
    prefetcher.source = stage.open(root)
    root.keep(prefetcher.save, prefetcher.restore)
    if root.shared.options.experimental_warm_start:
        prefetcher.start()
    return prefetcher


class Prefetcher:
    """The elements of an open stage, computed ahead on a thread, at most `size` of them."""

    def __init__(self, size: int, arrived: threading.Event | None = None) -> None:
        self.source: Advance | None = None
        self._arrived = arrived
        self.lock = threading.Lock()  # held while the thread moves the source
        self._items: SimpleQueue[Any] = SimpleQueue()
        self._permits: SimpleQueue[bool] = SimpleQueue()
        self._ended = False
        self._forks = fork_count()
        for _ in range(size):
            self._permits.put(True)

    def start(self) -> None:
        """Begins to compute."""
        source, self.source = self.source, None
        self._forks = fork_count()
        threading.Thread(
            target=_fill,
            args=(source, self._items, self._permits, self.lock, self._arrived),
            name="intaglio-prefetch",
            daemon=True,
        ).start()

    def ready(self) -> bool:
        """Whether the next element, or the end, is there; begins to compute it."""
        if self.source is not None:
            self.start()
        return self._ended or not self._items.empty()

    def __call__(self) -> Element:
        if self.source is not None:
            self.start()
        if self._ended:
            raise StopIteration
        _check_own_threads(self._forks)
        item = self._items.get()
        if item is _END:
            self._ended = True
            raise StopIteration
        self._permits.put(True)
        if type(item) is _Failure:
            raise item.error
        return item

    def __del__(self) -> None:
        self._permits.put(False)

    def save(self) -> Any:
        """The computed elements that were not taken yet; the thread is paused."""
        items: list[Any] = []
        while True:
            try:
                items.append(self._items.get_nowait())
            except Empty:
                break
        for item in items:
            self._items.put(item)
        return [_positions_of(items), self._ended]

    def restore(self, position: Any) -> None:
        """Has computed what `save` found, and continues from there."""
        items, self._ended = position
        for item in _items_of(items):
            self._items.put(item)
            if item is _END:  # the thread finds the source at its end, and adds no other
                self.source = None
            else:
                self._permits.get()


def _positions_of(items: list[Any]) -> Any:
    elements = [i for i in items if type(i) is tuple]
    kinds = [
        None if i is _END else of_error(i.error) if type(i) is _Failure else True for i in items
    ]
    return [of_elements(elements), kinds]


def _items_of(position: Any) -> list[Any]:
    elements, kinds = position
    following = iter(elements_of(elements))
    return [
        _END if k is None else next(following) if k is True else _Failure(error_of(k))
        for k in kinds
    ]


def _check_own_threads(forks: int) -> None:
    """Raises AbortedError if the process was forked since, and so has not the iterator's threads."""
    if forks != fork_count():
        raise errors.AbortedError(
            None,
            None,
            "The iterator computes elements on a thread, and the process was forked since it began: "
            "only the parent has that thread. Make the iterator in the child process.",
        )


def _fill(
    source: Advance,
    items: SimpleQueue[Any],
    permits: SimpleQueue[bool],
    lock: Any,
    arrived: threading.Event | None,
) -> None:
    """The thread: one element for each permit, until there are no more of either."""
    item: Any = None
    while item is not _END and permits.get():
        with lock:
            try:
                item = source()
            except StopIteration:
                item = _END
            except BaseException as e:
                item = _Failure(e)
            items.put(item)
        if arrived is not None:
            arrived.set()
        if item is not _END:
            item = None  # only the queue keeps it


def pool_size(threads: int, options: Options) -> int:
    """How many threads work where `threads` are wanted: a private pool may be smaller."""
    if DEBUGGED.is_set():
        return 1
    private = options.threading.private_threadpool_size
    if private is None or private < 0:
        return threads
    return min(threads, private or cores())


def in_order(deterministic: str, options: Options) -> bool:
    """Whether a parallel stage keeps the order: by its attribute, else by the options."""
    if deterministic == "default":
        return options.deterministic is not False
    return deterministic == "true"


# Calls that take fewer seconds on average are over before another thread would have begun them: the thread
# that asks for elements makes them itself. After so many calls, or their time, that is decided anew: a few
# slow calls among quick ones, such as those that miss a cache, are worth the threads.
QUICK_CALL, MEASURED_CALLS = 2e-4, 8


class ParallelCalls:
    """A function of an open stage's elements, so many of them at a time, unless calls are quick.

    The threads end when this goes away.
    """

    __slots__ = (
        "_ended",
        "_forks",
        "_function",
        "_ordered",
        "_pending",
        "_pool",
        "_quick",
        "_source",
        "_threads",
        "_times",
    )

    def __init__(
        self, source: Advance, function: Callable[..., Any], threads: int, ordered: bool
    ) -> None:
        self._source = source
        self._function = function
        self._threads = threads
        self._ordered = ordered
        self._pool = ThreadPoolExecutor(threads, "intaglio-map")
        self._forks = fork_count()
        self._pending: deque[Future[Any]] = deque()
        self._ended = False
        self._times: list[float] = []  # in seconds, of the last calls
        self._quick = False

    def _timed(self, *element: Any) -> Any:
        """The function of an element; notes whether its calls are quick."""
        start = time.perf_counter()
        result = self._function(*element)
        times = self._times
        times.append(time.perf_counter() - start)
        slow = sum(times) >= MEASURED_CALLS * QUICK_CALL
        if slow or len(times) >= MEASURED_CALLS:
            self._quick = not slow
            self._times = []
        return result

    def _submit(self) -> None:
        try:
            element = self._source()
        except StopIteration:
            self._ended = True
        except Exception as e:
            self._pending.append(_failed(e))
        else:
            self._pending.append(self._pool.submit(self._timed, *element))

    def __call__(self) -> Element:
        _check_own_threads(self._forks)
        pending = self._pending
        if self._quick:
            if not pending and not self._ended:
                return self._next()
        else:
            while not self._ended and len(pending) < self._threads:
                self._submit()
        if not pending:
            self._pool.shutdown(wait=False)
            raise StopIteration
        if self._ordered:
            future = pending.popleft()
        else:
            done = wait(pending, return_when=FIRST_COMPLETED).done
            future = next(f for f in pending if f in done)
            pending.remove(future)
        if not self._ended and not self._quick:
            self._submit()
        return future.result()

    def _next(self) -> Any:
        """The function of the next element, on this thread."""
        try:
            element = self._source()
        except StopIteration:
            self._ended = True
            self._pool.shutdown(wait=False)
            raise
        return self._timed(*element)

    def save(self) -> Any:
        """What the calls that have begun give."""
        items: list[Any] = []
        for future in self._pending:
            error = future.exception()
            items.append(future.result() if error is None else _Failure(error))
        return [_positions_of(items), self._ended]

    def restore(self, position: Any) -> None:
        """Has begun the calls that `save` saw, which are done."""
        items, self._ended = position
        self._pending.extend(
            [_failed(i.error) if type(i) is _Failure else _done(i) for i in _items_of(items)]
        )


def _done(result: Element) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(result)
    return future


def _failed(error: BaseException) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_exception(error)
    return future


def automatic(options: Options) -> int:
    """The number of calls for AUTOTUNE."""
    if options.autotune.enabled is False:
        return options.autotune.initial_parallelism or 1
    return options.autotune.cpu_budget or cores()
