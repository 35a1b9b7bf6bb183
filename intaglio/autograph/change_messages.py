"""Messages for staged blocks that change a location in a form that no graph can carry."""

from __future__ import annotations

import collections
import dis
from collections.abc import Iterator
from types import CodeType
from typing import Any

import numpy as np

from intaglio.autograph import aliases
from intaglio.autograph.containers import CONTAINERS
from intaglio.autograph.joins import DIFFERS
from intaglio.autograph.line_warnings import warn_at
from intaglio.autograph.locations import Item
from intaglio.autograph.logs import is_log
from intaglio.autograph.provenance import Provenance
from intaglio.autograph.values import Undefined
from intaglio.autograph.watches import Seen
from intaglio.base import origins
from intaglio.type_specs.grown_list import GrownList

_ITERATIONS = (
    "{} is a Python object of type {} that an iteration of the loop changes: only tensors can change in "
    "a loop of the graph. Set it outside of the loop, or make it a tensor."
)
_LACKING = (
    "{} is not there at the end of both branches of an `if` on a tensor: {} sets or deletes it in "
    "one of them only. Give it a value before the `if`."
)
_BRANCHES = (
    "the {} that {} changes differs between the main and the else branch of an `if` on a tensor: a "
    "graph chooses between tensors only. {}"
)
_LOOP = (
    "the {} that {} changes is another one in each iteration of a loop of the graph, which carries "
    "tensors only. {}"
)
_TRACED = (
    "`{}` changes {} once, while the staged loop or branch around it is traced, whatever the tensors are "
    "when the graph runs. {} is older than the trace: after the call, and in later calls, it is what this "
    "has left. Return what is to be kept and set it outside of the traced function, or keep it in a "
    "tf.Variable; what is a log belongs into tf.print or tf.py_function."
)
_RETURNED = (
    "`{}` changes {} once, while the staged loop or branch around it is traced, whatever the tensors are "
    "when the graph runs. {} was returned by code that is not converted, which may have kept it: whoever "
    "else has it finds what this has left. Change a copy of it, or let code that is converted create it."
)
_ARGUMENT = (
    "`{}` changes {}, which comes with an argument of the traced function: that is a copy, and the caller's "
    "stays what it is. Return what is to be kept."
)
_ADVICE: list[tuple[Any, str]] = [
    (dict, "Give each key a number or tensor before the block: `d[key] = 0`."),
    (
        (list, GrownList),
        "Let all its elements be tensors of one type, or change it outside of the block.",
    ),
    (
        set,
        "Change it outside of the block, or keep a tensor that says for each member whether it is in.",
    ),
    (collections.deque, "Change it outside of the block, or use a list of tensors."),
    (np.ndarray, "Use a tensor, and tf.where or tf.tensor_scatter_nd_update."),
    (bytearray, "Change it outside of the block."),
]


def of_branches(seen: Seen, main: Any, other: Any) -> str:
    """Why the value of a location is unknown after an `if`, from both branches' values."""
    reason = _earlier_reason(main) or _earlier_reason(other)
    if reason:
        return reason
    container = container_of(seen)
    if container is not None:
        kind = _kind(container)
        return _BRANCHES.format(kind, _line(seen), _advice(container))
    name = f"'{seen.location.name}'"
    missing = [type(v) is Undefined and not v.why for v in (main, other)]
    if any(missing):
        return _LACKING.format(name, _line(seen))
    return DIFFERS.format(name, type(main).__name__)


def of_iterations(seen: Seen) -> str:
    """Why the value of a location is unknown in a loop that changes it."""
    reason = aliases.poisoned(seen.value) or _earlier_reason(seen.location.get())
    if reason:
        return reason
    container = container_of(seen)
    if container is not None:
        kind = _kind(container)
        return _LOOP.format(kind, _line(seen), _advice(container))
    return _ITERATIONS.format(f"'{seen.location.name}'", type(seen.location.get()).__name__)


def of_the_trace(seen: Seen, is_argument: bool) -> None:
    """Warns that a location which may outlive the trace was changed by a staged block."""
    container = container_of(seen)
    name = f"'{seen.location.name}'"
    what = name if container is None else f"this {_kind(container)}"
    begin = what[0].upper() + what[1:]
    is_unknown = seen.location.provenance is Provenance.UNKNOWN
    text = _ARGUMENT if is_argument else _RETURNED if is_unknown else _TRACED
    frame = _frame(seen)
    if frame is not None and not (type(container) is list and is_log(frame)):
        warn_at(frame.filename, frame.lineno, text.format(frame.source, what, begin))


def _earlier_reason(value: Any) -> str:
    """The reason why the value is unknown inside a block already, else an empty string."""
    return value.why if type(value) is Undefined else ""


def container_of(seen: Seen) -> Any:
    """The container whose contents are in question, or None for a variable or attribute."""
    location = seen.location
    if isinstance(location, Item) and not location.is_global:
        return location.owner
    if seen.contents is not None and isinstance(seen.value, (*CONTAINERS, GrownList)):
        return seen.value
    return None


def _kind(container: Any) -> str:
    return "list" if type(container) is GrownList else type(container).__name__


def _advice(container: Any) -> str:
    return next(text for kind, text in _ADVICE if isinstance(container, kind))


def _line(seen: Seen) -> str:
    frame = _frame(seen)
    if frame is None:
        return "a staged block"
    source = f" (`{frame.source}`)" if frame.source else ""
    return f"line {frame.lineno}{source}"


def _frame(seen: Seen) -> origins.Frame | None:
    """Where the user's program changes a location, if that is known."""
    if not isinstance(seen.where, CodeType):
        return next(iter(origins.frames(tuple(seen.where))), None)
    code = seen.where
    lines = list(_storing(code, seen.location.name))
    first = lines[-1] if lines else code.co_firstlineno
    return origins.Frame(code.co_filename, first, code.co_name)


def _storing(code: CodeType, name: str) -> Iterator[int]:
    """The lines on which code sets a variable."""
    for step in dis.get_instructions(code):
        is_store = step.opname.startswith(("STORE", "DELETE"))
        if is_store and step.argval == name and step.positions:
            yield step.positions.lineno or code.co_firstlineno
        if isinstance(step.argval, CodeType):
            yield from _storing(step.argval, name)


__all__ = ["container_of", "of_branches", "of_the_trace", "of_iterations"]
