"""The server under load: what counts as lost and wrong, and a short run."""

from __future__ import annotations

import asyncio
import os
import pathlib
import sys

import pytest

from trust import serving, soak

if not sys.platform.startswith("linux"):  # where processes say in files what memory they have
    pytest.skip("the memory of other processes is read from /proc", allow_module_level=True)


def test_a_short_run_loses_nothing() -> None:
    result = serving.measured(600)
    assert (result.lost, result.wrong) == (0, 0)
    assert result.requests == 600 and result.first_bytes > 0
    assert "| 600 |" in serving.table(result)


def test_answers_of_old_versions_and_of_several_are_wrong(tmp_path: pathlib.Path) -> None:
    load = serving.Load(0, 0, 1, tmp_path)
    load.version = 3
    rows = [[1, 5], [2, 0]]

    def right(factors: tuple[float, float], oldest: int) -> bool:
        answer = [[f * x for x in row] for f, row in zip(factors, rows, strict=True)]
        return load._is_right(rows, {"predictions": answer}, oldest)

    assert right((2.0, 2.0), 1) and right((3.0, 3.0), 3)
    assert not right((2.0, 2.0), 3)  # version 3 had answered before
    assert not right((3.0, 2.0), 1)
    assert not right((9.0, 9.0), 1)


def test_a_server_that_does_not_answer_loses_requests(tmp_path: pathlib.Path) -> None:
    async def scenario() -> serving.Load:
        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            writer.close()

        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        load = serving.Load(port, os.getpid(), 5, tmp_path)
        async with server:
            await load._connection()
        return load

    assert asyncio.run(scenario()).lost == 5


def test_memory_that_grows_is_seen() -> None:
    result = serving.Result(100_000, 1000, 9, 0, 0, 1.0, 1, 2, 1.0, 0.1)
    assert not serving.grows(result)
    assert serving.grows(result._replace(slope=2.0 * soak.NOISE_BYTES / 100_000))
