"""`intaglio.tf` is a documented face: names, docstrings, no machinery behind the scenes."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import types
from collections.abc import Callable
from typing import Any

import pytest

import intaglio
from intaglio import tf
from tests.architecture.sources import PACKAGE, ROOT, name_of, text_of, tree_of

MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(tf.__path__, "intaglio.tf.")
]
# The shortest docstring that says something: three words.
FEWEST_WORDS = 3
# Where public functions are defined: in the face, and in layers that it re-exports.
FACE = [
    path
    for path in PACKAGE
    if path.relative_to(ROOT / "intaglio").parts[0]
    in ("tf", "composite_ops", "feature_columns", "linear_operators", "numpy_api")
]
SYMBOLS = ROOT / "tests" / "parity" / "api_symbols.txt"


def of_module(module: types.ModuleType) -> list[str]:
    """The names that a module offers: its `__all__`, or what it defines itself."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if name[0] != "_" and getattr(value, "__module__", None) == module.__name__
    ]


def own_docstring(value: Any) -> str:
    """A docstring written for this object, not the one that a class inherits."""
    if isinstance(value, type):
        return vars(value).get("__doc__") or ""
    return getattr(value, "__doc__", None) or ""


def is_ours(value: Any) -> bool:
    return (inspect.isfunction(value) or isinstance(value, type)) and (
        value.__module__ or ""
    ).startswith("intaglio")


@pytest.mark.parametrize("module", [tf, *MODULES], ids=lambda m: m.__name__)
def test_every_offered_name_exists(module: types.ModuleType) -> None:
    names = of_module(module)
    assert len(names) == len(set(names)), "a name stands in __all__ twice"
    assert not [name for name in names if not hasattr(module, name)]


def test_every_public_function_and_class_has_a_docstring() -> None:
    silent = [
        f"{module.__name__}.{name}"
        for module in (tf, *MODULES)
        for name in of_module(module)
        if is_ours(value := getattr(module, name))
        and len(own_docstring(value).split()) < FEWEST_WORDS
    ]
    assert not silent


def test_every_public_method_has_a_docstring() -> None:
    silent = {
        f"{owner.__module__}.{owner.__name__}.{name}"
        for module in (tf, *MODULES)
        for owner in map(vars(module).get, of_module(module))
        if isinstance(owner, type) and is_ours(owner)
        for name, value in vars(owner).items()
        if name[0] != "_" and isinstance(value, (types.FunctionType, property))
        if not inspect.getdoc(getattr(owner, name))
    }
    assert not silent


def conventional_parameters() -> set[str]:
    """The parameters that `docs/index.md` describes, which mean the same in all functions."""
    rows = text_of(ROOT / "docs" / "index.md").partition("| parameter |")[2].splitlines()
    return {name for row in rows for name in re.findall(r"`(\w+)`", row.partition("| ")[2][:60])}


def functions() -> dict[str, Callable[..., Any]]:
    """The public functions, each by one of its names."""
    found: dict[int, tuple[str, Callable[..., Any]]] = {}
    for module in (tf, *MODULES):
        for name in of_module(module):
            value = getattr(module, name)
            if inspect.isfunction(value) and is_ours(value):
                found.setdefault(id(value), (f"{module.__name__}.{name}", value))
    return dict(found.values())


def described(function: Callable[..., Any]) -> str:
    """A function's docstring, and those of the functions that it refers to."""
    text = own_docstring(function)
    texts = [text]
    for path in re.findall(r"`([\w.]+)`", text):
        names = path.split(".")
        found = inspect.unwrap(function).__globals__.get(names[0])
        for part in names[1:] if found is not None else names[names[0] == "tf" :]:
            found = getattr(tf if found is None else found, part, None)
        if found is None:
            found = getattr(tf, names[0], None) if len(names) == 1 else None
        texts.append(own_docstring(found) if inspect.isfunction(found) else "")
    return " ".join(texts)


def test_docstrings_name_every_option() -> None:
    """Parameters with defaults, but for those of functions that only raise NotImplementedError."""
    everywhere = conventional_parameters()
    assert {"name", "axis", "summarize"} <= everywhere
    silent = {
        name: missing
        for name, function in functions().items()
        if "aises NotImplementedError" not in own_docstring(function)
        for words in [set(re.findall(r"\w+", described(function)))]
        if (
            missing := [
                p.name
                for p in inspect.signature(function).parameters.values()
                if p.default is not p.empty and p.name not in everywhere and p.name not in words
            ]
        )
    }
    assert not silent


def test_nothing_is_defined_twice() -> None:
    # Namespaces that have functions of one name with different meanings.
    apart = (
        "data",
        "feature_columns",
        "gfile",
        "image",
        "linear_operators",
        "numpy_api",
        "profiler",
        "ragged",
        "random",
        "sets",
        "sparse",
        "strings",
        "summary",
        "saved_model",
        "train",
        "experimental",
        "where_v1",  # as TensorFlow 1 had it
        "any_axes",  # tf.fftnd has no defaults and no `norm`, as tf.signal.fftnd does
    )
    seen: dict[str, str] = {}
    twice: list[str] = []
    for path in FACE:
        if set(path.relative_to(ROOT).with_suffix("").parts) & set(apart):
            continue
        for node in tree_of(path).body:
            if isinstance(node, ast.FunctionDef) and node.name[0] != "_":
                if "overload" in map(ast.unparse, node.decorator_list):
                    continue
                if node.name in seen:
                    twice.append(f"{node.name}: {seen[node.name]}, {name_of(path)}")
                seen[node.name] = name_of(path)
    assert not twice


def test_public_functions_are_annotated() -> None:
    bare = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in FACE
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef) and node.name[0] != "_"
        if node.returns is None
        or any(
            a.annotation is None
            for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        )
    ]
    assert not bare


def test_what_is_documented_at_the_top_is_offered_there() -> None:
    documented = {
        line.removeprefix("tf.").partition("(")[0].removesuffix(" =")
        for line in text_of(SYMBOLS).splitlines()
        if line.startswith("tf.")
    }
    here = {name for name in documented if "." not in name and hasattr(tf, name)}
    assert len(here) > 100
    assert not here - set(tf.__all__)


def test_the_package_shows_only_what_is_public() -> None:
    shown = {name for name in dir(intaglio) if not name.startswith("__")}
    assert shown == {"tf", *[name for name in intaglio.__all__ if not name.startswith("__")]}
    assert intaglio.tf is tf
    assert all(getattr(intaglio, name) is not None for name in shown)
