"""`intaglio launch -n 2 script.py`: the processes of a cluster on this machine, one for each worker.

Each gets the environment variable TF_CONFIG, as the strategies of several workers read it. What they write has
their number before each line. When one fails, the others are given a while to say so, and are ended.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO, TextIO

# Seconds that the others have after one has failed.
GRACE = 20.0


def launch(arguments: Sequence[str]) -> int:
    """Runs a script in several processes; returns 0, or the exit code of the first that failed."""
    parser = argparse.ArgumentParser(
        prog="intaglio launch", description="Runs a script in several processes on this machine."
    )
    parser.add_argument("-n", "--workers", type=int, required=True, help="how many processes")
    parser.add_argument("--grace", type=float, default=GRACE, help="seconds after a failure")
    parser.add_argument("script", help="a Python file, which is run as by `intaglio run`")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(list(arguments))
    if options.workers < 1:
        parser.error(f"-n is a number of processes, at least 1, not {options.workers}")
    addresses = [f"127.0.0.1:{port}" for port in free_ports(options.workers)]
    command = [sys.executable, "-m", "intaglio", "run", options.script, *options.arguments]
    workers = [_started(command, addresses, i) for i in range(options.workers)]
    writers = [
        _copied(i, source, copy)
        for i, worker in enumerate(workers)
        for source, copy in ((worker.stdout, sys.stdout), (worker.stderr, sys.stderr))
    ]
    try:
        return _to_the_end(workers, options.grace)
    finally:
        for worker in workers:
            if worker.poll() is None:
                worker.kill()
            worker.wait()
        for writer in writers:
            writer.join()


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens at now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _started(
    command: Sequence[str], addresses: Sequence[str], index: int
) -> subprocess.Popen[bytes]:
    config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
    environment = {**os.environ, "TF_CONFIG": json.dumps(config), "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def _copied(index: int, source: IO[bytes] | None, copy: TextIO) -> threading.Thread:
    """A thread that copies what a worker writes, line by line."""
    assert source is not None  # the worker was started with pipes

    def run() -> None:
        for line in source:
            print(f"[{index}] {line.decode(errors='replace')}", end="", file=copy, flush=True)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def _to_the_end(workers: Sequence[subprocess.Popen[bytes]], grace: float) -> int:
    failed, end = 0, float("inf")
    while any(worker.poll() is None for worker in workers) and time.monotonic() < end:
        for index, worker in enumerate(workers):
            if worker.poll() and not failed:
                failed, end = worker.returncode, time.monotonic() + grace
                print(
                    f"intaglio launch: worker {index} ended with exit code {failed}; the others have "
                    f"{grace:g} s to end",
                    file=sys.stderr,
                    flush=True,
                )
        time.sleep(0.05)
    codes = [worker.poll() for worker in workers]
    return failed or next((c for c in codes if c), 0)


__all__ = ["free_ports", "launch"]
