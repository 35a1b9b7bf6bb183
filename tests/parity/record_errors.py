"""Asks TensorFlow what it says to the wrong calls of every op.

    path/to/python-with-tensorflow -m tests.parity.record_errors [op ...]

from the repository's root. Writes tests/parity/errors.json: for every op, under the class of the
error, the keys of the calls that raise it. Two classes are none: "accepted", and "crash" where
the process dies.
"""

from __future__ import annotations

import sys

from tests.ops import samples
from tests.parity import errors, forked, record, wrong_calls

# Answers in the interpreter of Python, prints, or waits: nothing to be compared.
LEFT_OUT = frozenset({"PyFunc", "EagerPyFunc"})


def kind_of(call: samples.Sample) -> str:
    """The class of the error, or ACCEPTED."""
    made = record.answer(call)
    return made["error"][0] if "error" in made else errors.ACCEPTED


def main(wanted: list[str]) -> None:
    """Records the ops named, or all."""
    known = samples.load()
    table = errors.read() if wanted and errors.FILE.exists() else {}
    batch: list[samples.Sample] = []
    for op in wanted or sorted(known.keys() - LEFT_OUT):
        table[op] = {}
        batch += wrong_calls.of(known[op])
    kinds = forked.answers(batch, kind_of, errors.CRASH)
    for call, kind in zip(batch, kinds, strict=True):
        table[call.op].setdefault(kind, []).append(call.key.partition("#")[2])
    errors.write(table)
    print(f"{len(batch)} calls of {len(wanted) or len(table)} ops")


if __name__ == "__main__":
    main(sys.argv[1:])
