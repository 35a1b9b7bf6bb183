"""Asks TensorFlow for the answers to the op samples.

    path/to/python-with-tensorflow -m tests.parity.record [family ...]

from the repository's root. Writes tests/parity/answers/<family>.json: for every sample the
outputs, or the class and first line of the error. Without names, all families.
"""

from __future__ import annotations

import datetime
import os
import sys
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # plain kernels: stable sums

import numpy as np
import tensorflow as tf

from tests.ops import samples
from tests.parity.answers import FOLDER, encode, write

VERSION = tf.__version__


def _given(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return tf.constant(value.tolist(), tf.string, shape=value.shape)
        return tf.constant(value)
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return [_given(v) for v in value]
    return value


def _flat(result: Any) -> list[Any]:
    if result is None or isinstance(result, tf.Operation):
        return []
    if isinstance(result, (list, tuple)):
        return [leaf for item in result for leaf in _flat(item)]
    return [result]


def answer(sample: samples.Sample) -> dict[str, Any]:
    """What TensorFlow answers."""
    tf.random.set_seed(1)  # forgets the kernels, and with them their random streams
    try:
        args = {k: _given(v) for k, v in sample.args.items()}
        result = getattr(tf.raw_ops, sample.op)(**args)
        outputs = []
        for tensor in _flat(result):
            value = tensor.numpy()
            # as objects, so that NumPy keeps zeros at the end of a text
            array = np.asarray(value, object if isinstance(value, bytes) else None)
            outputs.append(encode(array.astype(object) if array.dtype.kind in "SU" else array))
        return {"outputs": outputs}
    except Exception as e:
        text = str(e).strip()
        return {"error": [type(e).__name__, text.splitlines()[0] if text else ""]}


def _unexpected(sample: samples.Sample, made: dict[str, Any]) -> str | None:
    if sample.error is None:
        return f"refused: {made['error']}" if "error" in made else None
    if "error" not in made:
        return "accepted, but the sample expects an error"
    kind, phrase = made["error"]
    if kind != sample.error[0] or sample.error[1] not in phrase:
        return f"another error: {kind}: {phrase}"
    return None


def main(wanted: list[str]) -> int:
    """Records the families named, or all. Returns the number of surprises."""
    by_family: dict[str, list[samples.Sample]] = {}
    for known in samples.load().values():
        for one in known:
            by_family.setdefault(one.family, []).append(one)
    FOLDER.mkdir(exist_ok=True)
    surprises = 0
    for family in wanted or sorted(by_family):
        meta = {"tensorflow": VERSION, "date": str(datetime.date.today())}
        table: dict[str, Any] = {"_meta": meta}
        for one in by_family[family]:
            if one.parity is not True:
                continue
            table[one.key] = made = answer(one)
            odd = _unexpected(one, made)
            if odd:
                surprises += 1
                print(f"{family}: {one.label}: {odd}")
        write(FOLDER / f"{family}.json", table)
        print(f"{family}: {len(table) - 1} answers")
    return surprises


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
