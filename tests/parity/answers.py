"""Reads the answers that TensorFlow gave to the op samples."""

from __future__ import annotations

import base64
import functools
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.samples import NUMPY, Sample

FOLDER = Path(__file__).parent / "answers"
# To the calls derived from the samples.
VARIANTS = Path(__file__).parent / "variants"
# Bytes that are worth compressing, and the sign that they are (no hexadecimal digit).
LONG = 160
ZIPPED = "z"


@functools.cache
def family(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """A family's answers by sample key, with `_meta` for the TensorFlow that gave them."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def write(path: Path, table: dict[str, Any]) -> None:
    """Writes a family's file, an answer to a line."""
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in table.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def of(sample: Sample, folder: Path = FOLDER) -> dict[str, Any] | None:
    """The answer to a sample, or None if none was recorded."""
    return family(sample.family, folder).get(sample.key)


def arrays(answer: dict[str, Any]) -> list[np.ndarray]:
    """The outputs that an answer holds. Raises AssertionError for an error answer."""
    assert "error" not in answer, f"TensorFlow refuses this: {answer['error']}"
    return [decode(item) for item in answer["outputs"]]


def encode(array: np.ndarray) -> dict[str, Any]:
    """An array as JSON: its dtype, shape and bytes, or its strings as Latin-1.

    Bytes are written as hexadecimal digits, many of them compressed.
    """
    if array.dtype == object:
        data: Any = [
            (v.encode() if isinstance(v, str) else v).decode("latin-1") for v in array.reshape(-1)
        ]
        return {"dtype": "string", "shape": list(array.shape), "data": data}
    data = np.ascontiguousarray(array).tobytes()
    data = data.hex() if len(data) < LONG else ZIPPED + _zipped(data)
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def decode(item: dict[str, Any]) -> np.ndarray:
    """The array that `encode` wrote; of one that was too large, dtype and shape alone."""
    shape = tuple(item["shape"])
    if item["data"] is None:
        return np.broadcast_to(np.zeros((), NUMPY[item["dtype"]]), shape)
    if item["dtype"] == "string":
        result = np.empty(len(item["data"]), object)
        result[:] = [v.encode("latin-1") for v in item["data"]]
        return result.reshape(shape)
    data = item["data"]
    raw = _unzipped(data[1:]) if data.startswith(ZIPPED) else bytes.fromhex(data)
    return np.frombuffer(raw, NUMPY[item["dtype"]]).reshape(shape)


def _zipped(data: bytes) -> str:
    return base64.b85encode(zlib.compress(data, 9)).decode()


def _unzipped(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text))
