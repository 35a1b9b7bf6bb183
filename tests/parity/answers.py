"""Reads the answers that TensorFlow gave to the op samples."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.samples import NUMPY, Sample

FOLDER = Path(__file__).parent / "answers"


@functools.cache
def family(name: str) -> dict[str, Any]:
    """A family's answers by sample key, with `_meta` for the TensorFlow that gave them."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def of(sample: Sample) -> dict[str, Any] | None:
    """The answer to a sample, or None if none was recorded."""
    return family(sample.family).get(sample.key)


def arrays(answer: dict[str, Any]) -> list[np.ndarray]:
    """The outputs that an answer holds. Raises AssertionError for an error answer."""
    assert "error" not in answer, f"TensorFlow refuses this: {answer['error']}"
    return [decode(item) for item in answer["outputs"]]


def encode(array: np.ndarray) -> dict[str, Any]:
    """An array as JSON: its dtype, shape and bytes, or its strings as Latin-1."""
    if array.dtype == object:
        data: Any = [
            (v.encode() if isinstance(v, str) else v).decode("latin-1")
            for v in array.reshape(-1)
        ]
        return {"dtype": "string", "shape": list(array.shape), "data": data}
    data = np.ascontiguousarray(array).tobytes().hex()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def decode(item: dict[str, Any]) -> np.ndarray:
    """The array that `encode` wrote."""
    shape = tuple(item["shape"])
    if item["dtype"] == "string":
        result = np.empty(len(item["data"]), object)
        result[:] = [v.encode("latin-1") for v in item["data"]]
        return result.reshape(shape)
    flat = np.frombuffer(bytes.fromhex(item["data"]), NUMPY[item["dtype"]])
    return flat.reshape(shape)
