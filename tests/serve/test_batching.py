"""Requests joined to one call: each gets its rows, and its own error."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio.base import dtypes, errors
from intaglio.serve.batching import Scheduler
from intaglio.serve.servables import Arrays, Signature, TensorInfo

ROWS = TensorInfo(dtypes.float32, (None, 2))


def _signature(run: Callable[[Arrays], Any], info: TensorInfo = ROWS) -> Signature:
    return Signature("f", "", {"x": info}, {"y": info}, run)


def _ask(
    scheduler: Scheduler, signature: Signature, arrays: list[Any], counted: list[int] | None = None
) -> list[Any]:
    """The outputs of requests that arrive together, or their exceptions."""

    async def all_of_them() -> list[Any]:
        calls = [
            scheduler.run(
                signature,
                {"x": np.asarray(a, np.float32)},
                lambda outputs: outputs["y"].tobytes(),
                (counted if counted is not None else []).append,
            )
            for a in arrays
        ]
        return await asyncio.gather(*calls, return_exceptions=True)

    try:
        found = asyncio.run(all_of_them())
    finally:
        scheduler.close()
    return [f if isinstance(f, Exception) else np.frombuffer(f, np.float32).tolist() for f in found]


def _double(arrays: Arrays) -> dict[str, np.ndarray]:
    return {"y": arrays["x"] * 2}


def test_requests_share_calls_up_to_the_size_of_a_batch() -> None:
    counted: list[int] = []
    arrays = [[[i, i]] * (1 + i % 3) for i in range(20)]
    found = _ask(Scheduler(2, 8, 0.01), _signature(_double), arrays, counted)
    assert found == [[2 * i, 2 * i] * (1 + i % 3) for i in range(20)]
    assert sum(counted) == sum(map(len, arrays))
    assert len(counted) < 10 and max(counted) <= 8


@pytest.mark.parametrize("most", [8, 11])
def test_batches_have_few_sizes(most: int) -> None:
    """Powers of two, or as many rows as there may be: code is written for each size."""
    sizes: set[int] = set()

    def run(arrays: Arrays) -> dict[str, np.ndarray]:
        sizes.add(len(arrays["x"]))
        return _double(arrays)

    for number in range(2, 12):
        arrays = [[[i, -i]] for i in range(number)]
        counted: list[int] = []
        found = _ask(Scheduler(1, most, 0.001), _signature(run), arrays, counted)
        assert found == [[2 * i, -2 * i] for i in range(number)]
        assert sum(counted) == number  # what is padded is no row of a request
    assert sizes <= {1, 2, 4, 8, most}


def test_an_open_batch_ends_at_its_deadline() -> None:
    counted: list[int] = []
    found = _ask(Scheduler(1, 1000, 0.001), _signature(_double), [[[1, 2]], [[3, 4]]], counted)
    assert found == [[2, 4], [6, 8]]
    assert counted == [2]


def test_a_request_that_fails_fails_alone() -> None:
    def run(arrays: Arrays) -> dict[str, np.ndarray]:
        if (arrays["x"] < 0).any():
            raise errors.InvalidArgumentError(None, None, "negative")
        return _double(arrays)

    found = _ask(Scheduler(1, 8, 0.01), _signature(run), [[[1, 1]], [[-1, 1]], [[2, 2]]])
    assert found[0] == [2, 2] and found[2] == [4, 4]
    assert isinstance(found[1], errors.InvalidArgumentError)


def test_models_that_mix_rows_are_called_for_each_request() -> None:
    def total(arrays: Arrays) -> dict[str, np.ndarray]:
        return {"y": arrays["x"].sum(0, keepdims=True)}

    arrays = [[[1, 2], [3, 4]], [[5, 6]]]
    assert _ask(Scheduler(1, 8, 0.01), _signature(total), arrays) == [[4, 6], [5, 6]]


@pytest.mark.parametrize("dims", [(2, 2), ()])
def test_fixed_first_dimensions_are_not_joined(dims: tuple[int, ...]) -> None:
    counted: list[int] = []
    arrays = [np.ones(dims), np.ones(dims)]
    signature = _signature(_double, TensorInfo(dtypes.float32, dims))
    _ask(Scheduler(1, 8, 0.01), signature, arrays, counted)
    assert len(counted) == 2


def test_requests_of_other_shapes_are_other_batches() -> None:
    counted: list[int] = []
    signature = _signature(_double, TensorInfo(dtypes.float32, None))
    arrays = [[[1]], [[1, 2]], [[3]], [1], 5]
    found = _ask(Scheduler(1, 8, 0.01), signature, arrays, counted)
    assert found == [[2], [2, 4], [6], [2], [10]]
    assert sorted(counted) == [1, 1, 1, 2]


def test_cancelled_requests_do_not_run() -> None:
    started, release = threading.Event(), threading.Event()
    ran: list[float] = []

    def run(arrays: Arrays) -> dict[str, np.ndarray]:
        ran.append(float(arrays["x"][0, 0]))
        started.set()
        release.wait(10)
        return _double(arrays)

    async def scenario() -> None:
        scheduler = Scheduler(1)
        signature = _signature(run)

        def ask(value: float) -> asyncio.Task[bytes]:
            arrays = {"x": np.full((1, 2), value, np.float32)}
            return asyncio.create_task(
                scheduler.run(signature, arrays, lambda o: b"", lambda rows: None)
            )

        first, second = ask(1.0), ask(2.0)
        while not started.is_set():
            await asyncio.sleep(0.001)
        second.cancel()
        await asyncio.sleep(0)
        release.set()
        assert await first == b""
        scheduler.close()

    asyncio.run(scenario())
    assert ran == [1.0]


def test_short_calls_that_arrive_together_share_a_thread_and_not_a_call() -> None:
    threads: list[int] = []

    def run(arrays: Arrays) -> dict[str, np.ndarray]:
        threads.append(threading.get_ident())
        if arrays["x"][0, 0] == 3:
            raise ValueError("three")
        return _double(arrays)

    signature = _signature(run)
    signature.seconds.value = 0.0
    found = _ask(Scheduler(4), signature, [[[i, i]] for i in range(9)])
    assert len(set(threads)) == 1 and len(threads) == 9
    assert isinstance(found.pop(3), ValueError)
    assert found == [[2 * i, 2 * i] for i in range(9) if i != 3]
    assert 0 < signature.seconds.value < 1


def test_an_idle_server_starts_with_what_has_arrived() -> None:
    """The time that a batch may wait is far longer than the test may take."""
    counted: list[int] = []

    async def scenario() -> list[bytes]:
        scheduler = Scheduler(2, 8, 3600.0)
        found = [
            await asyncio.wait_for(_asked(scheduler, _signature(_double), value, counted), 60)
            for value in (1.0, 2.0)
        ]
        scheduler.close()
        return found

    found = asyncio.run(scenario())
    assert [np.frombuffer(f, np.float32).tolist() for f in found] == [[2, 2], [4, 4]]
    assert counted == [1, 1]


async def _asked(
    scheduler: Scheduler, signature: Signature, value: float, counted: list[int]
) -> bytes:
    arrays = {"x": np.full((1, 2), value, np.float32)}
    return await scheduler.run(signature, arrays, lambda o: o["y"].tobytes(), counted.append)


class _Blocked:
    """A model whose first calls wait until they are released."""

    def __init__(self, calls: int) -> None:
        self._calls = calls
        self.started = threading.Semaphore(0)
        self.release = threading.Event()
        self.signature = _signature(self._run)

    def _run(self, arrays: Arrays) -> dict[str, np.ndarray]:
        self._calls -= 1
        if self._calls >= 0:
            self.started.release()
            self.release.wait(60)
        return _double(arrays)

    async def has_started(self) -> None:
        """Returns when one more call has begun."""
        while not self.started.acquire(blocking=False):
            await asyncio.sleep(0.001)


def test_requests_that_arrive_during_a_call_are_the_next_batch() -> None:
    counted: list[int] = []

    async def scenario() -> None:
        scheduler = Scheduler(4, 8, 3600.0)
        model = _Blocked(1)
        tasks = [asyncio.create_task(_asked(scheduler, model.signature, 0.0, counted))]
        await model.has_started()
        for value in range(1, 6):
            tasks.append(asyncio.create_task(_asked(scheduler, model.signature, value, counted)))
            await asyncio.sleep(0)
        assert counted == [1]
        model.release.set()
        found = await asyncio.wait_for(asyncio.gather(*tasks), 60)
        assert [np.frombuffer(f, np.float32)[0] for f in found] == [0, 2, 4, 6, 8, 10]
        scheduler.close()

    asyncio.run(scenario())
    assert counted == [1, 5]


def test_a_batch_that_has_waited_starts_beside_a_long_call() -> None:
    counted: list[int] = []

    async def scenario() -> None:
        scheduler = Scheduler(2, 8, 0.001)
        model = _Blocked(2)
        tasks = [asyncio.create_task(_asked(scheduler, model.signature, 0.0, counted))]
        await model.has_started()
        tasks.append(asyncio.create_task(_asked(scheduler, model.signature, 1.0, counted)))
        await model.has_started()  # while the first one runs
        for value in range(
            2, 5
        ):  # for these there is no thread: they are joined, however long they wait
            tasks.append(asyncio.create_task(_asked(scheduler, model.signature, value, counted)))
            await asyncio.sleep(0.01)
        assert counted == [1, 1]
        model.release.set()
        await asyncio.wait_for(asyncio.gather(*tasks), 60)
        scheduler.close()

    asyncio.run(scenario())
    assert counted == [1, 1, 3]
