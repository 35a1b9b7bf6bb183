"""Kernels that lowerings write into a module: no two share the first part of their names."""

from __future__ import annotations

import ast
import collections
import pathlib

from intaglio.native import lowering

FOLDER = pathlib.Path(lowering.__file__).parent


def test_every_kind_of_kernel_has_a_name_of_its_own() -> None:
    """`w.kernel(name, write, ...)`: modules would have the one where the other is called."""
    written: dict[str, set[tuple[str, str]]] = collections.defaultdict(set)
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr == "kernel" and isinstance(node.args[0], ast.Constant):
                written[node.args[0].value].add((path.name, ast.unparse(node.args[1])))
    assert len(written) > 3
    shared = {name: found for name, found in written.items() if len(found) > 1}
    assert not shared


def test_no_lowering_writes_the_table_of_functions() -> None:
    """`define` and `kernel` do, once for each name."""
    found = [
        path.name
        for path in FOLDER.glob("*.py")
        if path.name != "function.py" and "w.functions[" in path.read_text()
    ]
    assert not found
