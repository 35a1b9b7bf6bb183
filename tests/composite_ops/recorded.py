"""Answers of TensorFlow to calls of a namespace: how they are recorded and compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Answers = Mapping[str, Any]


def write(file: Path, version: str, found: Mapping[str, Any]) -> None:
    """Writes answers: one line for each call."""
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()]
    head = json.dumps({"tensorflow": version})
    file.write_text("{\n" + ",\n".join([f'"_meta": {head}', *lines]) + "\n}\n")


def answer(call: Callable[[], Any], arrays: Callable[[Any], list[np.ndarray]]) -> Any:
    """What a call gives: dtypes and values, or the class and first line of its error."""
    try:
        result = call()
        many = result if isinstance(result, (list, tuple)) else [result]
        types = [np.asarray(t).dtype.name for t in many]
        return [types, [a.round(7).tolist() for a in arrays(result)]]
    except Exception as e:
        return [type(e).__name__, str(e).strip().splitlines()[0]]


def compare(recorded: Any, result: Any, got: list[np.ndarray], tolerance: float) -> None:
    """Asserts that a call gives what TensorFlow gave."""
    types, values = recorded
    many = result if isinstance(result, (list, tuple)) else [result]
    assert [np.asarray(t).dtype.name for t in many] == types
    wanted = [np.asarray(a) for a in values]
    # Lists do not have the last dimensions of an empty array.
    assert [a.size and a.shape for a in got] == [a.size and a.shape for a in wanted]
    for mine, theirs in zip(got, wanted, strict=True):
        if mine.size:
            np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)
