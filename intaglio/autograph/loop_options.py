"""The options of one loop, which `set_loop_options` declares in its first statement.

Follows https://www.tensorflow.org/api_docs/python/tf/autograph/experimental/set_loop_options.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from typing import Any

from intaglio.base import nest
from intaglio.opdef import door
from intaglio.trace.control_flow import general_form

NAMES = ("parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants")


def set_loop_options(
    parallel_iterations: int | None = None,
    swap_memory: bool | None = None,
    maximum_iterations: Any = None,
    shape_invariants: Sequence[tuple[Any, Any]] | None = None,
) -> None:
    """Options of the loop whose first statement this is.

    `maximum_iterations` ends a loop of the graph after so many iterations. `shape_invariants`
    are pairs of a loop variable and the shape (or structure of shapes) that it keeps.
    `parallel_iterations` and `swap_memory` are without effect. Conversion takes the call
    out of the loop; in a loop that Python runs the options mean nothing.
    """
    if not door.level().eager:
        warnings.warn(
            "set_loop_options has no effect here: call it by this name, as the first "
            "statement of a loop in a function that is converted.",
            stacklevel=2,
        )


def is_options(node: ast.stmt) -> bool:
    """True for a statement that calls `set_loop_options`."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    function = node.value.func
    name = function.attr if isinstance(function, ast.Attribute) else function
    return (name.id if isinstance(name, ast.Name) else name) == "set_loop_options"


def is_flag_off(node: ast.stmt, generated: set[str]) -> bool:
    """True for a generated `flag = False`."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
        return False
    target = node.targets[0]
    named = isinstance(target, ast.Name) and target.id in generated
    return named and node.value.value is False


def named(call: ast.Call) -> tuple[list[ast.expr | None], list[ast.expr]]:
    """The keys and values of a dict with the call's arguments."""
    keys: list[ast.expr | None] = [
        ast.Constant(name) for name, _ in zip(NAMES, call.args, strict=False)
    ]
    keys += [None if k.arg is None else ast.Constant(k.arg) for k in call.keywords]
    return keys, [*call.args, *(k.value for k in call.keywords)]


def declared_shapes(options: dict[str, Any]) -> tuple[list[tuple[Any, Any]], dict[int, Any]]:
    """The declared shape of each tensor that has one, and the types of composites whose shape is declared.

    These are by the ids of the composites; their tensors are among the others. Raises TypeError for an
    option that does not exist, and ValueError where a structure of shapes is not like the variable's.
    """
    for name in options:
        if name not in NAMES and name != "iterate_names":
            raise TypeError(
                f"set_loop_options() got an unexpected keyword argument '{name}'; "
                f"the options are {', '.join(NAMES)}"
            )
    pairs: list[tuple[Any, Any]] = []
    for value, shape in options.get("shape_invariants") or ():
        if not nest.is_nested(value):
            pairs.append((value, shape))
            continue
        try:
            shapes = nest.flatten_up_to(value, shape)
        except (ValueError, TypeError) as e:
            raise ValueError(
                "The two structures don't have the same nested structure: the loop variable "
                f"{value} and its shape invariant {shape}.\n\n{e}"
            ) from None
        pairs += zip(nest.flatten(value), shapes, strict=True)
    types: dict[int, Any] = {}
    parts: list[tuple[Any, Any]] = []
    for value, shape in pairs:
        form, of_parts = general_form(value, shape)
        if form is not value:
            types[id(value)] = form
        tensors = nest.flatten(value, expand_composites=True)
        if len(tensors) == len(of_parts):  # else a composite without a shape that could change
            parts += zip(tensors, of_parts, strict=True)
    return parts, types
