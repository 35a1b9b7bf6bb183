"""Code that depends on CPython's object layout, or on reference counts, is in `cpython/`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.sources import PACKAGE, ROOT, name_of, tree_of

LAYER = ROOT / "intaglio" / "cpython"
OUTSIDE = [path for path in PACKAGE if not path.is_relative_to(LAYER)]
# What is used for nothing but Python's objects and their references.
NAMES = frozenset(
    ["PYFUNCTYPE", "PyDLL", "__basicsize__", "_ARRAY_API", "getrefcount", "py_object", "pythonapi"]
)
# The names of C functions and types of the interpreter and of NumPy.
C_NAMES = re.compile(r"_?Py[A-Z]?[A-Za-z]*_[A-Z]\w*|Py\w+Object|(?:tp|ob)_[a-z]+")
# What else uses ctypes, and is not about Python's objects.
CTYPES = {
    "intaglio/base/memory.py": "addresses of NumPy's memory, and arrays at addresses",
    "intaglio/base/replacing.py": "exchanges two names of the file system, which `os` has no call for",
    "intaglio/native/kernels/elementwise.py": "calls machine code where no entry can",
    "intaglio/native/llvm/executable.py": "asks the system, by mprotect, for executable memory",
    "intaglio/native/llvm/jit.py": "makes functions of machine code's addresses",
    "intaglio/native/llvm/library.py": "calls functions of LLVM's library",
    "intaglio/native/llvm/loader.py": "makes memory executable, and asks for addresses of the system",
    "intaglio/native/llvm/matrix_registers.py": "asks the system, by arch_prctl, for matrix registers",
    "intaglio/runtime/dlpack.py": "the layout of DLPack's own structure",
}


def _imports_ctypes(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Import) and any(n.name.split(".")[0] == "ctypes" for n in node.names)
    ) or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ctypes")


def _is_id(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"


def _addresses(node: ast.AST) -> list[ast.expr]:
    """The expressions in a node that must be no `id()`: they are computed with, stored as words, or
    followed as pointers. As a key of a table, or in a comparison, an id says only which object it is."""
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.Dict():
            return node.values
        case ast.DictComp():
            return [node.value]
        case ast.List():
            return node.elts
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in ("from_address", "string_at"):
            return node.args
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if "c_void_p" in name:
            return node.args
        case _:
            return []


def violations(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and reason of everything in a module that belongs into the layer."""
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Attribute) and node.attr in NAMES:
            yield line, node.attr
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name in node.names:
                if name.name in NAMES:
                    yield line, name.name
        if isinstance(node, ast.Name) and node.id in NAMES:
            yield line, node.id
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and C_NAMES.fullmatch(node.value):
            yield line, node.value
        if any(_is_id(part) for part in _addresses(node)):
            yield line, "id() as an address"


def test_only_one_layer_depends_on_object_layouts() -> None:
    found = [
        f"{name_of(path)}:{line}: {reason}"
        for path in OUTSIDE
        for line, reason in violations(tree_of(path))
    ]
    assert not found, "use `intaglio.cpython`: it is verified, and switched off as a whole"


def test_what_uses_ctypes_has_its_reason() -> None:
    users = {
        name_of(path) for path in OUTSIDE for n in ast.walk(tree_of(path)) if _imports_ctypes(n)
    }
    assert users == set(CTYPES)


def test_no_id_is_taken_where_addresses_are_written_down() -> None:
    folder = ROOT / "intaglio" / "native" / "runtime"
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in OUTSIDE
        if path.is_relative_to(folder)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and _is_id(node)
    ]
    assert not found, "use `layout.address_of`"


@pytest.mark.parametrize(
    "text",
    [
        "ctypes.pythonapi.Py_IncRef(x)",
        "from sys import getrefcount",
        "sys.getrefcount(x)",
        "library = ctypes.PyDLL(path)",
        "size = type(x).__basicsize__",
        "names = ['PyCapsule_GetPointer']",
        "field = 'ob_type'",
        "place = id(x) + 16",
        "words = [1, id(x)]",
        "words += [KEY, id(x)]",
        "table = {'miss': id(miss)}",
        "table = {k: id(x) for k, x in objects.items()}",
        "word = ctypes.c_void_p.from_address(id(x))",
        "pointer = c_void_p(id(x))",
    ],
)
def test_violations_are_found(text: str) -> None:
    assert list(violations(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "found = values[id(x)]",
        "found = {id(v): v for v in values}",
        "known = {id(v) for v in values}",
        "same = id(x) in known",
        "key = (id(x), 3)",
        "same = [id(v) for v in a] == [id(v) for v in b]",
        "values[id(x)] = x",
        "above[id(x)] = id(y)",
        "'''A sentence on PyList_Append and others.'''",
    ],
)
def test_identities_are_allowed(text: str) -> None:
    assert not list(violations(ast.parse(text)))
