"""Writes down which op types TensorFlow's documented functions call: `intaglio/opdef/needs.json`.

    path/to/python-with-tensorflow -m tests.parity.record_needs

from the repository's root. Intaglio names them where it lacks a name. What a function calls is
read off the names in its compiled code, through the functions of TensorFlow that it calls.
"""

from __future__ import annotations

import importlib
import inspect
import json
import types
from pathlib import Path
from typing import Any

import tensorflow as tf

ROOT = Path(__file__).parents[2]
SYMBOLS = ROOT / "tests" / "parity" / "api_symbols.txt"
# How far calls are followed: beyond, everything calls everything.
DEPTH = 2


def bare(function: Any) -> Any:
    """A function without its decorators."""
    return inspect.unwrap(function)


def place(function: Any) -> tuple[str, str]:
    """Module and name of a function, whatever it is wrapped in."""
    return function.__module__, function.__name__


def generated() -> dict[tuple[str, str], str]:
    """By the functions behind `tf.raw_ops`, the op types."""
    found: dict[tuple[str, str], str] = {}
    for name in dir(tf.raw_ops):
        wrapper = getattr(tf.raw_ops, name)
        for cell in getattr(wrapper, "__closure__", None) or ():
            if isinstance(cell.cell_contents, types.FunctionType):
                found[place(bare(cell.cell_contents))] = name
    return found


OPS = generated()


def called(function: types.FunctionType) -> list[types.FunctionType]:
    """The functions of TensorFlow that a function's code names."""
    names = [n for code in codes(function.__code__) for n in code.co_names]
    found: list[Any] = []
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, types.ModuleType):
            found += [vars(value).get(other) for other in names]
        else:
            found.append(value)
    functions = [bare(f) for f in found if callable(f) and hasattr(f, "__module__")]
    return [
        f
        for f in functions
        if isinstance(f, types.FunctionType) and f.__module__.startswith("tensorflow.python.ops")
    ]


def codes(code: types.CodeType) -> list[types.CodeType]:
    """A function's code, and that of the functions in it."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return [code, *[c for part in inner for c in codes(part)]]


def needs(value: Any, depth: int = DEPTH) -> set[str]:
    """The op types of a function, or of the methods of a class."""
    if isinstance(value, type):
        methods = [bare(m) for m in vars(value).values() if callable(m)]
        functions = [m for m in methods if isinstance(m, types.FunctionType)]
        return {op for m in functions for op in needs(m, depth)}
    value = bare(value)
    if not isinstance(value, types.FunctionType) or depth < 0:
        return set()
    if place(value) in OPS:
        return {OPS[place(value)]}
    return {op for f in called(value) for op in needs(f, depth - 1)}


def resolved(name: str) -> Any:
    """What a public name is; None if it is not there."""
    found: Any = tf
    for part in name.split(".")[1:]:
        if not hasattr(found, part):
            try:
                found = importlib.import_module(f"{found.__name__}.{part}")
            except (ImportError, AttributeError):
                return None
        else:
            found = getattr(found, part)
    return found


def main() -> None:
    """Writes the table."""
    table: dict[str, str] = {}
    for line in SYMBOLS.read_text(encoding="utf-8").splitlines():
        name = line.partition("(")[0]
        if name.startswith("tf.") and not name.startswith(("tf.keras", "tf.raw_ops")):
            table[name[3:]] = " ".join(sorted(needs(resolved(name))))
    path = ROOT / "intaglio" / "opdef" / "needs.json"
    path.write_text(json.dumps(table, indent=0) + "\n", encoding="utf-8")
    print(len(table), "names,", sum(map(bool, table.values())), "with op types")


if __name__ == "__main__":
    main()
