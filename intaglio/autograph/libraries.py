"""Library code between the user's functions: unconverted, except for the functions it calls.

TensorFlow does not convert Keras at all, so the `call` of a user's layer is not converted either.
A library's own control flow never depends on a graph's tensors, and what it keeps between calls is
not the user's state: its statements stay Python. Only its calls go through `ag__`, so that a user's
function is converted wherever it is called from.
"""

from __future__ import annotations

import ast
import sys
from types import FunctionType, ModuleType
from typing import Any

from intaglio.autograph.expressions import UNCONVERTED, ag, call_parts, without_annotations

# Called as they are: they never hold control flow on tensors of ours, nor call the user's.
SKIPPED = frozenset(
    {"numpy", "intaglio", "tensorflow", "optree", "pytest", "absl", "google", "rich", "tqdm", "PIL"}
)
# They call the user's functions back.
CALLING = frozenset({"keras", "tf_keras", "tensorflow_probability"})
# Never a user's function, by whatever name it is called.
_PLAIN = frozenset(
    {
        "bool", "callable", "dict", "enumerate", "float", "getattr", "hasattr", "id", "int", "isinstance",
        "issubclass", "len", "list", "print", "range", "repr", "set", "setattr", "str", "super", "tuple",
        "type", "zip",
    }
)  # fmt: skip


def calls_back(function: FunctionType) -> bool:
    """True for a function of a library of which only the calls are converted."""
    # Not `__module__`, which `functools.wraps` takes from the function that is wrapped.
    return library_of(function.__globals__) in CALLING


def library_of(names: dict[str, Any]) -> str:
    """The package of the module with these names."""
    module: str = names.get("__name__", "")
    return module.partition(".")[0]


def is_one(module: ModuleType) -> bool:
    """True for a module that is not the user's: of a library, or of Python's own."""
    package = module.__name__.partition(".")[0]
    known = package in SKIPPED or package in CALLING
    return known or (package in sys.stdlib_module_names and package != "__main__")


class LibraryCalls(ast.NodeTransformer):
    """Makes the calls of a function `ag__.library_call`.

    Functions that are defined in it are left: they are converted when they are called.
    """

    def convert(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """The definition with its calls converted, under the same name."""
        without_annotations(node)
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        self.generic_visit(node)
        if name in _PLAIN or name in UNCONVERTED:
            return node
        return ag("library_call", *call_parts(node), at=node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        return node
