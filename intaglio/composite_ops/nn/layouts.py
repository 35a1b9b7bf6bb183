"""How the functions of `tf.nn` read strides, dilations, window sizes and paddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def channel_index(data_format: str | None, n: int) -> int:
    """Where the channels are, for `n` spatial dimensions. Raises ValueError for what is no layout."""
    return 1 if channels_first(data_format) else n + 1


def channels_first(data_format: Any) -> bool:
    """True for layouts such as "NCHW", False for None. Raises ValueError for what is no layout."""
    if data_format is None:
        return False
    if not isinstance(data_format, str):
        raise ValueError(f"`data_format` must be a string such as 'NHWC', not {data_format!r}")
    return data_format.startswith("NC")


def sequence(value: Any, n: int, channels: int, name: str) -> list[int]:
    """An entry for each dimension, from one number, one for each spatial dimension, or all.

    Raises ValueError for another length.
    """
    if value is None:
        value = [1]
    elif not isinstance(value, Sequence) and not hasattr(value, "__len__"):
        value = [value]
    value = [int(v) for v in value]
    if len(value) == n + 2:
        return value
    if len(value) == 1:
        value = value * n
    elif len(value) != n:
        raise ValueError(
            f"`{name}` should be of length 1, {n} or {n + 2}. "
            f"Received: {name}={value} of length {len(value)}"
        )
    return [1, 1, *value] if channels == 1 else [1, *value, 1]


def explicit(padding: Any) -> tuple[str, list[int]]:
    """(padding, explicit_paddings) of an argument that may be a list of pairs.

    Raises ValueError for a list of another form, and for the word "EXPLICIT".
    """
    if not isinstance(padding, (list, tuple)):
        if padding == "EXPLICIT":
            raise ValueError(
                "'EXPLICIT' is not a valid value for `padding`. To use explicit padding, `padding` must be a list."
            )
        return padding, []
    for i, pair in enumerate(padding):
        if not isinstance(pair, (list, tuple)):
            raise ValueError(
                f"When `padding` is a list, each element of `padding` must be a list/tuple of size 2. "
                f"Received: padding={padding} with element at index {i} of type {type(pair)}"
            )
        if len(pair) != 2:
            raise ValueError(
                f"When `padding` is a list, each element of `padding` must be a list/tuple of size 2. "
                f"Received: padding={padding} with element at index {i} of size {len(pair)}"
            )
    if len(padding) != 4:
        raise ValueError(
            f"When `padding` is a list, it must be of size 4. Received: padding={padding} of size {len(padding)}"
        )
    return "EXPLICIT", [int(n) for pair in padding for n in pair]
