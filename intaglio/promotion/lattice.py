"""Which type two operands have in common: a lattice of types, some of them weak.

Follows https://www.tensorflow.org/guide/tf_numpy_type_promotion. A weak type is one that the program did not
choose, such as that of the number in `x + 1`: it is converted to the other's.
"""

from __future__ import annotations

import enum
import functools
import itertools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import DType


class Mode(enum.Enum):
    """Which promotions are allowed: all, or those that lose and widen nothing."""

    ALL = "all"
    SAFE = "safe"

    def __str__(self) -> str:
        return f"PromoMode.{self.name}"


class Kind(NamedTuple):
    """A node of the lattice: a dtype, and whether it is weak."""

    dtype: DType
    weak: bool = False

    def __str__(self) -> str:
        return f"({self.dtype!s}, weak={self.weak})"


class Present:
    """The mode that is on, for all threads; None while types are not promoted."""

    mode: Mode | None = None


def is_on() -> bool:
    """True while operands are brought to their common type."""
    return Present.mode is not None


INT = Kind(dtypes.int32, weak=True)
FLOAT = Kind(dtypes.float32, weak=True)
DOUBLE = Kind(dtypes.float64, weak=True)
COMPLEX = Kind(dtypes.complex128, weak=True)
# Results of other types are never weak.
WEAK = frozenset(kind.dtype for kind in (INT, FLOAT, DOUBLE, COMPLEX))


def _strong(names: str) -> list[Kind]:
    return [Kind(dtypes.as_dtype(name)) for name in names.split()]


def _chains(*chains: Iterable[Kind]) -> dict[Kind, set[Kind]]:
    """What comes after each kind in one of the chains, at once."""
    found: dict[Kind, set[Kind]] = {}
    for chain in chains:
        kinds = list(chain)
        for kind in kinds:
            found.setdefault(kind, set())
        for lower, upper in itertools.pairwise(kinds):
            found[lower].add(upper)
    return found


_ABOVE = _chains(
    [*_strong("bool"), INT, *_strong("uint8 uint16 uint32 uint64"), DOUBLE],
    [INT, *_strong("int8 int16 int32 int64"), DOUBLE],
    _strong("uint8 int16"),
    _strong("uint16 int32"),
    _strong("uint32 int64"),
    [INT, FLOAT, DOUBLE, *_strong("bfloat16 float32 float64 complex128")],
    [DOUBLE, *_strong("float16 float32 complex64 complex128")],
    [DOUBLE, COMPLEX, *_strong("complex64")],
)


@functools.cache
def _upward(kind: Kind) -> frozenset[Kind]:
    """The kind and all that can be reached from it."""
    return frozenset({kind}).union(*map(_upward, _ABOVE[kind]))


@functools.cache
def _least(one: Kind, two: Kind) -> Kind:
    """The first kind that both can be brought to. Raises NotImplementedError if none is."""
    if one == two:
        return one
    if one not in _ABOVE or two not in _ABOVE:
        raise NotImplementedError(
            f"Implicit Conversion between {one.dtype!s} and {two.dtype!s} is not allowed. "
            "Please convert the input manually if you need to: tf.cast(x, dtype)."
        )
    common = _upward(one) & _upward(two)
    return next(kind for kind in common if _upward(kind) == common)


# How many binary digits a type keeps; complex types as many as their parts.
_DIGITS = {
    dtypes.bfloat16: 8,
    **{d: np.finfo(d.numpy).nmant + 1 for d in (dtypes.float16, dtypes.float32)},
    **{d: np.finfo(d.numpy).nmant + 1 for d in (dtypes.float64, dtypes.complex64)},
    dtypes.complex128: np.finfo(np.float64).nmant + 1,
}


def _holds(wide: DType, narrow: DType) -> bool:
    """True if every number of one type is one of the other's."""
    if narrow.is_integer and wide in _DIGITS:
        return np.iinfo(narrow.numpy).max.bit_length() <= _DIGITS[wide]
    return wide is narrow or np.can_cast(narrow.numpy, wide.numpy, "safe")


def _is_safe(one: Kind, two: Kind) -> bool:
    """True if the result has the type of one of both, which holds what the other has.

    A weak operand that is converted is not checked: the program did not choose its type.
    """
    wide = _least(one, two).dtype
    if wide not in (one.dtype, two.dtype):
        return False
    other = two if one.dtype is wide else one
    return other.weak or _holds(wide, other.dtype)


def join(one: Kind, two: Kind) -> Kind:
    """The kind of a result of both.

    Raises TypeError if the present mode does not allow it, and NotImplementedError for types
    that are not promoted at all, as strings are not.
    """
    result = _least(one, two)
    if Present.mode is Mode.SAFE and not _is_safe(one, two):
        raise TypeError(
            f"In promotion mode {Mode.SAFE}, implicit dtype promotion between {one} and "
            f"{two} is disallowed, for the result would lose digits or be wider than both. "
            "You need to explicitly specify the dtype in your op, or relax your dtype "
            "promotion rules (such as from SAFE mode to ALL mode)."
        )
    return result


def join_all(kinds: Iterable[Kind]) -> Kind:
    """The kind of a result of all of them, joined from the left; without any a weak float."""
    found = list(kinds)
    return functools.reduce(join, found) if found else FLOAT
