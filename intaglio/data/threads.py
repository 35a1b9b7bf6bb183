"""Work on threads that end with the iterator they work for."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Any

from intaglio.data.stage import Advance, Element

_END = object()


class _Failure:
    """An error on its way from the thread that met it."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Prefetcher:
    """The elements of an open stage, computed ahead on a thread, at most `size` of them."""

    def __init__(self, source: Advance, size: int) -> None:
        self._source: Advance | None = source
        self._items: SimpleQueue[Any] = SimpleQueue()
        self._permits: SimpleQueue[bool] = SimpleQueue()
        self._ended = False
        for _ in range(size):
            self._permits.put(True)

    def __call__(self) -> Element:
        source = self._source
        if source is not None:
            self._source = None
            threading.Thread(
                target=_fill,
                args=(source, self._items, self._permits),
                name="intaglio-prefetch",
                daemon=True,
            ).start()
        if self._ended:
            raise StopIteration
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


def _fill(source: Advance, items: SimpleQueue[Any], permits: SimpleQueue[bool]) -> None:
    """The thread: one element for each permit, until there are no more of either."""
    while permits.get():
        try:
            items.put(source())
        except StopIteration:
            items.put(_END)
            return
        except BaseException as e:
            items.put(_Failure(e))


def parallel(
    source: Advance, function: Callable[..., Any], threads: int, ordered: bool
) -> Advance:
    """`function` of the elements, `threads` of them at a time.

    The threads end when the open stage that is returned goes away.
    """
    pool = ThreadPoolExecutor(threads, "intaglio-map")
    pending: deque[Future[Any]] = deque()
    ended = False

    def submit() -> None:
        nonlocal ended
        try:
            element = source()
        except StopIteration:
            ended = True
        except Exception as e:
            failed: Future[Any] = Future()
            failed.set_exception(e)
            pending.append(failed)
        else:
            pending.append(pool.submit(function, *element))

    def advance() -> Element:
        while not ended and len(pending) < threads:
            submit()
        if not pending:
            raise StopIteration
        if ordered:
            future = pending.popleft()
        else:
            done = wait(pending, return_when=FIRST_COMPLETED).done
            future = next(f for f in pending if f in done)
            pending.remove(future)
        if not ended:
            submit()
        return future.result()

    return advance
