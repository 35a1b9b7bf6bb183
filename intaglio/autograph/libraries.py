"""Library code between the user's functions: unconverted, except for the functions it calls.

TensorFlow does not convert Keras at all, so the `call` of a user's layer is not converted either.
A library's own control flow never depends on a graph's tensors, and what it keeps between calls is
not the user's state: its statements stay Python. Only its calls go through `ag__`, so that a user's
function is converted wherever it is called from.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from intaglio.autograph.expressions import UNCONVERTED, ag, call_parts, without_annotations

# Called as they are: they never hold control flow on tensors of ours, nor call the user's.
SKIPPED = frozenset(
    {"numpy", "intaglio", "tensorflow", "optree", "pytest", "absl", "google", "rich", "tqdm", "PIL"}
)
# They call the user's functions back.
CALLING = frozenset({"keras", "tf_keras", "tensorflow_probability"})
# Never a user's function, by whatever name it is called.
PLAIN = UNCONVERTED | {
    "bool", "callable", "dict", "enumerate", "float", "getattr", "hasattr", "id", "int", "isinstance",
    "issubclass", "len", "list", "print", "range", "repr", "set", "setattr", "str", "super", "tuple",
    "type", "zip",
}  # fmt: skip


def calls_back(function: FunctionType) -> bool:
    """True for a function of a library of which only the calls are converted."""
    # Not `__module__`, which `functools.wraps` takes from the function that is wrapped.
    return library_of(function.__globals__) in CALLING


def library_of(names: dict[str, Any]) -> str:
    """The package of the module with these names."""
    module: str = names.get("__name__", "")
    return module.partition(".")[0]


# Functions and classes that are defined inside: they are converted when they are called.
_LEFT = (ast.FunctionDef, ast.Lambda, ast.ClassDef)


_LEAVES = {ast.Name, ast.Constant, ast.Load, ast.Store}


def with_library_calls(node: ast.FunctionDef) -> ast.FunctionDef:
    """A definition, under the same name, whose calls are `ag__.library_call`."""
    without_annotations(node)
    node.body = [_converted(statement) for statement in node.body]
    return node


def _converted(node: Any) -> Any:
    """The tree with its calls converted. A model has thousands: `ast.NodeTransformer` takes twice as long."""
    if isinstance(node, _LEFT):
        return node
    fields = node.__dict__
    plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PLAIN
    for name, value in fields.items():
        if type(value) is list:
            fields[name] = [_converted(v) if isinstance(v, ast.AST) else v for v in value]
        elif isinstance(value, ast.AST) and type(value) not in _LEAVES:
            fields[name] = _converted(value)
    if plain or not isinstance(node, ast.Call):
        return node
    return ag("library_call", *call_parts(node), at=node)
