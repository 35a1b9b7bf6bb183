"""Calls of TensorFlow made in forked processes, which begin anew after a crash."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from typing import IO, Any

from tests.ops.samples import Sample

# A call that takes longer has met a loop without end.
SECONDS = 20


def answers(calls: list[Sample], answer: Callable[[Sample], Any], crash: Any) -> Iterator[Any]:
    """What `answer` says (as JSON can have it) to each call, `crash` where the process dies."""
    while calls:
        said = _in_child(calls, answer)
        if len(said) < len(calls):
            said.append(crash)
        yield from said
        calls = calls[len(said) :]


def _in_child(calls: list[Sample], answer: Callable[[Sample], Any]) -> list[Any]:
    """What a forked process said before it ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        with os.fdopen(writing, "w") as pipe:
            _say(calls, answer, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        lines = pipe.read().split("\n")
    os.waitpid(child, 0)
    return [json.loads(line) for line in lines[:-1]]


def _say(calls: list[Sample], answer: Callable[[Sample], Any], pipe: IO[str]) -> None:
    for call in calls:
        signal.alarm(SECONDS)
        pipe.write(json.dumps(answer(call)) + "\n")
        pipe.flush()
