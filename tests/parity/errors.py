"""Reads and writes what TensorFlow says to wrong calls."""

from __future__ import annotations

import functools
import json
from pathlib import Path

from tests.ops.samples import Sample

FILE = Path(__file__).parent / "errors.json"
ACCEPTED = "accepted"
CRASH = "crash"

Table = dict[str, dict[str, list[str]]]


def read() -> Table:
    """op -> class of the error -> keys of the calls."""
    return json.loads(FILE.read_text())


def write(table: Table) -> None:
    """Writes the file, an op to a line."""
    lines = [f"{json.dumps(op)}: {json.dumps(table[op])}" for op in sorted(table)]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


@functools.cache
def _by_key() -> dict[str, str]:
    return {
        f"{op}#{key}": kind
        for op, kinds in read().items()
        for kind, keys in kinds.items()
        for key in keys
    }


def of(call: Sample) -> str | None:
    """The class that TensorFlow raises, ACCEPTED, CRASH, or None if it was not asked."""
    return _by_key().get(call.key)
