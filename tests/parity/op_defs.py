"""Reads TensorFlow's op declarations as they were recorded, by op."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "op_defs"


@functools.cache
def read() -> dict[str, dict[str, Any] | None]:
    """op -> its declaration (`record_op_defs.declaration`), None for ops of our own."""
    found: dict[str, dict[str, Any] | None] = {}
    for path in sorted(FOLDER.rglob("*.json")):
        table = json.loads(path.read_text(encoding="utf-8"))
        del table["_tensorflow"]
        found |= table
    return found
