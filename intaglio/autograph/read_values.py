"""Records of the values that a trace has read, and their comparison with later values."""

from __future__ import annotations

import collections
import enum
import itertools
import operator
import reprlib
import weakref
import zlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from intaglio.base import dtypes, shapes
from intaglio.opdef.tensor import Tensor

# Values that are part of a trace as they are, and whose memory is not worth a weak reference.
_PLAIN = frozenset(
    {bool, int, float, complex, str, bytes, type(None), type(...), slice, range, dtypes.DType, shapes.TensorShape}
)  # fmt: skip
CONTAINERS = (list, dict, set, collections.deque)
MAX_COMPARED_BYTES = 1 << 16
MAX_ELEMENTS = 64  # of a container whose elements are remembered; of longer ones, so many samples

_short = reprlib.Repr()
_short.maxlist = _short.maxtuple = _short.maxdict = _short.maxset = 6
_short.maxstring = _short.maxother = 60


def is_plain(value: Any) -> bool:
    """True for a Python value that is compared by equality: a number, a string, a tuple of these."""
    kind = type(value)
    if kind in _PLAIN or isinstance(value, (enum.Enum, np.generic, np.dtype)):
        return True
    return kind in (tuple, frozenset) and all(map(is_plain, value))


class Kept:
    """A record of an object that a trace has read, by a weak reference, as traces keep nothing alive.

    Of arrays, tensors and functions there may be an equal one later: what they are is kept.
    """

    __slots__ = ("facts", "kind", "reference", "text")

    def __init__(self, value: Any) -> None:
        self.kind: type = type(value)
        is_data = isinstance(value, (np.ndarray, Tensor))
        self.facts = _facts(value) if isinstance(value, FunctionType) else None
        # Small data and functions say more than what class they had.
        self.text = shown(value) if is_data or self.facts is not None else ""
        try:
            self.reference: Callable[[], Any] = weakref.ref(value)
        except TypeError:
            self.reference = lambda: value
        if is_data and _size_of(value) <= MAX_COMPARED_BYTES:
            self.reference = lambda: value

    def is_same(self, now: Any) -> bool:
        """True for that object, and for one that is equal."""
        before = self.reference()
        if before is now:
            return before is not None
        if self.kind is not type(now):
            return False
        if self.facts is not None:
            return _is_same_function(self.facts, _facts(now))
        return before is not None and _is_equal(before, now)


def _size_of(value: Any) -> int:
    array = value if isinstance(value, np.ndarray) else getattr(value, "_array", None)
    return getattr(array, "nbytes", MAX_COMPARED_BYTES + 1)


def _facts(function: FunctionType) -> tuple[Any, ...]:
    """The code of a function, its closure values and its defaults."""
    parts: list[Any] = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        try:
            parts.append(cell.cell_contents)
        except ValueError:
            parts.append(...)  # a variable without a value
    # Not a function of a function: it may refer to itself.
    return (function.__code__, *[v if is_plain(v) else _Object(v) for v in parts])


class _Object:
    """A record of an object that is compared by identity."""

    __slots__ = ("reference",)

    def __init__(self, value: Any) -> None:
        try:
            self.reference: Callable[[], Any] = weakref.ref(value)
        except TypeError:
            self.reference = lambda: value


def _is_same_function(before: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
    """True for the same code with the same values around it: a cell that was run again."""
    if before[0] != now[0] or len(before) != len(now):
        return False
    for one, other in zip(before[1:], now[1:], strict=True):
        if type(one) is _Object and type(other) is _Object:
            if one.reference() is not other.reference():
                return False
        elif not same(one, other):
            return False
    return True


def keep(value: Any) -> Any:
    """The record of a value: the value itself if it is plain, else a `Kept`."""
    return value if is_plain(value) else Kept(value)


def same(kept: Any, now: Any) -> bool:
    """True if a value is interchangeable for a trace with the recorded one."""
    if type(kept) is Kept:
        return kept.is_same(now)
    if kept is now:
        return True
    if type(kept) is not type(now):
        return False
    if isinstance(kept, tuple):
        pairs = zip(kept, now, strict=False)
        return len(kept) == len(now) and all([same(a, b) for a, b in pairs])
    if isinstance(kept, (float, complex)):
        return repr(kept) == repr(now)  # NaN is itself, and 0.0 is not -0.0
    return bool(np.all(kept == now))


def _is_equal(before: Any, now: Any) -> bool:
    """Whether two objects of one class are interchangeable for a trace."""
    if isinstance(before, np.ndarray):
        return _is_same_array(before, now)
    if isinstance(before, Tensor):
        arrays = getattr(before, "_array", None), getattr(now, "_array", None)
        return None not in [None if a is None else 0 for a in arrays] and _is_same_array(*arrays)
    if hasattr(before, "handle") or type(before).__eq__ is object.__eq__:
        return False
    try:
        return (before == now) is True
    except Exception:  # whatever a user's `__eq__` raises
        return False


def _is_same_array(before: Any, now: Any) -> bool:
    return (
        before.dtype == now.dtype
        and before.shape == now.shape
        and before.nbytes <= MAX_COMPARED_BYTES
        and not before.dtype.hasobject
        and before.tobytes() == now.tobytes()
    )


def elements(value: Any) -> list[Any]:
    """The elements of a container in order; of a dictionary keys and items, of a long one samples."""
    if isinstance(value, (set, frozenset)):
        return [frozenset(value)]
    if isinstance(value, dict):
        return [part for item in value.items() for part in item]
    step = _step(value)
    if step == 1:
        return list(value)
    # A copy of all would take as long as the call.
    return value[::step] if type(value) is list else [*itertools.islice(value, 0, None, step)]


def _step(value: Any) -> int:
    """The distance between the samples of a container; 1 if all elements are samples."""
    step = max(len(value) // MAX_ELEMENTS, 1)
    return step if step == 1 else step | 1


class Contents:
    """The number of a container's elements, and the elements or samples of them."""

    __slots__ = ("_references", "count", "kept", "keys", "kind", "shown")

    def __init__(self, value: Any) -> None:
        self.kind: type = type(value)
        self.count = len(value)
        # The samples of a long dictionary are found by their keys, not by their order.
        is_long = isinstance(value, dict) and _step(value) > 1
        self.keys = [*itertools.islice(value, 0, None, _step(value))] if is_long else None
        found = self._elements(value)
        self.kept = [_kept_element(v) for v in found]
        self.shown = _short.repr(value) if all(map(is_plain, found)) else ""
        # Of a list or tuple of which all elements are kept: what gives each of them, None for what is gone.
        is_sequence = self.kind in (list, tuple) and len(found) == self.count
        has_no_containers = not any([type(k) is Contents for k in self.kept])
        self._references = (
            [_reference(k) for k in self.kept] if is_sequence and has_no_containers else None
        )

    def _elements(self, value: Any) -> list[Any]:
        keys = self.keys
        return elements(value) if keys is None else [dict.get(value, k, _ABSENT) for k in keys]

    def is_same(self, now: Any) -> bool:
        """True if a container has these elements."""
        if len(now) != self.count or (self.keys is not None and not isinstance(now, dict)):
            return False
        if self._references is not None and type(now) is self.kind:
            are_same = all(map(operator.is_, map(operator.call, self._references), now))
            if are_same and not any(map(operator.is_, now, itertools.repeat(None))):
                return True
        found = self._elements(now)
        return len(found) == len(self.kept) and all(map(_same_element, self.kept, found))


_ABSENT = object()


def _reference(kept: Any) -> Callable[[], Any]:
    """A function, in C, of a value that is kept."""
    return kept.reference if type(kept) is Kept else itertools.repeat(kept).__next__


def _kept_element(value: Any) -> Any:
    return Contents(value) if isinstance(value, CONTAINERS) else keep(value)


def _same_element(kept: Any, now: Any) -> bool:
    if type(kept) is Contents:
        return isinstance(now, CONTAINERS) and kept.is_same(now)
    return same(kept, now)


def shown(value: Any) -> str:
    """A value, or the record of one, as short text."""
    if type(value) is Contents:
        return value.shown or f"a container of {value.count}"
    if type(value) is Kept:
        now = value.reference()
        if value.text:
            return value.text
        return f"another {value.kind.__name__}" if now is None else shown(now)
    if isinstance(value, Tensor):
        array: Any = getattr(value, "_array", None)
        has_numbers = isinstance(array, (np.ndarray, np.generic)) and array.size <= 4
        text = f" {array.tolist()!r}" if has_numbers else ""
        return f"a tensor{text} of {value.dtype.name}, shape {value.shape}"
    if isinstance(value, np.ndarray):
        return (
            f"an array {_short.repr(value.tolist())} of {value.dtype}"
            if value.size <= 6
            else (f"an array of {value.dtype}, shape {value.shape}")
        )
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, FunctionType):
        code = value.__code__
        return f"{value.__qualname__} (line {code.co_firstlineno})"
    return _short.repr(value)


class ArrayContents:
    """A checksum of an array's elements; of a large array, of samples of them."""

    __slots__ = ("checksum",)

    def __init__(self, value: np.ndarray) -> None:
        self.checksum = _checksum(value)

    def is_same(self, now: Any) -> bool:
        """True if an array has the elements that were there, as far as they are sampled."""
        return isinstance(now, np.ndarray) and _checksum(now) == self.checksum


def _checksum(value: np.ndarray) -> tuple[Any, ...]:
    flat = value.reshape(-1)
    size = max(MAX_COMPARED_BYTES // max(value.itemsize, 1), 1)
    samples = flat if flat.size <= size else flat[:: flat.size // size | 1]
    return value.shape, value.dtype.str, zlib.crc32(np.ascontiguousarray(samples).tobytes())
