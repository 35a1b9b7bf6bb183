"""Errors of user code, told with the user's own lines: while tracing, and while a graph runs.

Follows https://www.tensorflow.org/guide/function, "Debugging".
"""

from __future__ import annotations

import os
from types import CodeType, TracebackType
from typing import Any

import numpy as np

from intaglio.base import errors, origins
from intaglio.base.errors import OpError
from intaglio.base.options import OPTIONS
from intaglio.ir.graph import Node
from intaglio.runtime import interpreter

# Recursion repeats the same frames; this many are shown at each end.
SHOWN_FRAMES = 40


class UserCode:
    """What `in user code:` says: the error as it was raised, and the user's frames."""

    __slots__ = ("error", "frames")

    def __init__(self, error: Exception, frames: list[str]) -> None:
        self.error = error
        self.frames = frames

    def text(self) -> str:
        """The whole message."""
        frames = self.frames
        if len(frames) > 2 * SHOWN_FRAMES:
            left = len(frames) - 2 * SHOWN_FRAMES
            frames = [
                *frames[:SHOWN_FRAMES],
                f"    ... {left} more frames ...",
                *frames[-SHOWN_FRAMES:],
            ]
        message = "\n    ".join(str(self.error).split("\n"))
        return (
            "in user code:\n\n"
            + "\n".join(frames)
            + f"\n\n    {type(self.error).__name__}: {message}\n"
        )


def in_user_code(error: Exception, converted: bool = True) -> Exception:
    """The error to raise for one that the traced function raised.

    It has the same class where that class takes a message, and shows the user's frames;
    frames of nested traces are joined into one list.
    """
    inner: UserCode | None = getattr(error, "ag_error_metadata", None)
    frames = user_frames(error.__traceback__, converted)
    original = error if inner is None else inner.error
    if inner is not None:
        frames += inner.frames
    if not frames:
        return error
    told = UserCode(original, frames)
    made = remade(original, told.text())
    made.ag_error_metadata = told  # type: ignore[attr-defined]
    return without_our_frames(made.with_traceback(error.__traceback__))


def remade(error: Exception, message: str) -> Exception:
    """An exception of the same class with another message; a StagingError if that cannot be."""
    kind = type(error)
    if isinstance(error, OpError):
        return kind(error.node_def, error.op, message)
    if isinstance(error, KeyError):
        return errors.MultilineMessageKeyError(
            message, error.args[0] if error.args else ""
        )
    owner = next(c for c in kind.__mro__ if "__init__" in c.__dict__)
    if owner.__module__ == "builtins":
        try:
            return kind(message)
        except TypeError:  # UnicodeDecodeError and its like take more than a message
            pass
    return errors.StagingError(message)


def user_frames(trace: TracebackType | None, converted: bool) -> list[str]:
    """The user's frames of a traceback, outermost first, as text.

    Converted functions are marked `*`, and Python functions that converted ones called
    `**`. The functions that conversion makes of branches and loop bodies are not shown.
    """
    found: list[str] = []
    root: CodeType | None = None  # the converted function that the frames are in
    called = converted
    while trace is not None:
        code = trace.tb_frame.f_code
        if origins.is_ours(code):
            if code.co_filename == _POLYMORPHIC:
                root, called = None, False
        elif not (_is_converted(code) and _is_part_of(code, root)):
            root = code if _is_converted(code) else None
            mark = "  *" if root else "  **" if called and converted else ""
            called = root is not None
            frame = origins.Frame(code.co_filename, trace.tb_lineno, code.co_name)
            found.append(f"    {frame}{mark}\n        {frame.source}")
        trace = trace.tb_next
    return found


_POLYMORPHIC = origins.PACKAGE + os.path.join("function", "polymorphic.py")


def _is_converted(code: CodeType) -> bool:
    """True for code that conversion made: it sees the module of its operators."""
    return "ag__" in code.co_freevars


def _is_part_of(code: CodeType, root: CodeType | None) -> bool:
    """True for a branch or loop body of the converted function, False for a call of it."""
    return (
        root is not None
        and code is not root
        and code.co_filename == root.co_filename
        and code.co_qualname.startswith(root.co_qualname)
    )


def without_our_frames(error: Exception) -> Exception:
    """The error with a traceback of the user's frames only, unless that was turned off."""
    if not OPTIONS.filter_tracebacks:
        return error
    kept: list[TracebackType] = []
    trace = error.__traceback__
    while trace is not None:
        if not origins.is_ours(trace.tb_frame.f_code):
            kept.append(trace)
        trace = trace.tb_next
    chain: TracebackType | None = None
    for part in reversed(kept):
        chain = TracebackType(chain, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return error.with_traceback(chain)


def graph_failure(error: Exception, name: str) -> Exception:
    """The error to raise for one that a kernel raised while the graph `name` ran."""
    node = interpreter.failing_node(error)
    if node is None:
        return error
    told = _as_op_error(error, node)
    if told is None:
        return error
    if told._message.startswith("Graph execution error:"):
        return told
    lines = "".join([f"  {frame}\n\n" for frame in reversed(node.frames)])
    told._message = (
        f"Graph execution error:\n\nDetected at node {node.traced_name} defined at (most recent call last):\n{lines}"
        f"{told._message}\n\t [[{{{{node {node.traced_name}}}}}]] [Op:{name}]"
    )
    told._op = node
    return told


def _as_op_error(error: Exception, node: Node) -> OpError | None:
    if isinstance(error, OpError):
        return error
    if isinstance(
        error,
        (ValueError, IndexError, ZeroDivisionError, np.exceptions.AxisError),
    ) and not isinstance(error, UnicodeError):
        return errors.InvalidArgumentError(None, node, str(error))
    return None


def expected_dtype(name: str, index: int, wanted: Any, got: Any) -> OpError:
    """The error for a concrete function called with a tensor of the wrong dtype."""
    names = {"float32": "float", "float64": "double", "float16": "half"}
    w, g = names.get(wanted.name, wanted.name), names.get(got.name, got.name)
    return errors.InvalidArgumentError(
        None,
        None,
        f"cannot compute {name} as input #{index}(zero-based) was expected to be a {w} tensor "
        f"but is a {g} tensor [Op:{name}]",
    )
