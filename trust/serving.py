"""A server under load while its model's version is swapped every second: requests lost, answers wrong, memory.

`python -m trust.serving [--count REQUESTS] [--write]`; 100,000 is the whole of it. The server is the
command `intaglio serve` in a process of its own, at 127.0.0.1; 64 requests are under way at any time, and one
in a hundred is malformed. Memory is that of the server, measured as `trust.soak` does.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import NamedTuple

from intaglio import tf
from trust import page, soak

CONNECTIONS = 64
MALFORMED = 0.01
SWAP_SECONDS = 1.0
# How long a request may take before it is lost.
SECONDS = 60.0
WIDTH = 8
PATH = "/v1/models/scaled:predict"
# Requests that are wrong, each with the statuses that answer it.
WRONG: list[tuple[str, bytes, tuple[int, ...]]] = [
    (PATH, b"", (400,)),
    (PATH, b'{"instances": [[1, 2', (400,)),
    (PATH, b"\xff\xfe\x00", (400,)),
    (PATH, b"[" * 5000, (400,)),
    (PATH, b'{"instances": [["1"]]}', (400,)),
    (PATH, b'{"instances": [[1, 2, 3]]}', (400,)),
    (PATH, b'{"instances": [], "inputs": []}', (400,)),
    (PATH, b'{"signature_name": "other", "instances": [[1]]}', (400,)),
    (PATH, b" " * 200_000, (413,)),
    ("/v1/models/other:predict", b"{}", (404,)),
    ("/v1/models/scaled:explain", b"{}", (400,)),
    ("/../../etc/passwd", b"{}", (404,)),
]


class Result(NamedTuple):
    """What was seen."""

    requests: int
    malformed: int
    versions: int
    lost: int
    wrong: int
    slope: float
    first_bytes: int
    last_bytes: int
    seconds: float
    p99: float


def save(folder: pathlib.Path, version: int) -> None:
    """The version that multiplies by its own number, renamed to its place when it is complete."""
    module = tf.Module()
    weight = tf.Variable(float(version))
    module.weight = weight
    spec = tf.TensorSpec([None, WIDTH], tf.float32, name="x")
    module.f = tf.function(lambda x: x * weight, input_signature=[spec])
    beside = folder / f"new-{version}"
    tf.saved_model.save(module, str(beside), signatures=module.f)
    beside.rename(folder / "scaled" / str(version))


@contextlib.contextmanager
def server(folder: pathlib.Path) -> Iterator[tuple[int, int]]:
    """The process of a server of a folder, and its port."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "intaglio",
        "serve",
        str(folder),
        "--port",
        "0",
    ]
    options = ["--poll-seconds", "0.1", "--batch-rows", "64", "--max-body-bytes", "100000"]
    process = subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        found = re.search(r":(\d+)/v1/models", process.stdout.readline())
        if found is None:
            raise RuntimeError("the server did not start")
        yield process.pid, int(found[1])
    finally:
        process.terminate()
        process.wait(SECONDS)
        process.stdout.close()


def resident(pid: int) -> int:
    """The bytes of memory that a process has."""
    text = pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii")
    return int(text.split()[1]) * resource.getpagesize()


class Load:
    """The requests, and what came of them."""

    def __init__(self, port: int, pid: int, count: int, folder: pathlib.Path) -> None:
        self.port, self.pid, self.count, self.folder = port, pid, count, folder
        self.random = random.Random(7)
        self.begun = self.done = self.malformed = self.lost = self.wrong = 0
        self.version = 1  # the latest that is in the folder
        self.seen = 1  # the latest that has answered
        self.times: list[float] = []
        self.sizes: list[int] = []

    async def run(self) -> Result:
        """Sends all requests."""
        start = time.perf_counter()
        swapping = asyncio.create_task(self._swap())
        await asyncio.gather(*[self._connection() for _ in range(CONNECTIONS)])
        swapping.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await swapping
        kept = self.sizes[soak.WARM_PARTS :]
        slope = soak.slope(kept, max(self.count // soak.PARTS, 1))
        p99 = sorted(self.times)[int(len(self.times) * 0.99)]
        return Result(
            self.count,
            self.malformed,
            self.version,
            self.lost,
            self.wrong,
            slope,
            kept[0] if kept else 0,
            kept[-1] if kept else 0,
            time.perf_counter() - start,
            p99,
        )

    async def _swap(self) -> None:
        """A new version every second; of the old ones, those that nobody asks for are deleted."""
        while True:
            await asyncio.sleep(SWAP_SECONDS)
            await asyncio.to_thread(save, self.folder, self.version + 1)
            self.version += 1
            shutil.rmtree(self.folder / "scaled" / str(self.version - 3), ignore_errors=True)

    async def _connection(self) -> None:
        while self.begun < self.count:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            is_open = True
            while is_open and self.begun < self.count:
                self.begun += 1
                begun = time.perf_counter()
                try:
                    is_open = await asyncio.wait_for(self._request(reader, writer), SECONDS)
                except (OSError, EOFError, TimeoutError, ValueError):
                    self.lost += 1
                    is_open = False
                self.times.append(time.perf_counter() - begun)
                self.done += 1
                if self.done % max(self.count // soak.PARTS, 1) == 0:
                    self.sizes.append(resident(self.pid))
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; returns whether the connection stays open."""
        if self.random.random() < MALFORMED:
            self.malformed += 1
            path, body, statuses = self.random.choice(WRONG)
            status, answer, is_open = await asked(reader, writer, path, body)
            fine = status in statuses and json.loads(answer).keys() == {"error"}
        else:
            rows = [
                [self.random.randrange(100) for _ in range(WIDTH)]
                for _ in range(self.random.randrange(1, 4))
            ]
            rows[0][0] = 1  # so that the first number of the answer is the version
            body = json.dumps({"instances": rows}).encode()
            oldest = self.seen
            status, answer, is_open = await asked(reader, writer, PATH, body)
            fine = status == 200 and self._is_right(rows, json.loads(answer), oldest)
        self.wrong += not fine
        return is_open

    def _is_right(
        self, rows: list[list[int]], answer: dict[str, list[list[float]]], oldest: int
    ) -> bool:
        """Whether an answer is that of one version, none older than the one that answered before."""
        version = int(answer["predictions"][0][0])
        self.seen = max(self.seen, version)
        expected = [[float(version * x) for x in row] for row in rows]
        # One more may be in the folder than `save` has returned for.
        return answer["predictions"] == expected and oldest <= version <= self.version + 1


async def asked(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: bytes
) -> tuple[int, bytes, bool]:
    """Status and body of an answer, and whether the connection stays open. Raises EOFError without one."""
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    with contextlib.suppress(ConnectionError):  # it may have been answered before it was sent
        await writer.drain()
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    answer = await reader.readexactly(int(headers["content-length"]))
    return int(lines[0].split()[1]), answer, headers.get("connection") != "close"


def measured(count: int) -> Result:
    """Sends so many requests to a server of its own."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "scaled").mkdir()
        save(folder, 1)
        with server(folder) as (pid, port):
            return asyncio.run(Load(port, pid, count, folder).run())


def grows(result: Result) -> bool:
    """Whether the server's memory grows by more than noise."""
    return result.slope * result.requests > soak.NOISE_BYTES


def table(result: Result) -> str:
    """What was seen, for docs/trust.md."""
    heads = ("requests", "malformed", "versions", "lost", "wrong", "memory, bytes per request")
    more = ("resident, MiB", "requests a second", "99 of 100 within")
    sizes = f"{result.first_bytes / 2**20:.0f} to {result.last_bytes / 2**20:.0f}"
    row = (
        f"{result.requests:,}",
        f"{result.malformed:,}",
        result.versions,
        result.lost,
        result.wrong,
        f"{result.slope:.2f}",
        sizes,
        f"{result.requests / result.seconds:.0f}",
        f"{result.p99 * 1e3:.0f} ms",
    )
    return page.table((*heads, *more), [row])


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="how many requests")
    parser.add_argument("--write", action="store_true", help="write the table to docs/trust.md")
    options = parser.parse_args()
    tf.get_logger().setLevel("ERROR")
    result = measured(options.count)
    text = table(result)
    print(text)
    if options.write:
        page.write("serving", f"python -m trust.serving --count {options.count}", text)
    return bool(result.lost or result.wrong or grows(result))


if __name__ == "__main__":
    sys.exit(main())
