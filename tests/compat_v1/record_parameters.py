"""Records the parameters of the functions of `tf.compat.v1`, by asking TensorFlow for them.

    path/to/python-with-tensorflow -m tests.compat_v1.record_parameters

Writes `parameters.json` beside this file: namespace and name -> parameters in order. Left out are
ops of `raw_ops`, classes, Keras, and functions that say no parameters.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pathlib
import types
from collections.abc import Iterator
from typing import Any

FILE = pathlib.Path(__file__).with_name("parameters.json")
_ELSEWHERE = (
    "keras",
    "layers",
    "raw_ops",
    "lite",
    "rnn_cell",
    "types",
    "app",
    "flags",
    "compat",
    "mlir",
)


def functions(space: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The functions of a namespace and of those in it, with their names."""
    for name in sorted(dir(space)):
        if name.startswith("_") or name in _ELSEWHERE:
            continue
        value = getattr(space, name, None)
        if isinstance(value, types.ModuleType):
            if "v1" in value.__name__:
                yield from functions(value, f"{prefix}{name}.")
        elif callable(value) and not isinstance(value, type):
            yield prefix + name, value


def parameters(function: Any) -> list[str]:
    """The names of its parameters, in order."""
    spec = inspect.getfullargspec(function)
    return [*spec.args, *spec.kwonlyargs]


def main() -> None:
    """The command."""
    v1 = importlib.import_module("tensorflow").compat.v1
    found = {name: parameters(function) for name, function in functions(v1)}
    text = json.dumps({n: p for n, p in found.items() if p}, sort_keys=True)
    FILE.write_text(text.replace("], ", "],\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
