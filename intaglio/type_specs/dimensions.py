"""`intaglio.dims`: dimensions with names and constraints, for specs of functions that leave them open.

A spec made by `Dimensions.spec` is a TensorSpec whose open axes have names. Equal names are equal sizes, in all arguments of
a call; calls check that and the constraints, and name the argument and the axis.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from intaglio.base.dtypes import float32
from intaglio.type_specs.type_spec import TensorSpec

_ARITHMETIC: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type, Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ALLOWED = (ast.Compare, ast.BinOp, ast.UnaryOp, ast.Name, ast.Load, ast.Constant, ast.USub)


class DimensionError(ValueError):
    """The sizes of a call's tensors are not as `dims` says."""


class Constraint(NamedTuple):
    """A comparison of sizes, as it is written, and parsed."""

    text: str
    names: tuple[str, ...]
    comparison: ast.Compare | None


class Dimensions:
    """Names of dimensions and what holds for their sizes: see `dims`."""

    def __init__(self, text: str) -> None:
        self.constraints = _constraints(text)
        self.names = tuple(dict.fromkeys([n for c in self.constraints for n in c.names]))

    def spec(
        self, shape: Sequence[Any], dtype: Any = float32, name: str | None = None
    ) -> TensorSpec:
        """A TensorSpec for `input_signature`: axes are sizes, None or names. Raises ValueError for an unknown name."""
        for axis in shape:
            if isinstance(axis, str) and axis not in self.names:
                raise ValueError(
                    f"spec: dims does not name {axis!r}; it has {', '.join(self.names) or 'no names'}. "
                    f'Add it: intaglio.dims("{", ".join([*[c.text for c in self.constraints], axis])}")'
                )
        return NamedSpec(self, shape, dtype, name)

    def __repr__(self) -> str:
        return f'dims("{", ".join([c.text for c in self.constraints])}")'


def dims(text: str) -> Dimensions:
    """Dimensions of arguments with names, and constraints of their sizes that each call checks.

    `text` has comparisons and names, with commas between them: `"B>=1, T<=512, 1 <= H <= 8, T % H == 0, D"`. `spec`
    makes TensorSpecs with these names for `input_signature`: the axes are open, one trace serves all sizes. A call in which
    two axes of one name differ, or for which a constraint does not hold, raises DimensionError, a ValueError, that names
    argument and axis. Sizes 0 and 1 are like others.

    Raises ValueError for what is no comparison of sizes.

    >>> d = intaglio.dims("B>=1, T<=512")
    >>> @tf.function(input_signature=[d.spec(["B", "T", 64]), d.spec(["B"], tf.int32)])
    ... def f(x, lengths):
    ...     return tf.reduce_sum(x)
    >>> float(f(tf.ones([2, 3, 64]), tf.constant([1, 2])))
    384.0
    >>> f(tf.ones([2, 3, 64]), tf.constant([1]))
    Traceback (most recent call last):
        ...
    intaglio.type_specs.dimensions.DimensionError: f: lengths.shape[0] is 1, but B is 2, the size of x.shape[0]
    """
    return Dimensions(text)


def _constraints(text: str) -> list[Constraint]:
    try:
        tree = ast.parse(f"({text},)", mode="eval").body
    except SyntaxError as e:
        raise ValueError(f"dims cannot read {text!r}: {e.msg}. {_FORM}") from None
    found: list[Constraint] = []
    for part in getattr(tree, "elts", ()):
        written = ast.unparse(part).replace(" ", "")
        wrong = [
            n for n in ast.walk(part) if not isinstance(n, (*_ALLOWED, *_ARITHMETIC, *_COMPARISONS))
        ]
        numbers = [n.value for n in ast.walk(part) if isinstance(n, ast.Constant)]
        if (
            wrong
            or not isinstance(part, (ast.Name, ast.Compare))
            or any(type(n) is not int for n in numbers)
        ):
            raise ValueError(f"dims: {written!r} is no comparison of sizes. {_FORM}")
        names = tuple([n.id for n in ast.walk(part) if isinstance(n, ast.Name)])
        found.append(Constraint(written, names, part if isinstance(part, ast.Compare) else None))
    return found


_FORM = 'Write comparisons with commas between them, such as "B>=1, T<=512, T%8==0"'


class NamedSpec(TensorSpec):
    """A TensorSpec some of whose open axes have names."""

    __slots__ = ("axes", "dimensions")

    def __init__(
        self, dimensions: Dimensions, shape: Sequence[Any], dtype: Any, name: str | None
    ) -> None:
        super().__init__([None if isinstance(d, str) else d for d in shape], dtype, name)
        self.dimensions = dimensions
        self.axes = tuple([(i, d) for i, d in enumerate(shape) if isinstance(d, str)])

    def __reduce__(self) -> Any:
        shape = list(self.dims or ())
        for axis, name in self.axes:
            shape[axis] = name  # type: ignore[call-overload]  # sizes or names
        text = ", ".join([c.text for c in self.dimensions.constraints])
        return _restored, (text, shape, self.dtype, self.name)


def _restored(text: str, shape: Sequence[Any], dtype: Any, name: str | None) -> NamedSpec:
    return NamedSpec(Dimensions(text), shape, dtype, name)


class Check:
    """The check of a function's calls: which tensors have axes with names."""

    def __init__(self, function: str, tensors: Sequence[tuple[int, str, NamedSpec]]) -> None:
        self._function = function
        self._tensors = tensors
        of_specs = {id(s.dimensions): s.dimensions for _, _, s in tensors}
        self._constraints = [c for d in of_specs.values() for c in d.constraints]

    def __call__(self, tensors: Sequence[Any]) -> None:
        """Raises DimensionError if the sizes of a call's tensors are not as they should be."""
        sizes: dict[str, tuple[int, str]] = {}
        for index, argument, spec in self._tensors:
            shape = tensors[index].dims
            for axis, name in spec.axes:
                size = None if shape is None else shape[axis]
                if size is None:  # a call in a graph that does not know it
                    continue
                where = f"{argument}.shape[{axis}]"
                known, first = sizes.setdefault(name, (size, where))
                if known != size:
                    raise DimensionError(
                        f"{self._function}: {where} is {size}, but {name} is {known}, the size of {first}"
                    )
        for text, names, comparison in self._constraints:
            if comparison is None or any(n not in sizes for n in names):
                continue
            if not _holds(comparison, {n: sizes[n][0] for n in names}):
                shown = [
                    f"{n} is {sizes[n][0]}, the size of {sizes[n][1]}" for n in dict.fromkeys(names)
                ]
                raise DimensionError(
                    f"{self._function}: {text} does not hold, for {'; '.join(shown)}"
                )


def _holds(comparison: ast.Compare, sizes: dict[str, int]) -> bool:
    try:
        values = [_value(part, sizes) for part in (comparison.left, *comparison.comparators)]
    except ZeroDivisionError:  # of T % H, where H is 0
        return False
    pairs = zip(comparison.ops, values, values[1:], strict=False)
    return all([_COMPARISONS[type(op)](a, b) for op, a, b in pairs])


def _value(part: ast.AST, sizes: dict[str, int]) -> int:
    """What an expression of sizes comes to."""
    match part:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return sizes[name]
        case ast.UnaryOp(operand=operand):
            return -_value(operand, sizes)
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_value(left, sizes), _value(right, sizes))
        case _:
            raise TypeError(f"{ast.unparse(part)} is no size")


def check_of(function: str, tensors: Sequence[tuple[str, Any]]) -> Check | None:
    """The check for the specs of a function's tensors, by the names of the arguments; None without names."""
    found = [(i, n, s) for i, (n, s) in enumerate(tensors) if isinstance(s, NamedSpec) and s.axes]
    return Check(function, found) if found else None


__all__ = ["DimensionError", "Dimensions", "dims"]
