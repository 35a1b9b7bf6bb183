"""Asks TensorFlow what it says to the wrong calls of every op.

    path/to/python-with-tensorflow -m tests.parity.record_errors [op ...]

from the repository's root. Writes tests/parity/errors.json: for every op, under the class of the
error, the keys of the calls that raise it. Two classes are none: "accepted", and "crash" where
the process dies. Calls are made in forked processes, which begin anew after a crash.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from typing import IO

from tests.ops import samples
from tests.parity import errors, record, wrong_calls

# A call that takes longer has met a loop without end.
SECONDS = 20
# Answers in the interpreter of Python, prints, or waits: nothing to be compared.
LEFT_OUT = frozenset({"PyFunc", "EagerPyFunc"})


def _say(calls: list[samples.Sample], pipe: IO[str]) -> None:
    for call in calls:
        signal.alarm(SECONDS)
        made = record.answer(call)
        pipe.write((made["error"][0] if "error" in made else errors.ACCEPTED) + "\n")
        pipe.flush()


def _in_child(calls: list[samples.Sample]) -> list[str]:
    """What a forked process said before it ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        with os.fdopen(writing, "w") as pipe:
            _say(calls, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read().split()
    os.waitpid(child, 0)
    return said


def answers(calls: list[samples.Sample]) -> Iterator[str]:
    """The class for each call."""
    while calls:
        said = _in_child(calls)
        if len(said) < len(calls):
            said.append(errors.CRASH)
        yield from said
        calls = calls[len(said) :]


def main(wanted: list[str]) -> None:
    """Records the ops named, or all."""
    known = samples.load()
    table = errors.read() if wanted and errors.FILE.exists() else {}
    batch: list[samples.Sample] = []
    for op in wanted or sorted(known.keys() - LEFT_OUT):
        table[op] = {}
        batch += wrong_calls.of(known[op])
    for call, kind in zip(batch, answers(batch), strict=True):
        table[call.op].setdefault(kind, []).append(call.key.partition("#")[2])
    errors.write(table)
    print(f"{len(batch)} calls of {len(wanted) or len(table)} ops")


if __name__ == "__main__":
    main(sys.argv[1:])
