"""Parts of saved positions: buffered elements, windows, pending errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.data.stage import Advance, Element, Root, Stage


def of_elements(elements: Sequence[Element]) -> Any:
    """Elements as a plain value: columns if all of a component are alike, else one by one."""
    if not elements:
        return None
    return [len(elements), [_column(parts) for parts in zip(*elements, strict=True)]]


def elements_of(value: Any) -> list[Element]:
    """The inverse of `of_elements`."""
    if value is None:
        return []
    count, columns = value
    if not columns:
        return [()] * count
    return list(zip(*[_parts(c) for c in columns], strict=True))


def counted(elements: Iterator[Element], root: Root) -> Advance:
    """Elements that are the same every time; the position is how many have been read."""
    count = 0

    def advance() -> Element:
        nonlocal count
        element = next(elements)
        count += 1
        return element

    def restore(position: int) -> None:
        for _ in range(position):
            advance()

    root.keep(lambda: count, restore)
    return advance


def _column(parts: Sequence[Any]) -> Any:
    first = parts[0]
    if isinstance(first, (np.ndarray, np.generic)) and first.dtype != object:
        kinds = {(p.dtype, p.shape) for p in parts}
        if len(kinds) == 1:
            return {"alike": np.stack(parts)}
    return {"single": list(parts)}


def _parts(column: Any) -> list[Any]:
    return list(column["alike"]) if "alike" in column else column["single"]


def of_error(error: BaseException) -> Any:
    """An error as a plain value."""
    if isinstance(error, errors.OpError):
        return [error.error_code, error.message]
    return [errors.UNKNOWN, f"{type(error).__name__}: {error}"]


def error_of(value: Any) -> errors.OpError:
    """The inverse of `of_error`."""
    code, message = value
    return errors.CLASS_OF[code](None, None, message)


# The recipe of datasets of elements in memory, which no op made.
ELEMENTS = "elements"


def dataset_of(elements: Sequence[Element]) -> Stage:
    """A dataset of these elements."""

    def open(root: Root) -> Advance:
        remaining: Any = iter(elements)
        root.keep(
            remaining.__length_hint__, lambda left: remaining.__setstate__(len(elements) - left)
        )
        return remaining.__next__

    stage = Stage("Window", len(elements), open, elements.__getitem__)
    stage.recipe = (ELEMENTS, {"elements": elements})
    return stage
