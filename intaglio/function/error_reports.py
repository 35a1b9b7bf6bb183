"""Reports on errors besides their messages: the values and shapes involved, and the path to the node.

An error of a run has the inputs of the kernel that raised it, the iterations of the loops and the
branches it was in; `intaglio.last_error` keeps them. An error of tracing has the shapes of
the names in the expression that raised it. Both are notes of the error (PEP 678): its
message stays TensorFlow's.
"""

from __future__ import annotations

import ast
import inspect
import threading
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from intaglio.autograph import causes, source
from intaglio.base import shapes
from intaglio.base.errors import take_steps
from intaglio.ir import walk
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import interpreter

# Arrays of at most this many elements are shown.
MAX_SHOWN_ELEMENTS = 8


class LastError(threading.local):
    """The last error of a run in this thread.

    >>> import intaglio
    >>> from intaglio import tf
    >>> third = tf.function(lambda x, i: tf.gather(x, i))
    >>> try:
    ...     third(tf.constant([1, 2]), tf.constant(5))
    ... except tf.errors.InvalidArgumentError:
    ...     print(intaglio.last_error.node, intaglio.last_error.inputs["indices"])
    GatherV2 5
    """

    def __init__(self) -> None:
        # The name of the node whose kernel raised, and what that took, by its names.
        self.node: str | None = None
        self.inputs: dict[str, Any] = {}
        # The branches and iterations that the node was in, outermost first.
        self.path: list[str] = []


last_error = LastError()


def note_run(error: BaseException, raised: BaseException, node: Node) -> None:
    """Adds to an error that a node raised at run time its inputs and the path to it; `raised` is the original."""
    inputs = interpreter.failing_inputs(raised)
    last_error.node = node.traced_name
    last_error.inputs = {name: v for name, v in inputs.items() if _is_data(v)}
    last_error.path = steps(raised)
    reported = [f"{name}: {shown(v)}" for name, v in last_error.inputs.items()]
    lines = [f"The inputs were {'; '.join(reported)}."] if reported else []
    lines += [f"It was {step}." for step in reversed(last_error.path)]
    where = next(iter(node.frames), None)
    if where is not None and where.source:
        lines.append(f"The line is {where.short}: {where.source}")
    if lines and not any(n.startswith("The inputs were") for n in _notes(error)):
        error.add_note("\n".join(lines))


def note_trace(error: BaseException, trace: TracebackType | None) -> None:
    """Adds to an error of tracing the shapes of the names in the user's expression that raised it."""
    origin = causes.innermost(trace)
    if origin is None or not hasattr(error, "add_note"):
        return
    frame, line, column = origin
    try:
        tree = source.parsed(frame.f_code.co_filename)
    except source.NoSourceError:
        return
    kinds = (ast.Call, ast.BinOp, ast.Compare, ast.Subscript, ast.UnaryOp)
    around = [n for n in causes.path(tree, line, column) if isinstance(n, kinds)]
    if not around:
        return
    reported = [t for name in _names(around[-1]) if (t := _name_reported(name, frame))]
    if reported:
        error.add_note(f"`{ast.unparse(around[-1])}`: {', '.join(reported)}")


def _names(node: Any) -> list[str]:
    """The names and attributes that an expression reads, in order."""
    parts = (
        [*node.args, *[k.value for k in node.keywords]] if isinstance(node, ast.Call) else [node]
    )
    found = [
        ast.unparse(n)
        for part in parts
        for n in ast.walk(part)
        if isinstance(n, ast.Name)
        or (isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name))
    ]
    return list(dict.fromkeys(found))


def _name_reported(name: str, frame: FrameType) -> str:
    """The dtype and shape of a name's tensor, and the line that computed it; empty for others."""
    first, _, attribute = name.partition(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first))
    if attribute and not isinstance(value, Tensor):
        value = inspect.getattr_static(value, attribute, None)
    if not isinstance(value, Tensor):
        return ""
    reported = f"{name} is {value.dtype.name}{shapes.brackets(value.dims) if value.dims is not None else ' of unknown shape'}"
    if isinstance(value, SymbolicTensor) and value.node.op is not raw.Placeholder:
        frames = value.node.frames
        if frames:
            reported += f" from line {frames[0].lineno}"
    return reported


# -- the path to a failing node -------------------------------------------------------------


def _is_data(value: Any) -> bool:
    """True for an array and a list of arrays; the others are resources."""
    if isinstance(value, list):
        return bool(value) and all(map(_is_data, value))
    return isinstance(value, (np.ndarray, np.generic))


def shown(value: Any) -> str:
    """The dtype and shape of an array, and its elements if they are few; of a list, each one's."""
    if isinstance(value, list):
        parts = [shown(v) for v in value[:MAX_SHOWN_ELEMENTS]]
        return f"[{', '.join(parts)}{', ...' if len(value) > len(parts) else ''}]"
    text = (
        f"{value.dtype.name if value.dtype != object else 'string'}{shapes.brackets(value.shape)}"
    )
    return f"{text} = {value.tolist()}" if value.size <= MAX_SHOWN_ELEMENTS else text


def steps(raised: BaseException) -> list[str]:
    """The iterations and branches that an error came through, with the lines of their nodes."""
    nodes = interpreter.failing_nodes(raised)
    found: list[str] = []
    for step in take_steps(raised):
        owner = next((n for n in nodes if any(g is step.graph for g in walk.attached(n))), None)
        line = f" of line {owner.frames[0].lineno}" if owner is not None and owner.frames else ""
        found.append(step.text + line)
    return found


def _notes(error: BaseException) -> list[str]:
    return getattr(error, "__notes__", [])


__all__ = ["LastError", "last_error", "note_run", "note_trace"]
