"""The choice of elements of TensorFlow 1, which does not broadcast.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/where.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import convert, raw


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """With x and y, of one shape, x where the condition holds and else y; alone, the coordinates.

    A condition that is a vector chooses rows, a scalar all of x or of y; nothing else is
    broadcast. Raises ValueError if only one of x and y is given, InvalidArgumentError
    (ValueError in a graph) if the shapes differ.

    >>> print(tf.compat.v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]]).numpy())
    [[1 2]
     [7 8]]
    """
    if x is None and y is None:
        return raw.Where(convert.to_tensor(condition), name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return raw.Select(condition, x, y, name=name)


__all__ = ["where"]
