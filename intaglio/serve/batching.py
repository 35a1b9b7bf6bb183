"""Calls of signatures on threads, alone or joined: requests that arrive together share one call.

Joining is asked for by the server's options, as in TensorFlow Serving: it is right for models that treat
every row alone. Requests for the same signature, with arrays that differ in the first dimension only,
are one batch until their rows are as many as it may have, or until no other batch of them runs: an idle
server starts with what has arrived, and one under load joins what arrives during a call. Where calls are long,
a batch starts on another thread when its first request has waited as long as it may. A batch that fails is
repeated request by request, so that an error is that of its request.

Batches have a power of two of rows, the last row as often as that takes: code is written for the sizes that
there are, and of arbitrary ones each would be compiled.
"""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import dataclasses
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.serve.servables import Arrays, Signature

# What makes the body of a response of the outputs.
Encode = Callable[[dict[str, np.ndarray]], bytes]
Counted = Callable[[int], None]
# A call that takes less than this is short: changing to a thread and back takes a good part of it.
SHORT_SECONDS = 0.0005


@dataclasses.dataclass(eq=False)
class Call:
    """One request's arrays, and where its response's body goes."""

    signature: Signature
    arrays: Arrays
    encode: Encode
    counted: Counted
    future: asyncio.Future[bytes]

    @property
    def rows(self) -> int | None:
        """The size of the first dimension, which all arrays share; None if they do not."""
        sizes = {array.shape[:1] for array in self.arrays.values()}
        found = sizes.pop() if len(sizes) == 1 else ()
        return found[0] if found else None

    def result(self) -> bytes:
        """The response's body."""
        self.counted(self.rows or 1)
        return self.encode(self.signature.timed(self.arrays))


@dataclasses.dataclass(eq=False)
class _Batch:
    """Calls that wait to be joined; `due` if the first of them has waited as long as it may."""

    key: Hashable
    calls: list[Call] = dataclasses.field(default_factory=list[Call])
    rows: int = 0
    timer: asyncio.Handle | None = None
    due: bool = False


class Scheduler:
    """Runs calls on the threads of a pool. Its methods are called on the event loop's thread."""

    def __init__(self, threads: int, max_rows: int = 0, seconds: float = 0.0) -> None:
        """Batches have up to `max_rows` rows and wait up to so many seconds; 0 rows: no batches."""
        self._pool = concurrent.futures.ThreadPoolExecutor(threads, "intaglio-serve")
        self._max_rows = max_rows
        self._seconds = seconds
        self._threads = threads
        self._open: dict[Hashable, _Batch] = {}
        # What runs or waits for a thread: in all, and the batches of each key.
        self._busy = 0
        self._running: collections.Counter[Hashable] = collections.Counter()
        self._short: list[Call] = []

    def close(self) -> None:
        """Waits for the calls that run, and ends the threads."""
        self._pool.shutdown()

    async def on_thread(self, function: Callable[[], Any]) -> Any:
        """What a function returns that is called on a thread of the pool."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function)

    async def run(
        self, signature: Signature, arrays: Arrays, encode: Encode, counted: Counted
    ) -> bytes:
        """The body of the response to a request. Raises what the signature or `encode` raises."""
        loop = asyncio.get_running_loop()
        call = Call(signature, arrays, encode, counted, loop.create_future())
        rows = call.rows
        if self._max_rows and signature.takes_rows and rows and rows < self._max_rows:
            self._join(call, rows, loop)
        else:
            self._start(call, loop)
        return await call.future

    def _start(self, call: Call, loop: asyncio.AbstractEventLoop) -> None:
        """Runs a call alone. Short ones that arrive at once share the change to a thread, nothing else."""
        if call.signature.seconds.value > SHORT_SECONDS:
            self._submit([[call]], loop)
            return
        if not self._short:
            loop.call_soon(self._flush_short, loop)
        self._short.append(call)

    def _flush_short(self, loop: asyncio.AbstractEventLoop) -> None:
        calls, self._short = self._short, []
        self._submit([[call] for call in calls], loop)

    def _join(self, call: Call, rows: int, loop: asyncio.AbstractEventLoop) -> None:
        shapes = sorted([(name, a.shape[1:]) for name, a in call.arrays.items()])
        key = (call.signature, tuple(shapes))
        batch = self._open.get(key)
        if batch is not None and batch.rows + rows > self._max_rows:
            self._flush(batch, loop)
            batch = None
        if batch is None:
            batch = self._open[key] = _Batch(key)
            if self._running[key]:
                batch.timer = loop.call_later(self._seconds, self._expire, batch, loop)
            else:  # after the requests that have arrived with this one
                batch.timer = loop.call_soon(self._flush, batch, loop)
        batch.calls.append(call)
        batch.rows += rows
        if batch.rows == self._max_rows:
            self._flush(batch, loop)

    def _expire(self, batch: _Batch, loop: asyncio.AbstractEventLoop) -> None:
        """Starts a batch that has waited long enough, unless it would only wait for a thread."""
        if self._busy < self._threads:
            self._flush(batch, loop)
        else:
            batch.due = True

    def _flush(self, batch: _Batch, loop: asyncio.AbstractEventLoop) -> None:
        del self._open[batch.key]
        if batch.timer is not None:
            batch.timer.cancel()
        self._running[batch.key] += 1
        self._submit([batch.calls], loop, batch.key)

    def _finish(
        self,
        results: list[tuple[Call, bytes | Exception]],
        key: Hashable,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """Delivers results, and starts batches that waited for the end of the call."""
        _deliver(results)
        self._busy -= 1
        if key is not None:
            self._running[key] -= 1
            if not self._running[key]:
                del self._running[key]
                if key in self._open:
                    self._flush(self._open[key], loop)
        for batch in [b for b in self._open.values() if b.due]:
            if self._busy < self._threads:
                self._flush(batch, loop)

    def _submit(
        self, batches: list[list[Call]], loop: asyncio.AbstractEventLoop, key: Hashable = None
    ) -> None:
        """Runs batches one after the other on a thread, and delivers their results together.

        `key` is that of the one batch of joined calls."""

        def work() -> None:
            results: list[tuple[Call, bytes | Exception]] = []
            for calls in batches:
                # Requests whose time has passed while they waited are not run.
                waiting = [c for c in calls if not c.future.cancelled()]
                results += _results(waiting, self._max_rows)
            loop.call_soon_threadsafe(self._finish, results, key, loop)

        self._busy += 1
        self._pool.submit(work)


def _deliver(results: list[tuple[Call, bytes | Exception]]) -> None:
    for call, result in results:
        if call.future.cancelled():
            continue
        if isinstance(result, Exception):
            call.future.set_exception(result)
        else:
            call.future.set_result(result)


def _results(calls: list[Call], max_rows: int) -> list[tuple[Call, bytes | Exception]]:
    if len(calls) > 1:
        try:
            return list(zip(calls, _joined(calls, max_rows), strict=True))
        except Exception:  # each then has its own error, or none
            pass
    return [(call, _result(call)) for call in calls]


def _result(call: Call) -> bytes | Exception:
    try:
        return call.result()
    except Exception as e:
        return e


def _joined(calls: Sequence[Call], max_rows: int) -> list[bytes | Exception]:
    """The results of calls of one signature by one call with all their rows.

    Raises InvalidArgumentError if an output has not so many rows.
    """
    sizes = [call.rows or 0 for call in calls]
    first = calls[0]
    first.counted(sum(sizes))
    rows = min(_padded_size(sum(sizes)), max_rows)
    arrays = {
        name: _with_rows([c.arrays[name] for c in calls], rows - sum(sizes))
        for name in first.arrays
    }
    outputs = first.signature.timed(arrays)
    for name, output in outputs.items():
        if output.shape[:1] != (rows,):
            raise errors.InvalidArgumentError(
                None, None, f"output {name!r} has {[*output.shape]} for {rows} rows"
            )
    ends = np.cumsum(sizes)
    found: list[bytes | Exception] = []
    for call, end, size in zip(calls, ends.tolist(), sizes, strict=True):
        own = {name: output[end - size : end] for name, output in outputs.items()}
        try:
            found.append(call.encode(own))
        except Exception as e:
            found.append(e)
    return found


def _padded_size(rows: int) -> int:
    """The next power of two."""
    return 1 << (rows - 1).bit_length()


def _with_rows(arrays: Sequence[np.ndarray], missing: int) -> np.ndarray:
    """The rows of arrays one after the other, the last one once more for each that is missing."""
    last = arrays[-1][-1:]
    return np.concatenate([*arrays, np.broadcast_to(last, (missing, *last.shape[1:]))])
