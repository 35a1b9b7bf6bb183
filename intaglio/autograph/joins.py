"""Joins: the value of a name after an `if` on a tensor, from its values after both branches."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from intaglio.autograph.names import is_flag
from intaglio.autograph.optional import Maybe, known, placeholder
from intaglio.autograph.provenance import note_packed
from intaglio.autograph.values import Undefined, UndefinedReturnValue, deletion
from intaglio.base import dtypes, nest
from intaglio.base.composite import TensorInParts
from intaglio.opdef import convert
from intaglio.opdef.tensor import Tensor
from intaglio.trace.graph import FuncGraph

NONE_THERE = (
    "{0} is None here: it was None before an `if`, and the branch taken left it so. Ask "
    "`if {0} is not None:` before it is used, or give it a value before the `if`."
)

DIFFERS = (
    "{} is a Python object of type {} that differs between the main and the else "
    "branch: a graph chooses between tensors only. Set it outside of the `if`."
)

RETURNS = (
    "\nWhere a tensor decides which `return` statement is reached, all of them return the same "
    "structure."
)


class Branch:
    """A recorded branch: its graph, the values of names at its end, and whether the end is reachable."""

    def __init__(self, label: str, run: Callable[[], None], graph: FuncGraph) -> None:
        self.label = label
        self.run = run
        self.graph = graph
        self.end: Sequence[Any] = ()
        self.ends = True

    def tensor(self, value: Any, dtype: Any = None) -> Any:
        """A value as a tensor of the branch's graph."""
        with self.graph.as_default():
            return convert.to_tensor(value, dtype)

    def outcome(self, value: Any, beside: Any) -> Any:
        """The branch's value of a name, converted with regard to `beside`, the other branch's value."""
        with self.graph.as_default():
            return convert.outcome(value, beside)

    def placeholder(self, value: Any) -> Any:
        """Zeros of the types of a value that only the other branch has."""
        with self.graph.as_default():
            return placeholder(value)

    def line(self, name: str) -> str:
        """Where the branch assigns a name, as far as its code shows."""
        lines = [
            i.positions.lineno
            for i in dis.get_instructions(inspect.unwrap(self.run))
            if i.opname.startswith("STORE") and i.argval == name and i.positions
        ]
        return f" at line {lines[-1]}" if lines else ""


def joined(name: str, start: Any, main: Branch, other: Branch, x: Any, y: Any) -> tuple[Any, Any]:
    """The name's values after both branches, with one structure: tensors of equal dtypes at equal paths.

    `start` is what the name was before. Raises ValueError or TypeError, with the name, where
    that cannot be.
    """
    if not main.ends:
        return main.placeholder(y), y
    if not other.ends:
        return x, other.placeholder(x)
    result = any(map(_is_result, (start, x, y)))
    missing = [_is_absent(v, result) for v in (x, y)]
    if all(missing) and type(x) is type(y):
        return x, y
    if any(missing) or Maybe in (type(x), type(y)):
        return _optional(name, start, (main, other), (x, y), missing, result)
    return _alike(name, main, other, x, y)


def agreed(name: str, x: Any, y: Any) -> bool:
    """True for a flag with one value after both branches: no op is needed for it."""
    return is_flag(name) and type(x) is bool and x is y


def _is_result(value: Any) -> bool:
    """True for the function's return value before all paths have returned."""
    if type(value) is Maybe:
        return value.present is None
    return isinstance(value, UndefinedReturnValue)


def _is_absent(value: Any, result: bool) -> bool:
    if result:
        return isinstance(value, UndefinedReturnValue)
    return value is None or type(value) is Undefined


def _optional(
    name: str,
    start: Any,
    branches: tuple[Branch, Branch],
    values: tuple[Any, Any],
    missing: list[bool],
    result: bool,
) -> tuple[Any, Any]:
    """Both values as a Maybe. Raises ValueError where the name may not be one."""
    lacking: str | None = None
    why = NONE_THERE.format(name)
    for branch, value, absent in zip(branches, values, missing, strict=True):
        if type(value) is Maybe:
            why, lacking = value.why, lacking or value.lacking
        elif absent:
            if not result:
                _check_optional(name, branch, start, value)
            lacking = lacking or branch.label
    if any(missing):
        there = 1 if missing[0] else 0
        real = known(values[there])
        filled = _as_tensors(branches[there], real)
        pair = [branches[1 - there].placeholder(filled)] * 2
        pair[there] = filled
    else:
        pair = list(_alike(name, *branches, known(values[0]), known(values[1])))
    optional: list[Maybe] = []
    for branch, value, part, absent in zip(branches, values, pair, missing, strict=True):
        bit = None
        if not result:
            bit = value.present if type(value) is Maybe else branch.tensor(not absent)
        optional.append(Maybe(part, bit, why, lacking if result else None))
    return optional[0], optional[1]


def _check_optional(name: str, branch: Branch, start: Any, value: Any) -> None:
    """Passes for names that were None before the `if`: they may stay so in one branch."""
    if type(value) is Undefined:
        raise _uninitialized(name, branch, value)
    if start is not None and type(start) is not Maybe:
        raise _none(name, branch)


def _uninitialized(name: str, branch: Branch, value: Any) -> ValueError:
    return ValueError(
        f"'{name}' must also be initialized in the {branch.label} branch{deletion(value)}"
    )


def _none(name: str, branch: Branch) -> ValueError:
    return ValueError(f"'{name}' is None at the end of the {branch.label} branch.")


def _as_tensors(branch: Branch, value: Any) -> Any:
    return nest.map_structure(
        lambda v: branch.tensor(v) if is_data(v) else v, _whole(branch, "", value)
    )


def _whole(branch: Branch, name: str, value: Any) -> Any:
    for leaf in nest.flatten(value):
        if type(leaf) is Undefined:
            raise _uninitialized(name or leaf.symbol_name, branch, leaf)
    return value


def is_data(value: Any) -> bool:
    """True for numbers, strings and arrays: values that convert to a tensor."""
    if isinstance(value, TensorInParts):
        return False
    return (
        isinstance(value, (bool, int, float, complex, str, bytes))
        or convert.dtype_of(value) is not None
    )


def _alike(name: str, main: Branch, other: Branch, x: Any, y: Any) -> tuple[Any, Any]:
    """Two values of one structure, as tensors of the same dtypes."""
    for branch, value in ((main, x), (other, y)):
        _whole(branch, name, value)
    if (x is None) != (y is None):
        raise _none(name, main if x is None else other)
    x, y = main.outcome(x, y), other.outcome(y, x)
    try:
        nest.assert_same_structure(x, y, expand_composites=True)
    except (ValueError, TypeError) as e:
        advice = RETURNS if name.startswith("retval_") else ""
        raise TypeError(
            f"'{name}' must have the same nested structure in the main and else branches:\n\n{e}{advice}"
        ) from None
    pairs = [_leaves(name, main, other, a, b) for a, b in zip(_flat(x), _flat(y), strict=True)]
    return tuple(
        [
            nest.pack_sequence_as(v, [p[i] for p in pairs], expand_composites=True)
            for i, v in enumerate((x, y))
        ]
    )  # type: ignore[return-value]  # two values, two results


def _flat(value: Any) -> list[Any]:
    return nest.flatten(value, expand_composites=True)


def _leaves(name: str, main: Branch, other: Branch, a: Any, b: Any) -> tuple[Any, Any]:
    if (a is None) != (b is None):
        raise _none(name, main if a is None else other)
    if not (is_data(a) and is_data(b)):
        _check_same(name, a, b)
        return a, b
    first = main.tensor(a, _adopted(a, b))
    second = other.tensor(b, _adopted(b, a))
    if first.dtype is not second.dtype:
        raise TypeError(
            f"'{name}' has dtype {first.dtype.name} in the main branch, but dtype "
            f"{second.dtype.name} in the else branch{_advice(name, main, other, first, second)}"
        )
    return first, second


def _check_same(name: str, a: Any, b: Any) -> None:
    """Raises TypeError for two Python objects of which a graph cannot choose one."""
    if not is_same(a, b):
        raise TypeError(DIFFERS.format(f"'{name}'", type(a if not is_data(a) else b).__name__))


def is_same(a: Any, b: Any) -> bool:
    """True for two Python objects that are equal."""
    try:
        return a is b or bool(a == b)
    except Exception:  # what compares element by element, or not at all
        return False


def _advice(name: str, main: Branch, other: Branch, a: Any, b: Any) -> str:
    """The lines of both assignments, and the cast that would make them agree."""
    wide = a if a.dtype.size >= b.dtype.size and not b.dtype.is_floating else b
    narrow = other if wide is a else main
    return (
        f"\n'{name}' is set{main.line(name)} and{other.line(name)}; cast it in the "
        f"{narrow.label} branch: tf.cast({name}, tf.{wide.dtype.name})"
    )


def _adopted(value: Any, like: Any) -> Any:
    """The dtype that a Python number adopts from the other branch, or None."""
    if type(value) not in (int, float) or type(like) in (bool, str, bytes, type(value)):
        return None
    if isinstance(like, (int, float)):  # an int beside a float
        return dtypes.float32 if type(value) is int else None
    dtype = like.dtype if isinstance(like, Tensor) else convert.dtype_of(like)
    if dtype is None or not (dtype.is_floating or dtype.is_complex or dtype.is_integer):
        return None
    if type(value) is float:
        return None if dtype.is_integer else dtype
    fits = not dtype.is_integer or dtype.min <= value <= dtype.max
    return dtype if fits else None


def tensors_of(values: Sequence[Any]) -> list[Any]:
    """The tensors in values, in order."""
    return [t for v in values for t in _flat(v) if isinstance(t, Tensor)]


def packed(example: Any, results: Iterator[Any]) -> Any:
    """The example with its tensors replaced by the next results."""
    flat = [next(results) if isinstance(v, Tensor) else v for v in _flat(example)]
    return note_packed(nest.pack_sequence_as(example, flat, expand_composites=True))
