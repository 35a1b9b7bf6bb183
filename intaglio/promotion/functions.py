"""Public functions with promotion: wrappers of those that `names.py` lists."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import dtypes, nest
from intaglio.base.dtypes import as_dtype
from intaglio.opdef import convert, dispatch
from intaglio.opdef.dispatch import Entry
from intaglio.promotion import lattice, names
from intaglio.promotion.lattice import Kind
from intaglio.promotion.operands import as_array, as_tensor, kind_of, promoted
from intaglio.promotion.weak_tensor import WeakTensor, strongly, weakly

Values = tuple[Any, ...]
Around = Callable[[Entry, Values], Any]


def _kind_or_none(value: Any) -> Kind | None:
    try:
        return kind_of(value)
    except NotImplementedError:
        return None  # the function itself raises the right error


def of_one(position: int = 0, infers: bool = False) -> Around:
    """Around a function of one tensor: a result of a weak one is weak, unless typed.

    A function that infers types itself gets the value as it is.
    """

    def around(entry: Entry, values: Values) -> Any:
        value = values[position]
        kind = _kind_or_none(value)
        if kind is None or kind.dtype is dtypes.string:
            return entry.call_body(values)
        if not infers and (kind.weak or isinstance(value, (list, tuple))):
            arguments = list(values)
            arguments[position] = as_tensor(value, kind.dtype)
            values = tuple(arguments)
        result = entry.call_body(values)
        return weakly(result) if kind.weak and not _typed(entry, values) else result

    return around


def _typed(entry: Entry, values: Values) -> bool:
    """True if the call specifies the dtype of the result."""
    return "dtype" in entry.names and values[entry.names.index("dtype")] is not None


def of_two(weak_results: bool, as_tensors: bool = False) -> Around:
    """Around a function of two operands, which may count as the tensors that they become."""

    def around(entry: Entry, values: Values) -> Any:
        try:
            arguments = list(values[:2])
            if as_tensors:
                arguments = [as_tensor(v, kind_of(v).dtype) for v in arguments]
            operands, weak = promoted(arguments)
        except NotImplementedError:
            return entry.call_body(values)
        result = entry.call_body((*operands, *values[2:]))
        return weakly(result) if weak and weak_results else result

    return around


def around_clip(entry: Entry, values: Values) -> Any:
    """Around `tf.clip_by_value`: the bounds take part, but the result is weak as the tensor is."""
    try:
        weak = kind_of(values[0]).weak
        first = as_tensor(values[0], kind_of(values[0]).dtype)
        operands, _ = promoted((first, *values[1:3]))
    except NotImplementedError:
        return entry.call_body(values)
    result = entry.call_body((*operands, *values[3:]))
    return weakly(result) if weak else result


def around_constant(entry: Entry, values: Values) -> Any:
    """Around `tf.constant`: weak without `dtype`, and with it tensors are brought to it."""
    value, dtype, *rest = values
    kind = _kind_or_none(value)
    if kind is None or kind.dtype is dtypes.string:
        return entry.call_body(values)
    if dtype is None:
        if not convert.holds_tensors(value):
            value = as_array(value, kind.dtype)
        result = entry.call_body((strongly(value), None, *rest))
        return weakly(result) if kind.weak else result
    wanted = as_dtype(dtype)
    if kind.dtype is not wanted and not isinstance(value, (np.ndarray, np.generic)):
        fits = lattice.join(kind, Kind(wanted)).dtype is wanted
        if fits and hasattr(value, "dtype"):
            value = as_tensor(value, wanted)
    return entry.call_body((strongly(value), dtype, *rest))


def around_reader(entry: Entry, values: Values) -> Any:
    """Around a function that looks for a tensor itself."""
    return entry.call_body(tuple(map(strongly, values)))


class _Through:
    """A function that gets tensors where the user's gets weak ones, and gives such back."""

    def __init__(self, function: Callable[..., Any], arguments: Any) -> None:
        self.function = function
        self.arguments = arguments
        self.result: Any = None  # of the last call, as weak as the user's function returned it

    def __call__(self, *plain: Any, **kwargs: Any) -> Any:
        whole = nest.map_structure(_as_weak, plain, self.arguments)
        self.result = self.function(*whole, **kwargs)
        return nest.map_structure(strongly, self.result)


def _as_weak(value: Any, like: Any) -> Any:
    return weakly(value) if isinstance(like, WeakTensor) else value


def _alike(result: Any, like: Any) -> Any:
    """A result as weak as that of the user's function; None if it was not called."""
    return result if like is None else nest.map_structure(_as_weak, result, like)


def _has_weak(structure: Any) -> bool:
    return any([isinstance(leaf, WeakTensor) for leaf in nest.flatten(structure)])


def around_rows(entry: Entry, values: Values) -> Any:
    """Around a function of a function and what it is called with the rows of."""
    function, elems, *rest = values
    if not _has_weak(elems):
        return entry.call_body(values)
    through = _Through(function, (elems,))
    plain = nest.map_structure(strongly, elems)
    result = entry.call_body((through, plain, *rest))
    return _alike(result, through.result)


def around_custom(entry: Entry, values: Values) -> Any:
    """Around `tf.custom_gradient`: the function gets weak tensors, its gradient tensors."""
    decorated = entry.call_body(values)
    if values[0] is None:
        return decorated

    @functools.wraps(decorated)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        if not _has_weak(args):
            return decorated(*args, **kwargs)
        through = _Through(values[0], args)
        plain = nest.map_structure(strongly, args)
        result = entry.call_body((through,))(*plain, **kwargs)
        return _alike(result, through.result[0])

    return differentiated


def applied(function: Callable[[Any], Any], value: Any) -> Any:
    """The function of one tensor, its result weak if the value is."""
    result = function(strongly(value))
    kind = _kind_or_none(value) if lattice.is_on() else None
    return weakly(result) if kind is not None and kind.weak else result


_AROUND: dict[str, Around] = {
    **dict.fromkeys(names.UNARY, of_one()),
    **dict.fromkeys(names.UNARY_OF_NUMPY, of_one(infers=True)),
    **dict.fromkeys(names.BINARY, of_two(weak_results=True)),
    **dict.fromkeys(names.PROMOTING, of_two(weak_results=False)),
    **dict.fromkeys(names.PROMOTING_TENSORS, of_two(weak_results=False, as_tensors=True)),
    "math.scalar_mul": of_one(1),
    "clip_by_value": around_clip,
    "constant": around_constant,
    "get_static_value": around_reader,
    "custom_gradient": around_custom,
    "map_fn": around_rows,
    "vectorized_map": around_rows,
}


_NUMBERS = (int, float, complex)


def _outcome(value: Any, beside: Any) -> Any:
    """A number that a graph returns as a weak tensor; beside a tensor it is of that type."""
    if type(value) not in _NUMBERS:
        return value
    kind = kind_of(value)
    if isinstance(beside, (WeakTensor, *_NUMBERS)) and type(beside) is not bool:
        kind = lattice.join(kind, kind_of(beside))
    elif beside is not None:
        return value
    return WeakTensor(as_tensor(value, kind.dtype)) if kind.weak else value


def surround() -> None:
    """Puts promotion around the public functions that know it."""
    convert.promote_outcomes(_outcome)
    for entry, around in _entries():
        entry.surround(around)


def leave() -> None:
    """Takes it away again."""
    convert.promote_outcomes(None)
    for entry, _ in _entries():
        entry.surround(None)


def _entries() -> list[tuple[Entry, Around]]:
    found = [(dispatch.entry_of(dispatch.public(n)), a) for n, a in _AROUND.items()]
    return [(entry, around) for entry, around in found if entry is not None]
