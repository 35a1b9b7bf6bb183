"""What a program's source uses of TensorFlow, and whether it is there: `intaglio coverage`.

Nothing is run. Names bound by `import tensorflow as tf`, `from tensorflow import keras` and their like
are followed through attributes: `tf.nn.relu` is looked up, what values have is not.
"""

from __future__ import annotations

import ast
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from intaglio.base import later

ROOTS = ("tensorflow", "intaglio.tf")
_UNSUPPORTED = "NotImplementedError"


class Use(NamedTuple):
    """A name of TensorFlow's that a program uses first in a line, and whether it is there.

    `status` is `"available"`, `"missing"`, or `"not implemented"` for what raises that.
    """

    name: str
    file: str
    line: int
    status: str


def coverage_of(paths: Sequence[str]) -> list[Use]:
    """The uses in Python files, in all files of folders, or in standard input for `-`.

    Raises SyntaxError for what is no Python, OSError for a file that cannot be read.
    """
    found: dict[str, Use] = {}
    for name, source in _sources(paths):
        for used, line in sorted(_names(ast.parse(source, name)), key=lambda n: n[1]):
            if used not in found:
                found[used] = Use(used, name, line, _status(used))
    return sorted(found.values())


def _sources(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        if path == "-":
            yield "-", sys.stdin.read()
            continue
        files = sorted(pathlib.Path(path).rglob("*.py")) if pathlib.Path(path).is_dir() else [path]
        for file in files:
            yield str(file), pathlib.Path(file).read_text(encoding="utf-8")


def _names(tree: ast.AST) -> set[tuple[str, int]]:
    """Dotted names below `tf`, the longest chains, with their lines."""
    bound: dict[str, str] = {}  # names of the program, and what of tf they are
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                inner = _below(alias.name)
                if inner is not None:
                    bound[alias.asname or alias.name.split(".")[0]] = (
                        inner if alias.asname else "tf"
                    )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inner = _below(node.module)
            for alias in node.names if inner is not None else ():
                bound[alias.asname or alias.name] = f"{inner}.{alias.name}"
            if node.module == "intaglio":
                bound.update({a.asname or "tf": "tf" for a in node.names if a.name == "tf"})
    found: set[tuple[str, int]] = set()
    inside: set[int] = set()
    for node in ast.walk(tree):  # outer attributes come before inner ones
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Attribute):
                inside.add(id(node.value))
            chain = _chain(node, bound)
            if chain is not None and id(node) not in inside:
                found.add((chain, node.lineno))
    found |= {(name, 1) for name in bound.values() if name != "tf"}
    return found


def _below(module: str) -> str | None:
    for root in ROOTS:
        if module == root or module.startswith(f"{root}."):
            return f"tf{module.removeprefix(root)}"
    return None


def _chain(node: ast.expr, bound: dict[str, str]) -> str | None:
    if isinstance(node, ast.Name):
        return bound.get(node.id)
    if isinstance(node, ast.Attribute):
        inner = _chain(node.value, bound)
        return None if inner is None else f"{inner}.{node.attr}"
    return None


def _status(name: str) -> str:
    """Whether a dotted name is there; behind a class or function attributes are not followed."""
    value: Any = later.named("intaglio.tf")
    for part in name.split(".")[1:]:
        if not isinstance(value, type(later)):
            break
        try:
            value = getattr(value, part)
        except AttributeError:
            try:
                value = later.named(f"{value.__name__}.{part}")
            except ImportError:
                return "missing"
        except NotImplementedError:
            return "not implemented"
    return "not implemented" if _only_raises(value) else "available"


def _only_raises(value: Any) -> bool:
    """True for a function or class whose body does nothing but raise NotImplementedError."""
    function = value.__init__ if isinstance(value, type) else value
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    return code is not None and _UNSUPPORTED in code.co_names and len(code.co_names) == 1
