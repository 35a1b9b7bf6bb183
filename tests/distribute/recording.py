"""Programs for several logical devices, run here and on TensorFlow, and what they say.

A program of `programs/` has a function `main(tf, say)`; `say(name, function)` notes what the function
returns, or its error. Devices are divided once in a process, so that each program has its own.
Recording what TensorFlow says, from the repository's root:

    path/to/python-with-tensorflow -m tests.distribute.recording [program ...]

writes programs/<program>.json. The tests run `python -m tests.distribute.recording --intaglio program`.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "programs"
ROOT = FOLDER.parent.parent.parent


def said(name: str, tf: Any) -> dict[str, str]:
    """What a program says on this implementation."""
    found: dict[str, str] = {}

    def say(label: str, function: Callable[[], Any]) -> None:
        assert label not in found, label
        try:
            found[label] = _plain(repr(function()))
        except Exception as e:
            found[label] = _plain(f"{type(e).__name__}: {e}")

    importlib.import_module(f"tests.distribute.programs.{name}").main(tf, say)
    return found


def _plain(text: str) -> str:
    """Without what differs for good: addresses, positions, notes behind the message."""
    text = re.sub(r" object at 0x[0-9a-f]+", " object", text)
    text = re.sub(r"\s*\[Op:\w+\]( name: ?[\w/]*)?", "", text)
    text = re.sub(r"VariableAggregationV2", "VariableAggregation", text)
    return re.sub(r"\{\{function_node [^}]*\}\} ", "", text).strip()


def names() -> list[str]:
    """The programs."""
    return sorted(f.stem for f in FOLDER.glob("*.py") if f.stem != "__init__")


def has_keras() -> bool:
    """Whether programs may train with Keras."""
    return importlib.util.find_spec("keras") is not None


def answers(name: str) -> dict[str, str]:
    """What TensorFlow said."""
    return json.loads((FOLDER / f"{name}.json").read_text())


def said_here(name: str, option: str = "--intaglio") -> dict[str, str]:
    """What a program says on Intaglio, in a process of its own. Raises RuntimeError if it fails.

    With `--xla` every `tf.function` of the program is compiled by XLA.
    """
    command = [sys.executable, "-m", "tests.distribute.recording", option, name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


def are_close(found: str, expected: str) -> bool:
    """Whether two answers are the same but for numbers, and these within 1e-5."""

    def form(text: str) -> str:
        return _NUMBER.sub("#", re.sub(r"\s+", " ", text))

    if form(found) != form(expected):
        return False
    pairs = zip(_NUMBER.findall(found), _NUMBER.findall(expected), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=1e-5, abs_tol=1e-6) for a, b in pairs)


def _compiled(tf: Any) -> Any:
    """The module, whose functions XLA compiles."""
    traced = tf.function

    def function(func: Any = None, **options: Any) -> Any:
        options["jit_compile"] = True
        return traced(func, **options) if func else lambda f: traced(f, **options)

    tf.function = function
    return tf


def _record(name: str) -> None:
    """Writes what this process' TensorFlow says."""
    found = said(name, importlib.import_module("tensorflow"))
    (FOLDER / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--intaglio"]:
        print(json.dumps(said(sys.argv[2], importlib.import_module("intaglio.tf"))))
    elif sys.argv[1:2] == ["--xla"]:
        importlib.import_module("intaglio").backend("xla")
        module = _compiled(importlib.import_module("intaglio.tf"))
        print(json.dumps(said(sys.argv[2], module)))
    elif len(sys.argv) == 2:
        _record(sys.argv[1])
    else:
        for each in sys.argv[1:] or names():
            subprocess.run([sys.executable, "-m", __spec__.name, each], cwd=ROOT, check=True)
