"""Facts about an op are declared on the op: other layers do not quote its name.

A name of the catalogue is quoted where a string constant is one, or several with spaces between
them. Names of nodes are none: `name="Cast"`, `name or "Shape"`, and what `__all__` lists.
"""

from __future__ import annotations

import ast
import pathlib
from collections import Counter
from collections.abc import Iterator

from intaglio.opdef import raw
from tests.architecture.sources import PACKAGE, name_of, tree_of

# The files that quote names, how many, and why.
QUOTED = {
    "intaglio/data/checking.py": (1, "Unique is a stage of datasets"),
    "intaglio/data/saving.py": (1, "Snapshot is a stage of datasets"),
    "intaglio/data/sources.py": (1, "Range is a stage of datasets"),
    "intaglio/function/tracing.py": (1, "what a node is called whose name is none"),
    "intaglio/runtime/eager.py": (4, "names of nodes that errors leave out"),
    "intaglio/composite_ops/array/creation.py": (1, "what a constant's node is called"),
    "intaglio/composite_ops/printing.py": (1, "what a node is called"),
}
ALLOWED = 20
# Where names are those of ops, and of ONNX' operators, many of which have the same.
EXEMPT = ("intaglio/ops/", "intaglio/export/onnx/")
# The ops themselves; those of datasets and of tests are no part of the catalogue.


NAMES = {n for n, op in raw.catalogue().items() if type(op).__module__.startswith("intaglio.ops.")}


def op_names(text: object) -> list[str]:
    """The names of the catalogue in a text that is one, or a list of such for the most part."""
    words = text.split() if isinstance(text, str) else []
    found = [w for w in words if w in NAMES]
    return found if words == [text] or 1 < len(words) < 2 * len(found) else []


def names_of_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """The expressions that say what a node is called, or what a module exports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "name":
            yield node.value
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            first = node.values[0]
            if isinstance(first, ast.Name) and first.id in ("name", "scope"):
                yield node.values[-1]
        elif isinstance(node, ast.arguments):
            given = [*node.posonlyargs, *node.args]
            defaults = zip(given[len(given) - len(node.defaults) :], node.defaults, strict=True)
            yield from (d for a, d in defaults if a.arg == "name")
        elif isinstance(node, ast.Assign) and "__all__" in map(ast.unparse, node.targets):
            yield from ast.walk(node.value)


def quoted(path: pathlib.Path) -> list[str]:
    """The op names that a file quotes, with their lines."""
    tree = tree_of(path)
    exempt = {id(n) for n in names_of_nodes(tree)}
    return [
        f"{name_of(path)}:{node.lineno}: {word}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in exempt
        for word in op_names(node.value)
    ]


def test_op_names_are_not_quoted_outside_of_the_catalogue():
    found = [
        text for path in PACKAGE if not name_of(path).startswith(EXEMPT) for text in quoted(path)
    ]
    counts = Counter(text.partition(":")[0] for text in found)
    allowed = {name: count for name, (count, _) in QUOTED.items()}
    assert counts == allowed, "\n".join(t for t in found if t.partition(":")[0] not in allowed)
    assert sum(allowed.values()) < ALLOWED


def test_what_counts_as_a_quoted_name():
    assert op_names("MatMul") == ["MatMul"]
    assert op_names("Add  Sub Mull") == ["Add", "Sub"]
    for text in ("Add numbers", "", " ", "Shape ", 3):
        assert not op_names(text)
    source = "f(name='Abs', other='Add')\nx = name or 'Cast'\n__all__ = ['Assert']\ny == 'Sub'"
    tree = ast.parse(source)
    exempt = {id(n) for n in names_of_nodes(tree)}
    found = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in exempt]
    assert sorted(found) == ["Add", "Sub"]
