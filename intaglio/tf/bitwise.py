"""`tf.bitwise`: operations on the bits of integers.

Follows https://www.tensorflow.org/api_docs/python/tf/bitwise.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def bitwise_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in both integers; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/bitwise/bitwise_and

    >>> print(tf.bitwise.bitwise_and([12, 10], [10, 6]).numpy())
    [8 2]
    """
    return raw.BitwiseAnd(x, y, name=name)


@dispatchable
def bitwise_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in at least one of the integers; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/bitwise/bitwise_or

    >>> print(tf.bitwise.bitwise_or([12, 10], [10, 6]).numpy())
    [14 14]
    """
    return raw.BitwiseOr(x, y, name=name)


@dispatchable
def bitwise_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in exactly one of the integers; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/bitwise/bitwise_xor

    >>> print(tf.bitwise.bitwise_xor([12, 10], [10, 6]).numpy())
    [ 6 12]
    """
    return raw.BitwiseXor(x, y, name=name)


@dispatchable
def invert(x: Any, name: str | None = None) -> Tensor:
    """Integers with each bit flipped.

    https://www.tensorflow.org/api_docs/python/tf/bitwise/invert

    >>> print(tf.bitwise.invert([0, 5]).numpy())
    [-1 -6]
    """
    return raw.Invert(x, name=name)


@dispatchable
def left_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x shifted left by y bits; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/bitwise/left_shift

    >>> print(tf.bitwise.left_shift([1, 3], [4, 1]).numpy())
    [16  6]
    """
    return raw.LeftShift(x, y, name=name)


@dispatchable
def right_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x shifted right by y bits, arithmetically for signed types; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/bitwise/right_shift

    >>> print(tf.bitwise.right_shift([16, 6], [4, 1]).numpy())
    [1 3]
    """
    return raw.RightShift(x, y, name=name)


__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]
