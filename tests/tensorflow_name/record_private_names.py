"""Records where TensorFlow's public symbols stand among its private modules, by asking it.

    path/to/python-with-tensorflow -m tests.tensorflow_name.record_private_names LIBRARY...

LIBRARY are folders of packages that import TensorFlow; the environment need not have them.
Writes three files. `intaglio/tensorflow_name/private_names.json`, module -> namespace -> names: of
the modules under `tensorflow.python` that these libraries import, the names that are public elsewhere
(defined in the module, or used of it by a library). `intaglio/compat_v1/same_names.json`, the same for
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
from collections.abc import Iterator
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


def table(users: dict[str, set[str]]) -> dict[str, dict[str, list[str]]]:
    """module -> namespace -> names, `own=theirs` where the two differ."""
    modules: set[str] = set()
    for name in users:
        if name.startswith("tensorflow.python."):
            at = resolved(name)
            assert at is not None
            if at[0] in sys.modules:  # not a module that another one has imported
                modules.add(at[0])
    found: dict[str, dict[str, list[str]]] = {}
    for module in sorted(modules):
        if module.rpartition(".")[2].startswith(_GENERATED):
            continue
        spaces: dict[str, list[str]] = collections.defaultdict(list)
        for name, value in vars(importlib.import_module(module)).items():
            public = None if name.startswith("__") else public_name(value)
            here = getattr(value, "__module__", None) == module
            if public is None or not (here or f"{module}.{name}" in users):
                continue
            space, _, own = public.rpartition(".")
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
            if inner and "_api.v2" in inner:
                waiting.append((path, value))
            elif not inner:
                yield space, name, value


def _identity(value: Any) -> Any:
    """Module, name and parameters of a function, which two wrappers of one share."""
    if not inspect.isfunction(value):
        return None
    return value.__module__, value.__qualname__, str(inspect.signature(value))


def old_table() -> dict[str, dict[str, list[str]]]:
    """Of `tf.compat.v1`: namespace -> namespace of TensorFlow 2 -> names that are the same."""
    tf = importlib.import_module("tensorflow")
    left_out = ("compat", "keras", "raw_ops", "lite", "estimator", "layers")
    places: dict[int, list[str]] = collections.defaultdict(list)
    # TensorFlow wraps functions of one operand again after some modules have got them.
    twins: dict[Any, list[str]] = collections.defaultdict(list)
    for space, name, value in namespaces(tf, left_out):
        places[id(value)].append(f"{space}.{name}".lstrip("."))
        if inspect.isfunction(value):
            twins[_identity(value)].append(f"{space}.{name}".lstrip("."))
    found: dict[str, dict[str, list[str]]] = {}
    for space, name, value in namespaces(tf.compat.v1, left_out):
        own = f"{space}.{name}".lstrip(".")
        known = places.get(id(value), [])
        if not known and _identity(value) in twins:
            known = twins[_identity(value)]
        if not known or isinstance(value, (bool, int, str)):
            continue
        target, _, there = (own if own in known else known[0]).rpartition(".")
        names = found.setdefault(space, {}).setdefault(target, [])
        names.append(name if name == there else f"{name}={there}")
    return {one: found[one] for one in sorted(found)}


def write(path: pathlib.Path, value: dict[str, Any]) -> None:
    """Writes a table, a line for each module."""
    text = json.dumps(value, separators=(",", ":")).replace("},", "},\n")
    path.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """The command."""
    write(OLD_TABLE, old_table())  # first: the modules imported below change what others have
    users = used_by(sys.argv[1:])
    write(TABLE, table(users))
    lines = {name: sorted(users[name]) for name in sorted(users)}
    CLIENTS.write_text(json.dumps(lines, indent=0) + "\n", encoding="utf-8")
    print(f"{len(lines)} names")


if __name__ == "__main__":
    main()
