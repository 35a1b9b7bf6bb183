"""Why a function was traced again: how each trace's arguments differ from those of earlier traces.

TensorFlow counts retraces and guesses at three reasons. Here each trace is compared with the
earlier ones, argument by argument, and reported as the difference from the nearest one.
"""

from __future__ import annotations

import enum
import reprlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from intaglio.base.dtypes import float64
from intaglio.base.hooks import ShownInNotebooks
from intaglio.base.origins import Frame
from intaglio.function.trace_types import Container, Dict, Fields, List, Literal, Tuple, Weakref
from intaglio.type_specs.trace_type import TraceType


class Change(NamedTuple):
    """What differs between two traces: where in the arguments, both values, and what helps.

    `size` is the number of values that differ.
    """

    path: str
    was: str
    now: str
    advice: str
    size: int = 1

    def __str__(self) -> str:
        return f"{self.path} was {self.was}, now {self.now}: {self.advice}"


class TraceReason(NamedTuple):
    """One trace: its number from 1 on, the user's line, its cost in seconds, and its cause.

    `nearest` is the earlier trace that differs least, None for the first; `changes` is what
    differs from it. `programs` are the shapes that XLA has a program for, last used last.
    """

    number: int
    where: Frame | None
    seconds: float
    nearest: int | None
    changes: tuple[Change, ...]
    programs: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = "" if self.where is None else f", {self.where}"
        head = f"{self.number}. {self.seconds * 1e3:.1f} ms{where}"
        compiled = [f"   XLA program for arguments {shapes}" for shapes in self.programs]
        if self.nearest is None:
            return "\n".join([head, *compiled])
        lines = [f"     {change}" for change in self.changes]
        return "\n".join([head, f"   not trace {self.nearest}, for", *lines, *compiled])


class CompileReport(ShownInNotebooks, str):
    """Text that says which steps of a function's traces are machine code."""

    __slots__ = ()


class Explanation(ShownInNotebooks, tuple[TraceReason, ...]):
    """The traces of a function, oldest first; printed, a line or more for each, and then the `notes`.

    The notes say what else decides about its traces: the stance, budgets, traces that were removed, what was generalised.
    """

    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([*map(str, self), *self.notes])

    __repr__ = __str__


class Traced(NamedTuple):
    """What is remembered of a trace: types by the names of parameters, the line and the time.

    `reads` is what it has read of Python's state, by the names in the program; `number` counts up. With
    `by_reads` such a value alone makes another trace.
    """

    types: dict[str, TraceType]
    where: Frame | None
    seconds: float
    reads: dict[str, str] = {}
    programs: tuple[str, ...] = ()
    number: int = 0
    by_reads: bool = False


def explanation(
    traces: Sequence[Traced], notes: Sequence[str] = (), *, reduces_retracing: bool = False
) -> Explanation:
    """The cause of each of a function's traces; whether it has `reduce_retracing=True` decides about the advice."""
    found = Explanation([_reason(traces, i, reduces_retracing) for i in range(len(traces))])
    found.notes = tuple(notes)
    return found


def _reason(traces: Sequence[Traced], index: int, reduces_retracing: bool) -> TraceReason:
    new = traces[index]
    nearest, changes = None, ()
    for number in range(index, 0, -1):  # the latest of equally near ones
        old = traces[number - 1]
        found = tuple(changed(old.types, new.types))
        if new.by_reads or not found:
            found = (*found, *_read_changes(old.reads, new.reads))
        if nearest is None or _size(found) < _size(changes):
            nearest, changes = number, found
    if reduces_retracing:
        changes = tuple(_without_known_advice(changes))
    return TraceReason(index + 1, new.where, new.seconds, nearest, changes, new.programs)


def _without_known_advice(changes: Sequence[Change]) -> Iterator[Change]:
    """Replaces the advice to use `reduce_retracing=True`, for a function that has it, by its obstacle."""
    others = dict.fromkeys([c.path for c in changes if c.advice not in (_SHAPE, _OPEN)])
    for change in changes:
        if change.advice == _SHAPE:
            advice = _KEPT.format(", ".join(others)) if others else _BY_SIGNATURE
            change = change._replace(advice=advice)
        yield change


def _read_changes(old: dict[str, str], new: dict[str, str]) -> Iterator[Change]:
    """The Python values that both traces have read, and that differ."""
    for name, now in new.items():
        was = old.get(name, now)
        if was != now:
            yield Change(name, was, now, _READ)


def _size(changes: Sequence[Change]) -> int:
    return sum([c.size for c in changes])


def changed(old: dict[str, TraceType], new: dict[str, TraceType]) -> Iterator[Change]:
    """What differs between the arguments of two traces."""
    for name in new:
        if name in old:
            yield from _differences(name, old[name], new[name])
        else:
            yield Change(name, "not there", _shown(new[name]), _COUNT)
    for name in old:
        if name not in new:
            yield Change(name, _shown(old[name]), "not there", _COUNT)


def _differences(path: str, old: TraceType, new: TraceType) -> Iterator[Change]:
    if old == new:
        return
    if isinstance(old, Container) and isinstance(new, Container) and _alike(old, new):
        for step, a, b in zip(steps(new), old.parts, new.parts, strict=True):
            yield from _differences(path + step, a, b)
    elif type(old) is type(new) and hasattr(new, "dtype") and hasattr(new, "shape"):
        yield from _of_tensors(path, old, new)
    else:
        size = max(_leaves(old), _leaves(new))
        yield Change(path, _shown(old), _shown(new), _advice(path, old, new), size)


def _leaves(kind: TraceType) -> int:
    if not isinstance(kind, Container):
        return 1
    return 1 + sum([_leaves(part) for part in kind.parts])


def _alike(old: Container, new: Container) -> bool:
    """True if both are structures of one kind with the same number of parts and the same names."""
    return type(old) is type(new) and len(old.parts) == len(new.parts) and steps(old) == steps(new)


def steps(container: Container) -> list[str]:
    """The Python suffix that selects each part of a structure: `[0]`, `['key']`, `.field`."""
    if isinstance(container, Dict):
        return [f"[{key!r}]" for key in container.keys]
    if isinstance(container, Fields):
        return [f".{name}" for name in container.names]
    return [f"[{i}]" for i in range(len(container.parts))]


def _of_tensors(path: str, old: Any, new: Any) -> Iterator[Change]:
    if old.dtype != new.dtype:
        advice = (
            f"cast it to one dtype before the call, as with tf.cast({path}, tf.{old.dtype.name})"
        )
        if new.dtype is float64:
            advice += "; NumPy's own floats are float64"
        yield Change(f"{path}.dtype", old.dtype.name, new.dtype.name, advice)
    if old.shape.rank is not None and old.shape.rank == new.shape.rank:
        sizes = zip(old.shape.as_list(), new.shape.as_list(), strict=True)
        for axis, (before, after) in enumerate(sizes):
            if before != after:
                advice = _OPEN if after is None else _SHAPE
                yield Change(f"{path}.shape[{axis}]", str(before), str(after), advice)
    elif old.shape.rank != new.shape.rank:
        yield Change(f"{path}.shape", str(old.shape), str(new.shape), _RANK)
    if old.dtype == new.dtype and old.shape == new.shape:
        yield Change(path, _shown(old), _shown(new), _OTHER)


_SHAPE = (
    "leave the dimension open with reduce_retracing=True, or with None for it in input_signature"
)
_KEPT = (
    "reduce_retracing=True leaves the dimension open between calls that differ in nothing else: repair {}, "
    "or give the dimension as None in input_signature"
)
_BY_SIGNATURE = "leave the dimension open with None for it in input_signature"
_OPEN = "this trace leaves the dimension open, and serves all its sizes"
_READ = "a captured Python value; make it a tf.Variable, or pass it as an argument"
_RANK = "give the function tensors of one rank, or input_signature of unknown rank"
_COUNT = (
    "each number of arguments has a trace of its own; pass several tensors as one, as with tf.stack"
)
_OBJECT = (
    "objects are compared by ==, as long as they live; pass the tensors that it holds, or call "
    'intaglio.generalise("objects") for frozen data classes'
)
_GONE = (
    "objects are compared by ==, as long as they live; make it once and keep it, pass the tensors that it holds, or call "
    'intaglio.generalise("objects") for data classes'
)
_MEMBER = "each member has a trace of its own, which is right where Python code tests it"
_FUNCTION = "each function has a trace of its own; define it once, outside of what calls it"
_VARIABLE = "pass one kind of them at each call, as with tf.convert_to_tensor({path})"
_NONE = (
    "with and without a value are two graphs, which is right where Python code tests for None; else pass "
    "a tensor at each call"
)
_BOOL = (
    "True and False are two graphs, which is right where Python code tests it; pass tf.constant({path}) for "
    "one that has both branches"
)
_TEXT = "each Python string has a trace of its own; pass tf.constant({path}) unless Python code needs it"
_LENGTH = "each number of items has a trace of its own; pass one tensor, as with tf.stack, or always as many items"
_KEYS = "each set of keys has a trace of its own; pass the same keys at each call"
_KIND = "each kind of structure has a trace of its own; pass one kind at each call"
_OTHER = "each has a trace of its own"


def _advice(path: str, old: TraceType, new: TraceType) -> str:
    literals = [t.value for t in (old, new) if isinstance(t, Literal)]
    if None in literals:
        return _NONE
    if isinstance(new, Literal):
        return _advice_on_value(path, new.value)
    if isinstance(old, Literal):
        return f"a Python value is part of the trace; pass such a tensor as {path} at each call"
    if isinstance(new, Weakref):
        if new.is_function:
            return _FUNCTION
        if isinstance(new.placeholder_value(), enum.Enum):
            return _MEMBER
        return _GONE if isinstance(old, Weakref) and not old.alive else _OBJECT
    if isinstance(new, Container) or isinstance(old, Container):
        return _advice_on_structure(old, new)
    dtype = getattr(new, "dtype", None)
    if dtype is not None and dtype == getattr(old, "dtype", None):
        return _VARIABLE.format(path=path)
    return _OTHER


def _advice_on_value(path: str, value: Any) -> str:
    if isinstance(value, bool):
        return _BOOL.format(path=path)
    if isinstance(value, (int, float, complex)):
        return f"a Python number is part of the trace; pass tf.constant({path}) unless Python code needs it"
    if isinstance(value, (str, bytes)):
        return _TEXT.format(path=path)
    return "a Python value is part of the trace; pass the same one at each call"


def _advice_on_structure(old: TraceType, new: TraceType) -> str:
    if type(old) is not type(new):
        return _KIND
    return _LENGTH if isinstance(new, (List, Tuple)) else _KEYS


def misfits(
    names: Sequence[str], types: Sequence[TraceType], values: Sequence[Any]
) -> Iterator[str]:
    """The parts of arguments that do not fit the parameters' types, by parameter name."""
    if len(types) == len(values):
        for name, kind, value in zip(names, types, values, strict=True):
            yield from _misfits(name, kind, value)


def _misfits(path: str, kind: TraceType, value: Any) -> Iterator[str]:
    try:
        kind.cast(value)
        return
    except (TypeError, ValueError):
        if isinstance(kind, Container):
            try:
                items = kind._take(value)
            except (TypeError, ValueError):
                items = ()
            if items and len(items) == len(kind.parts):
                for step, part, item in zip(steps(kind), kind.parts, items, strict=True):
                    yield from _misfits(path + step, part, item)
                return
    shown = reprlib.repr(value)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        shown = f"of {value.dtype.name}, shape {value.shape}"
    yield f"{path} is {shown}; the signature has {_shown(kind)}"


_KINDS: dict[type, Callable[[Any], str]] = {
    Literal: lambda t: repr(t.value),
    List: lambda t: f"a list of {len(t.parts)}",
    Tuple: lambda t: f"a tuple of {len(t.parts)}",
    Dict: lambda t: f"a dict of {', '.join(map(repr, t.keys)) or 'nothing'}",
    Fields: lambda t: f"{t.kind.__name__}({', '.join(t.names)})",
    Weakref: lambda t: _of_object(t),
}


def _of_object(kind: Weakref) -> str:
    if kind.is_function:
        return kind.described
    return repr(kind.placeholder_value()) if kind.alive else f"{kind.described} that is gone"


def signature_of(traced: Traced) -> str:
    """The parameters of a trace in few words: `x: float32(4, None), training: True`."""
    return ", ".join([f"{name}: {_briefly(kind)}" for name, kind in traced.types.items()])


def _briefly(kind: Any) -> str:
    if type(kind).__name__ == "TensorSpec":
        return f"{kind.dtype.name}{kind.shape}"
    return _shown(kind)


def _shown(kind: Any) -> str:
    """A trace type as short text."""
    found = _KINDS.get(type(kind))
    if found is not None:
        return found(kind)
    if hasattr(kind, "dtype") and hasattr(kind, "shape"):
        name = type(kind).__name__.removesuffix("Spec")
        word = "tensor" if name == "Tensor" else name
        return f"a {word} of {kind.dtype.name}, shape {kind.shape}"
    return repr(kind)
