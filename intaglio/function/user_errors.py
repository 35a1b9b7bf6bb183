"""Errors of user code, reported with the user's own lines: while tracing, and while a graph runs.

Follows https://www.tensorflow.org/guide/function, "Debugging".
"""

from __future__ import annotations

import contextlib
import os
import re
from types import CodeType, TracebackType
from typing import Any

import numpy as np

from intaglio.autograph.causes import cause_of
from intaglio.base import errors, origins, tracebacks
from intaglio.base.errors import OpError, take_steps
from intaglio.base.options import OPTIONS
from intaglio.function.error_reports import note_run, note_trace
from intaglio.function.hooks import HOOKS
from intaglio.ir.graph import Node
from intaglio.opdef.op import RAISES
from intaglio.opdef.spec import of_array
from intaglio.runtime import interpreter

PACKAGE = __name__.partition(".")[0]
_NO_KEY = re.compile(r"cannot use '(\w+)[\w.]*' as a (?:dict key|set element) \(")
# Recursion repeats the same frames; this many are shown at each end.
SHOWN_FRAMES = 40


class UserCode:
    """The content of `in user code:`: the user's frames, and the error as it was raised.

    `depth` is the length of the error's traceback when the frames were read from it: an
    outer trace that the same error comes through has only those before to add.
    """

    __slots__ = ("cause", "depth", "error", "frames", "note")

    def __init__(self, error: Exception, frames: list[str], cause: str | None = None) -> None:
        # Why the code that raised it was not converted.
        self.cause = cause
        self.error = error
        self.frames = frames
        self.note: str | None = None
        self.depth = 0

    def where(self) -> str:
        """The user's frames, under their heading."""
        frames = self.frames
        if len(frames) > 2 * SHOWN_FRAMES:
            left = len(frames) - 2 * SHOWN_FRAMES
            frames = [
                *frames[:SHOWN_FRAMES],
                f"    ... {left} more frames ...",
                *frames[-SHOWN_FRAMES:],
            ]
        return "in user code:\n\n" + "\n".join(frames)

    def text(self) -> str:
        """The whole message."""
        message = "\n    ".join(str(self.error).split("\n"))
        cause = f"\n    {self.cause}\n" if self.cause else ""
        return f"{self.where()}\n\n    {type(self.error).__name__}: {message}\n{cause}"


def in_user_code(error: Exception, converted: bool = True) -> Exception:
    """The error to raise for one that the traced function raised.

    What the user's code raised is the same object, with the user's frames in a note. What
    this package raised has TensorFlow's form: the same class with the frames in its
    message. Frames of nested traces are joined into one list.
    """
    inner: UserCode | None = getattr(error, "ag_error_metadata", None)
    entries = tracebacks.entries(error.__traceback__)
    if inner is not None:
        entries = entries[: max(len(entries) - inner.depth, 0)]
    frames = user_frames(entries, converted)
    original = error if inner is None else inner.error
    if inner is not None:
        frames += inner.frames
    if not frames:
        return error
    cause = cause_of(error) if inner is None else inner.cause
    reported = UserCode(original, frames, cause)
    noted = inner.note is not None if inner else not _is_from_here(error)
    rewritten = None if noted else remade(original, reported.text())
    if rewritten is None:
        rewritten = _with_note(error, reported, inner)
    else:
        rewritten = rewritten.with_traceback(error.__traceback__)
        for note in getattr(error, "__notes__", ()):
            rewritten.add_note(note)
    rewritten = without_our_frames(rewritten)
    if inner is None and not noted:
        note_trace(rewritten, error.__traceback__)
    reported.depth = len(tracebacks.entries(rewritten.__traceback__))
    # Objects of a class with slots and without a dict cannot store it.
    with contextlib.suppress(AttributeError):
        rewritten.ag_error_metadata = reported  # type: ignore[attr-defined]  # TensorFlow's own attribute
    return rewritten


def _is_from_here(error: Exception) -> bool:
    """True for an error that this package raised, not the user's code."""
    return _is_of_hash(error) or tracebacks.raised_here(error)


def _is_of_hash(error: Exception) -> bool:
    """True for the TypeError that Python 3.14 and later raise for a dict key without a hash."""
    found = _NO_KEY.match(str(error)) if type(error) is TypeError else None
    return found is not None and found[1] == PACKAGE


def _with_note(error: Exception, reported: UserCode, inner: UserCode | None) -> Exception:
    """The user's own error, with a note of where it was raised, instead of an inner trace's note."""
    notes: list[str] = getattr(error, "__notes__", [])
    if inner is not None and inner.note in notes:
        notes.remove(inner.note)
    reported.note = reported.where()
    error.add_note(reported.note)
    return error


def remade(error: Exception, message: str) -> Exception | None:
    """An exception of the same class with another message; None where that cannot be."""
    kind = type(error)
    if isinstance(error, OpError):
        return kind(error.node_def, error.op, message)
    if isinstance(error, KeyError):
        return errors.MultilineMessageKeyError(message, error.args[0] if error.args else "")
    owner = next(c for c in kind.__mro__ if "__init__" in c.__dict__)
    if owner.__module__ == "builtins":
        # UnicodeDecodeError and its like take more than a message.
        with contextlib.suppress(TypeError):
            return kind(message)
    return None


def user_frames(entries: list[TracebackType], converted: bool) -> list[str]:
    """The user's frames among the entries of a traceback, outermost first, as text.

    Converted functions are marked `*`, and Python functions that converted ones called
    `**`. The functions that conversion makes of branches and loop bodies are not shown:
    their line is the line of the function they are part of.
    """
    found: list[str] = []
    root: CodeType | None = None  # the converted function that the frames are in
    called, caller = converted, ""
    for trace in entries:
        code = trace.tb_frame.f_code
        if origins.is_ours(code):
            caller = code.co_filename
            if caller in _TRACING:
                root, called = None, False
            continue
        part = caller not in ("", _CALLS) and _is_part_of(code, root)
        root = root if part else code if _is_converted(code) else None
        mark = "  *" if root else "  **" if called and converted else ""
        called, caller = root is not None, ""
        name = root.co_name if root else code.co_name
        frame = origins.Frame(code.co_filename, trace.tb_lineno, name)
        found[len(found) - part :] = [f"    {frame}{mark}\n        {frame.source}"]
    return found


# The modules that begin a trace.
_TRACING = tuple(
    [origins.PACKAGE + os.path.join("function", f"{m}.py") for m in ("polymorphic", "methods")]
)
_CALLS = origins.PACKAGE + os.path.join("autograph", "calls.py")


def _is_converted(code: CodeType) -> bool:
    """True for code that conversion generated: it refers to the module of its operators."""
    return "ag__" in code.co_freevars


def _is_part_of(code: CodeType, root: CodeType | None) -> bool:
    """True for a function that conversion generated from a branch, body or operand."""
    if root is None or code is root or code.co_filename != root.co_filename:
        return False
    operand = f"{root.co_qualname}.<locals>.<lambda>"
    return _is_converted(code) and code.co_qualname in (root.co_qualname, operand)


def without_our_frames(error: Exception) -> Exception:
    """The error with a traceback of the user's frames only, unless that was turned off."""
    if OPTIONS.filter_tracebacks and _is_of_hash(error):
        with contextlib.suppress(AttributeError):
            error.raised_by_package = True  # type: ignore[attr-defined]  # a mark for frames further out
    tracebacks.leave_out_package(error)
    HOOKS.note_code(error)
    return error


def graph_failure(error: Exception, name: str) -> Exception:
    """The error to raise for one that a kernel raised while the graph `name` ran."""
    node = interpreter.failing_node(error)
    if node is None:  # what a compiled function allocates belongs to none
        exhausted = isinstance(error, MemoryError)
        return errors.ResourceExhaustedError(None, None, str(error)) if exhausted else error
    if RAISES in node.attrs:  # the user's own
        take_steps(error)
        return _noted(error, node, name)
    reported = _as_op_error(error, node)
    if reported is None:
        return error
    if reported._message.startswith("Graph execution error:"):
        return reported
    note_run(reported, error, node)
    lines = "".join([f"  {frame}\n\n" for frame in reversed(node.frames)])
    reported._message = (
        f"Graph execution error:\n\nDetected at node {node.traced_name} defined at (most recent call last):\n{lines}"
        f"{reported._message}\n\t [[{{{{node {node.traced_name}}}}}]] [Op:{name}]"
    )
    reported._op = node
    return reported


def session_failure(error: Exception) -> Exception:
    """The error to raise for one that a kernel raised while a session ran its graph."""
    node = interpreter.failing_node(error)
    reported = None if node is None or RAISES in node.attrs else _as_op_error(error, node)
    if node is None or reported is None:
        return error
    return detected_at(node.source or node, reported)


def detected_at(node: Node, error: OpError) -> OpError:
    """The error of a node that a session was to run: it names the node, and the lines that recorded it."""
    lines = [
        f'File "{f.filename}", line {f.lineno}, in {f.function}\n' for f in reversed(node.frames)
    ]
    where = "".join([f"    {line}" for line in lines])
    error._message = (
        f"Graph execution error:\n\nDetected at node {node.name!r} defined at (most recent call last):\n{where}"
        f"Node: {node.name!r}\n{error._message}\n\t [[{{{{node {node.name}}}}}]]"
    )
    stack = "".join([f"  {line}" for line in lines])
    error._note = f"\n\nOriginal stack trace for {node.name!r}:\n{stack}"
    error._op, error._node_def = node, node.node_def
    return error


def _noted(error: Exception, node: Node, name: str) -> Exception:
    """A user's exception, with a note that names the graph that raised it."""
    note = f"Raised by node {node.traced_name} while the graph {name} ran."
    if note not in getattr(error, "__notes__", ()) and hasattr(error, "add_note"):
        error.add_note(note)
    return without_our_frames(error)


def _as_op_error(error: Exception, node: Node) -> OpError | None:
    if isinstance(error, OpError):
        return error
    kind = errors.from_kernel(error, node.op.reaches_outside)
    message = errors.kernel_message(error)
    # The dtypes of a kernel's arrays always fit: a TypeError in it is about shapes or values.
    is_of_arrays = isinstance(error, TypeError) or kind is errors.InvalidArgumentError
    if is_of_arrays and not node.op.reaches_outside:
        kind = errors.InvalidArgumentError
        if not message.startswith("Incompatible shapes"):  # TensorFlow's own words
            message = _refusal(error, node) or message
    return None if kind is None else kind(None, node, message)


def _refusal(error: Exception, node: Node) -> str | None:
    """The error of shape inference for arrays that a kernel failed on; None if it accepts them.

    Kernels are written for inputs that inference has let through. Where shapes are not known before the
    run it sees them only now, and what Python says of them inside a kernel would mean nothing to anybody.
    """
    values = [*interpreter.failing_inputs(error).values()]
    arrays = [a for v in values for a in (v if isinstance(v, list) else [v])]
    if len(arrays) != len(node.inputs) or not all(isinstance(a, np.ndarray) for a in arrays):
        return None
    specs = [of_array(a, v.dtype) for a, v in zip(arrays, node.inputs, strict=True)]
    try:
        node.op.output_specs(specs, node.attrs)
    except ValueError as e:  # ShapeError
        return str(e)
    except OpError as e:
        return e.message
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
