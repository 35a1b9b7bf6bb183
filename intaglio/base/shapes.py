"""Shapes with unknown dimensions and ranks.

Follows https://www.tensorflow.org/api_docs/python/tf/TensorShape. Inside the package a
shape is a plain tuple of `int | None`, or None for an unknown rank (`Dims`): light enough
for tracing. `TensorShape` is what users see.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeGuard

from intaglio.base import origins
from intaglio.base.dimension import Dimension
from intaglio.base.errors import ShapeError
from intaglio.base.hooks import HOOKS
from intaglio.base.messages import Written

Dims = tuple[int | None, ...] | None


class _Style:
    """The public form of sizes: TensorFlow 1's `Dimension` objects, or numbers and None."""

    dimensions = False


STYLE = _Style()


def _as_objects() -> bool:
    """Whether the calling method returns `Dimension` objects: only to user code that has selected them."""
    return STYLE.dimensions and not origins.is_ours(sys._getframe(2).f_code)


class TensorShape(Written):
    """The shape of a tensor: dimensions that are known or None, or an unknown rank.

    >>> tf.TensorShape([2, None]).as_list(), tf.TensorShape([2, None]).rank
    ([2, None], 2)
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: Any) -> None:
        self._dims: Dims = as_dims(dims)

    @property
    def dims(self) -> list[Dimension] | None:
        """The dimensions as TensorFlow 1's objects, equal to their sizes, or None if the rank is unknown."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """The same as `rank`."""
        return self.rank

    def as_list(self) -> list[int | None]:
        """The dimensions. Raises ValueError for an unknown rank."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def as_proto(self) -> Any:
        """The shape as a `TensorShapeProto` message."""
        return HOOKS.shape_proto(self._dims)

    def is_fully_defined(self) -> bool:
        """True if every dimension is known."""
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError unless every dimension is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def num_elements(self) -> int | None:
        """The product of the dimensions, or None if one is unknown."""
        return count(self._dims)

    def is_compatible_with(self, other: Any) -> bool:
        """True if some fully known shape fits both."""
        return compatible(self._dims, as_dims(other))

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError unless the shapes are compatible."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def is_subtype_of(self, other: TensorShape) -> bool:
        """True if `other` is equal or more general."""
        return is_subshape(self._dims, as_dims(other))

    def most_specific_common_supertype(self, others: Sequence[TensorShape]) -> TensorShape:
        """The most specific shape that every one of the given shapes is a subtype of."""
        dims = self._dims
        for other in others:
            dims = join(dims, as_dims(other))
        return TensorShape(dims)

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The most specific shape compatible with both."""
        return TensorShape(join(self._dims, as_dims(other)))

    def merge_with(self, other: Any) -> TensorShape:
        """The shape with the known dimensions of both. Raises ValueError if they are incompatible."""
        try:
            return TensorShape(merge(self._dims, as_dims(other)))
        except ShapeError as e:  # of no op: callers see the class that they would see elsewhere
            raise ValueError(str(e)) from None

    def concatenate(self, other: Any) -> TensorShape:
        """This shape's dimensions followed by the other's."""
        more = as_dims(other)
        if self._dims is None or more is None:
            return TensorShape(None)
        return TensorShape(self._dims + more)

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, known to have `rank` dimensions. Raises ValueError if it has not."""
        try:
            return self.merge_with((None,) * rank)
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape. Raises ValueError if it is known to have fewer dimensions."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape. Raises ValueError if it is known to have more dimensions."""
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError unless the rank is `rank` or unknown."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: Any) -> None:
        """Raises ValueError if both ranks are known and differ."""
        other = TensorShape(other)
        if None not in (self.rank, other.rank) and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self.dims or ()) if _as_objects() else iter(self._dims)  # type: ignore[return-value]  # TensorFlow 1's objects

    def __getitem__(self, key: Any) -> Any:
        if self._dims is None:
            if isinstance(key, slice):
                return self._unknown_slice(key)
            return Dimension(None) if _as_objects() else None
        if isinstance(key, slice):
            return TensorShape(self._dims[key])
        return Dimension(self._dims[key]) if _as_objects() else self._dims[key]

    @staticmethod
    def _unknown_slice(key: slice) -> TensorShape:
        start, stop = key.start or 0, key.stop
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        if stop is None or start < 0 or stop < 0:
            return TensorShape(None)
        return TensorShape((None,) * max(0, stop - start))

    def __eq__(self, other: Any) -> bool:
        try:
            return self._dims == as_dims(other)
        except TypeError:
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __repr__(self) -> str:
        sizes = self.dims if STYLE.dimensions else self._dims
        return f"TensorShape({None if sizes is None else list(sizes)})"

    def __str__(self) -> str:
        return text(self._dims)

    def __reduce__(self) -> Any:
        return TensorShape, (self._dims,)

    def __concat__(self, other: Any) -> TensorShape:
        return self.concatenate(other)


def of_dims(dims: Dims) -> TensorShape:
    """A TensorShape of dimensions that are known to be valid."""
    shape = object.__new__(TensorShape)
    shape._dims = dims
    return shape


def as_dims(value: Any) -> Dims:
    """Anything that TensorFlow takes as a shape, as a tuple or None.

    Raises TypeError for what is no dimension and ValueError for negative ones.
    """
    if value is None:
        return None
    if type(value) is TensorShape:
        return value._dims
    if type(value) is tuple or type(value) is list:
        return tuple([_dim(d) for d in value])
    if isinstance(value, str):
        raise TypeError(
            f"Failed to convert '{value!r}' to a shape: '{value!r}'could not be converted to a dimension. "
            "A shape is one dimension (10) or a sequence of dimensions ([1, 10, None])."
        )
    if hasattr(value, "dim") and hasattr(value, "unknown_rank"):  # TensorShapeProto
        return (
            None
            if value.unknown_rank
            else tuple([None if d.size == -1 else d.size for d in value.dim])
        )
    try:
        items: Iterable[Any] = iter(value)
    except TypeError:
        return (_dim(value),)
    return tuple([_dim(d) for d in items])


def _dim(value: Any) -> int | None:
    if isinstance(value, Dimension):
        value = value.value
    if value is None:
        return None
    if type(value) is not int:
        try:
            value = operator.index(getattr(value, "value", value))
        except TypeError:
            raise TypeError(
                f"Dimension value must be integer or None or have an __index__ method, got value '{value!r}' "
                f"with type '{type(value)!r}'"
            ) from None
    if value < 0:
        raise ValueError(f"Dimension {value} must be >= 0")
    return value


def text(dims: Dims) -> str:
    """How TensorFlow prints a shape: `(2, None)`, `(3,)`, `<unknown>`; TensorFlow 1 `(2, ?)`."""
    if dims is None:
        return "<unknown>"
    shown = str(tuple(dims))
    return shown.replace("None", "?") if STYLE.dimensions else shown


def known(dims: Dims) -> TypeGuard[tuple[int, ...]]:
    """True if every dimension is known."""
    return dims is not None and None not in dims


def count(dims: Dims) -> int | None:
    """The number of elements, or None if it is not known."""
    return math.prod(dims) if known(dims) else None


def compatible(a: Dims, b: Dims) -> bool:
    """True if some fully known shape fits both."""
    if a is None or b is None or a == b:
        return True
    return len(a) == len(b) and all(
        x is None or y is None or x == y for x, y in zip(a, b, strict=True)
    )


def is_subshape(a: Dims, b: Dims) -> bool:
    """True if `b` is equal to `a` or more general."""
    if b is None:
        return True
    if a is None or len(a) != len(b):
        return False
    return all(y is None or x == y for x, y in zip(a, b, strict=True))


def join(a: Dims, b: Dims) -> Dims:
    """The most specific shape that is more general than both."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple([x if x == y else None for x, y in zip(a, b, strict=True)])


def merge(a: Dims, b: Dims) -> Dims:
    """The shape with the known dimensions of both. Raises ShapeError if they are incompatible."""
    if a is None:
        return b
    if b is None:
        return a
    if not compatible(a, b):
        raise ShapeError(f"Shapes {text(a)} and {text(b)} are not compatible")
    return tuple([y if x is None else x for x, y in zip(a, b, strict=True)])


def brackets(dims: Dims) -> str:
    """How the runtime's messages write a shape: `[2,?]`, `<unknown>`."""
    if dims is None:
        return "<unknown>"
    return f"[{','.join('?' if d is None else str(d) for d in dims)}]"


def mismatch(a: Dims, b: Dims) -> str:
    """The runtime's message about two incompatible shapes."""
    if a is None or b is None or len(a) != len(b):
        return f"Shapes must be equal rank, but are {len(a or ())} and {len(b or ())}"
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        if x is not None and y is not None and x != y:
            return (
                f"Dimension {i} in both shapes must be equal, but are {x} and {y}. "
                f"Shapes are {brackets(a)} and {brackets(b)}."
            )
    return ""


def broadcast(a: Dims, b: Dims) -> Dims:
    """The shape of an elementwise result. Raises ShapeError if the shapes do not fit."""
    if a is None or b is None:
        return None
    if a == b and None not in a:
        return a
    short, long = (a, b) if len(a) < len(b) else (b, a)
    result = list(long)
    offset = len(long) - len(short)
    for i, y in enumerate(short, offset):
        x = long[i]
        if x == y or y == 1:
            continue
        if x == 1:
            result[i] = y
        elif x is None or y is None:
            result[i] = y if x is None and y is not None and y > 1 else x
        else:
            raise ShapeError(
                f"Dimensions must be equal, but are {a[i - len(long)]} and {b[i - len(long)]}",
                eager=f"Incompatible shapes: {brackets(a)} vs. {brackets(b)}",
            )
    return tuple(result)
