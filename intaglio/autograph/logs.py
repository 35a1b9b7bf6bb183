"""Lists that are only appended to: logs of the trace, not state.

TensorFlow's guide uses such a list to show which branches are traced. It cannot be mistaken for an
effect of the graph as long as the function does not read it.
"""

from __future__ import annotations

import ast
import builtins

from intaglio.autograph import source
from intaglio.base import origins

_ADDING = frozenset({"append", "extend"})


def is_log(frame: origins.Frame) -> bool:
    """True if a line adds to a list in a branch, and its function does nothing else with the list.

    The list is a variable around the function: an argument or another object's attribute may be
    looked at elsewhere.
    """
    try:
        tree = source.parsed(frame.filename)
    except source.NoSourceError:
        return False
    around = [
        n
        for n in ast.walk(tree)
        if isinstance(n, (ast.FunctionDef, ast.For, ast.While))
        and n.lineno <= frame.lineno <= (n.end_lineno or n.lineno)
    ]
    if not around or not isinstance(around[-1], ast.FunctionDef):
        return False  # an iteration of a loop is traced once, whatever it adds
    function = around[-1]
    own = {n.arg for n in ast.walk(function.args) if isinstance(n, ast.arg)}
    own |= {*vars(builtins)}  # `list.append(c, 3)`
    added = [list_ for n in ast.walk(function) if (list_ := _added_to(n)) is not None]
    here = {n.id for n in added if n.lineno == frame.lineno} - own
    return len(here) == 1 and all(
        any(n is a for a in added)
        for n in ast.walk(function)
        if isinstance(n, ast.Name) and n.id in here
    )


def _added_to(node: ast.AST) -> ast.Name | None:
    """The variable of a statement `variable.append(...)`."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        if isinstance(called, ast.Attribute) and called.attr in _ADDING:
            return called.value if isinstance(called.value, ast.Name) else None
    return None
