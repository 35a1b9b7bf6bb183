"""Asks TensorFlow for what the calls of calls.txt give, and for its promotion tables.

    path/to/python-with-tensorflow -m tests.numpy_api.record

from the repository's root writes answers.json and promotion.json, and weak_answers.json: what
the calls of weak_calls.txt and calls.txt give where types are weak. Each mode of
`experimental_enable_numpy_behavior` has a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
DTYPES = (
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
    "bfloat16", "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
# What operands are, besides tensors of these types: Python numbers.
NUMBERS = {"int": 1, "float": 1.0, "complex": 1j}
# prefer_float32, dtype_conversion_mode
WEAK = ("all", "safe")
MODES = [(False, "legacy"), (True, "legacy"), (False, "off"), *[(False, m) for m in WEAK]]


def calls(file: str = "calls.txt") -> list[str]:
    """The calls of a file."""
    lines = (HERE / file).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("##")]


def weak_calls() -> list[str]:
    """The calls that are asked where types are weak."""
    return [*dict.fromkeys([*calls("weak_calls.txt"), *calls()])]


def _space(tf: Any) -> dict[str, Any]:
    return {
        "tf": tf,
        "np": np,
        "tnp": tf.experimental.numpy,
        "x": tf.constant([[1, 2], [3, 4]]),
        "w": tf.constant(1),
        "wf": tf.constant(1.5),
        "wc": tf.constant(1j),
        "wv": tf.constant([1.5, 2.5]),
        "s": tf.constant(1, tf.int32),
        "v": tf.Variable(1),
        "vf": tf.Variable([1.0, 2.0]),
    }


def answer(call: str, tf: Any) -> list[str]:
    """What a call gives: its text, or the class of its error and the message's first line."""
    space = _space(tf)
    try:
        return ["value", repr(eval(call, space))]
    except Exception as e:
        return [type(e).__name__, str(e).strip().splitlines()[0] if str(e) else ""]


def table(tf: Any) -> dict[str, list[str]]:
    """The type of every sum: of `tnp.add`, and of the operator."""
    values: dict[str, Any] = {name: tf.constant(name == "bool" or 1, dtype=name) for name in DTYPES}
    values.update(NUMBERS)
    found: dict[str, list[str]] = {}
    for first, one in values.items():
        row: list[str] = []
        for second, two in values.items():
            for add in (tf.experimental.numpy.add, lambda a, b: a + b):
                if add is not tf.experimental.numpy.add and {first, second} <= {*NUMBERS}:
                    continue
                try:
                    made = add(one, two)
                    weak = "*" if repr(made).endswith("weak=True>") else ""
                    row.append(made.dtype.name + weak)
                except Exception as e:
                    row.append(type(e).__name__)
        found[first] = row
    return found


def _lines(answers: dict[str, Any]) -> str:
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in answers.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> None:
    """Records, or, with a mode as argument, prints that mode's table."""
    if len(sys.argv) > 1:
        import tensorflow as tf

        mode, preferred = sys.argv[1], sys.argv[2] == "True"
        tnp = tf.experimental.numpy
        tnp.experimental_enable_numpy_behavior(preferred, mode)
        asked = weak_calls() if mode in WEAK else [] if preferred else calls()
        found = {call: answer(call, tf) for call in asked}
        print(json.dumps({"table": table(tf), "calls": found}))
        return
    weak: dict[str, Any] = {}
    tables: dict[str, Any] = {}
    for preferred, mode in MODES:
        command = [sys.executable, "-m", "tests.numpy_api.record", mode, str(preferred)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(run.stdout.splitlines()[-1])
        tables[f"{mode} {preferred}"] = found["table"]
        if mode == "legacy" and not preferred:
            (HERE / "answers.json").write_text(_lines(found["calls"]))
        elif mode in WEAK:
            for call, given in found["calls"].items():
                weak.setdefault(call, {})[mode] = given
    alike = {c: m["all"] if m["all"] == m["safe"] else m for c, m in weak.items()}
    (HERE / "weak_answers.json").write_text(_lines(alike))
    (HERE / "promotion.json").write_text(json.dumps(tables, indent=1) + "\n")


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    main()
