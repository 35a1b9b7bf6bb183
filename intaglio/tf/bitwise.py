"""`tf.bitwise`: operations on the bits of integers.

Follows https://www.tensorflow.org/api_docs/python/tf/bitwise.
"""

from __future__ import annotations

from typing import Any

from intaglio.op import raw
from intaglio.op.tensor import Tensor


def bitwise_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in both integers; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/bitwise/bitwise_and
    """
    return raw.BitwiseAnd(x, y, name=name)


def bitwise_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in at least one of the integers; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/bitwise/bitwise_or
    """
    return raw.BitwiseOr(x, y, name=name)


def bitwise_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in exactly one of the integers; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/bitwise/bitwise_xor
    """
    return raw.BitwiseXor(x, y, name=name)


def invert(x: Any, name: str | None = None) -> Tensor:
    """Integers with each bit flipped.

    https://www.tensorflow.org/api_docs/python/tf/bitwise/invert
    """
    return raw.Invert(x, name=name)


def left_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits of x moved y places up; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/bitwise/left_shift
    """
    return raw.LeftShift(x, y, name=name)


def right_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits of x moved y places down, signs kept; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/bitwise/right_shift
    """
    return raw.RightShift(x, y, name=name)


__all__ = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "invert",
    "left_shift",
    "right_shift",
]
