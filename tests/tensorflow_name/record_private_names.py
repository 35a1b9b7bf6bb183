"""Records where TensorFlow's public symbols stand among its private modules, by asking it.

    path/to/python-with-tensorflow -m tests.tensorflow_name.record_private_names LIBRARY...

LIBRARY are folders of packages that import TensorFlow; the environment need not have them.
Without any, what `client_names.json` says of an earlier run is kept.
Writes three files. `intaglio/tensorflow_name/private_names.json`, module -> namespace -> names: of
all modules under `tensorflow.python` that `import tensorflow` or one of these libraries imports, the
names that are public elsewhere. `intaglio/compat_v1/same_names.json`, the same for
the namespaces of `tf.compat.v1`: the names that are the same object in TensorFlow 2. `client_names.json`
beside this file: which library uses which private name, and which name of `tf.compat.v1`.
"""

from __future__ import annotations

import ast
import collections
import importlib
import inspect
import json
import pathlib
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

HERE = pathlib.Path(__file__)
TABLE = HERE.parents[2] / "intaglio" / "tensorflow_name" / "private_names.json"
OLD_TABLE = HERE.parents[2] / "intaglio" / "compat_v1" / "same_names.json"
CLIENTS = HERE.with_name("client_names.json")
_PRIVATE = ("tensorflow.python.", "tensorflow.core.", "tensorflow.compiler.", "tensorflow.tools.")
_OLD = "tensorflow.compat.v1."
# Modules of one function for each op: the rule of `names` finds them in `tf.raw_ops`.
_GENERATED = "gen_"


def names_in(source: str) -> Iterator[str]:
    """The dotted names under `tensorflow` that a file imports or reads.

    >>> sorted(names_in("from tensorflow.python.ops import math_ops as m; m.add(1, 2)"))
    ['tensorflow.python.ops.math_ops', 'tensorflow.python.ops.math_ops.add']
    """
    tree = ast.parse(source)
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.name.partition(".")[0] == "tensorflow":
                    bound[one.asname or "tensorflow"] = one.name if one.asname else "tensorflow"
                    yield one.name
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tensorflow":
            for one in node.names:
                bound[one.asname or one.name] = f"{node.module}.{one.name}"
                yield bound[one.asname or one.name]
    for node in ast.walk(tree):
        parts: list[str] = []
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if parts and isinstance(inner, ast.Name) and inner.id in bound:
            yield ".".join([bound[inner.id], *reversed(parts)])


def resolved(name: str) -> tuple[str, str, Any] | None:
    """(module, name, value) of a dotted name as far as modules go, or None."""
    parts = name.replace("tensorflow.compat.v2.", "tensorflow.", 1).split(".")
    found: Any = importlib.import_module("tensorflow")
    path = "tensorflow"
    for part in parts[1:]:
        try:
            value = getattr(found, part, None)
            if value is None:
                value = importlib.import_module(f"{path}.{part}")
        except ImportError:  # of TensorFlow too: it has lazy modules for other packages
            return None
        if not isinstance(value, types.ModuleType):
            return path, part, value
        found, path = value, f"{path}.{part}"
    return path, "", found


def public_name(value: Any) -> str | None:
    """The public name of a symbol of TensorFlow, with `compat.v1.` where it is one of that."""
    tf_export = importlib.import_module("tensorflow.python.util.tf_export")
    try:
        name = tf_export.get_canonical_name_for_symbol(value, add_prefix_to_v1_names=True)
        old = tf_export.get_v1_names(value)
    except (AttributeError, ImportError, TypeError):
        return None
    return f"compat.v1.{old[0]}" if name is None and old else name


def used_by(folders: list[str]) -> dict[str, set[str]]:
    """Private names and those of TensorFlow 1 -> the libraries that use them."""
    users: dict[str, set[str]] = collections.defaultdict(set)
    for folder in map(pathlib.Path, folders):
        for path in folder.rglob("*.py"):
            try:
                found = set(names_in(path.read_text("utf-8")))
            except (SyntaxError, UnicodeDecodeError):
                continue
            for name in found:
                whole = name.replace("tensorflow.compat.v2.", "tensorflow.", 1)
                if whole.startswith((*_PRIVATE, _OLD)) or "__" in whole:
                    at = resolved(whole)
                    if at is not None:
                        users[f"{at[0]}.{at[1]}".rstrip(".")].add(folder.name)
    return users


def modules_for(users: Iterable[str]) -> list[str]:
    """The modules under `tensorflow.python`: all that are imported, and those of the users' names."""
    found = {name for name in sys.modules if name.startswith("tensorflow.python.")}
    for name in users:
        if name.startswith("tensorflow.python."):
            at = resolved(name)
            assert at is not None
            if at[0] in sys.modules:  # not a module that another one has imported
                found.add(at[0])
    copies = ("tensorflow.python.keras", "tensorflow.python.layers")  # of Keras 2: `OfKeras2`
    return sorted(
        name
        for name in found
        if not name.rpartition(".")[2].startswith(_GENERATED) and not name.startswith(copies)
    )


def table(users: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """module -> namespace -> names, `own=theirs` where the two differ."""
    found: dict[str, dict[str, list[str]]] = {}
    for module in modules_for(users):
        spaces: dict[str, list[str]] = collections.defaultdict(list)
        for name, value in vars(importlib.import_module(module)).items():
            if name.startswith("__") or isinstance(value, types.ModuleType):
                continue
            if (public := public_name(value)) is None:
                continue
            space, _, own = public.rpartition(".")
            if space != "raw_ops":  # what `from gen_..._ops import *` brings besides
                spaces[space].append(name if own == name else f"{name}={own}")
        if spaces:
            found[module.removeprefix("tensorflow.")] = {
                k: sorted(spaces[k]) for k in sorted(spaces)
            }
    return found


def namespaces(
    root: types.ModuleType, left_out: tuple[str, ...] = ()
) -> Iterator[tuple[str, str, Any]]:
    """(namespace, name, value) of all public symbols under a module of the API."""
    waiting: list[tuple[str, types.ModuleType]] = [("", root)]
    while waiting:
        space, module = waiting.pop()
        for name in dir(module):
            path = f"{space}.{name}".lstrip(".")
            if name.startswith("_") or path in left_out:
                continue
            try:
                value = getattr(module, name)
                inner = isinstance(value, types.ModuleType) and value.__name__
            except (AttributeError, ImportError):  # what Keras 2 would bring
                continue
            if inner and ("_api.v2" in inner or inner == f"tensorflow.{path}"):
                waiting.append((path, value))
            elif not inner:
                yield space, name, value


def _identity(value: Any) -> Any:
    """Module, name and parameters of a function, which two wrappers of one share."""
    if not inspect.isfunction(value):
        return None
    return value.__module__, value.__qualname__, _parameters(value)


def _parameters(value: Any) -> str | None:
    """The parameters of a function or class, None for anything else."""
    try:
        return str(inspect.signature(value)) if callable(value) else None
    except (TypeError, ValueError):
        return None


class _Names:
    """The names of TensorFlow 2, by their values."""

    def __init__(self, tf: Any, left_out: tuple[str, ...]) -> None:
        self._named: dict[str, Any] = {}
        self._places: dict[int, list[str]] = collections.defaultdict(list)
        # TensorFlow wraps functions of one operand again after some modules have got them.
        self._twins: dict[Any, list[str]] = collections.defaultdict(list)
        self._constants: dict[Any, list[str]] = collections.defaultdict(list)
        for space, name, value in namespaces(tf, left_out):
            own = f"{space}.{name}".lstrip(".")
            self._named[own] = value
            if isinstance(value, (bool, int, str)):
                self._constants[name, value].append(own)
                continue
            self._places[id(value)].append(own)
            if inspect.isfunction(value):
                self._twins[_identity(value)].append(own)

    def of(self, own: str, value: Any) -> str | None:
        """The name of a symbol of TensorFlow 1: of the same object or constant, or one that is called alike."""
        if isinstance(value, (bool, int, str)):
            known = self._constants.get((own.rpartition(".")[2], value), [])
        else:
            known = self._places.get(id(value)) or self._twins.get(_identity(value), [])
        if own in known:
            return own
        if known:
            return known[0]
        parameters = _parameters(value)
        there = self._named.get(own)
        alike = parameters is not None and parameters == _parameters(there)
        return own if alike and isinstance(value, type) == isinstance(there, type) else None


def old_table() -> dict[str, dict[str, list[str]]]:
    """Of `tf.compat.v1`: namespace -> namespace of TensorFlow 2 -> names that are the same."""
    tf = importlib.import_module("tensorflow")
    left_out = ("compat", "keras", "raw_ops", "lite", "estimator", "layers")
    names = _Names(tf, left_out)
    found: dict[str, dict[str, list[str]]] = {}
    for space, name, value in namespaces(tf.compat.v1, left_out):
        known = names.of(f"{space}.{name}".lstrip("."), value)
        if known is None:
            continue
        target, _, there = known.rpartition(".")
        entries = found.setdefault(space, {}).setdefault(target, [])
        entries.append(name if name == there else f"{name}={there}")
    return {one: found[one] for one in sorted(found)}


def write(path: pathlib.Path, value: dict[str, Any]) -> None:
    """Writes a table, a line for each module."""
    text = json.dumps(value, separators=(",", ":")).replace("},", "},\n")
    path.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """The command."""
    write(OLD_TABLE, old_table())  # first: the modules imported below change what others have
    if sys.argv[1:]:
        users = used_by(sys.argv[1:])
        lines = {name: sorted(users[name]) for name in sorted(users)}
    else:
        lines = json.loads(CLIENTS.read_text("utf-8"))
    write(TABLE, table(lines))
    CLIENTS.write_text(json.dumps(lines, indent=0) + "\n", encoding="utf-8")
    print(f"{len(lines)} names")


if __name__ == "__main__":
    main()
