"""The one place where a Python function may be converted before it is traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Converter = Callable[[Callable[..., Any], Any], Callable[..., Any]]
_converter: list[Converter] = []


def install_converter(convert: Converter) -> None:
    """Names the function that turns Python control flow into graph control flow."""
    _converter[:] = [convert]


def converted_for_graphs(function: Callable[..., Any], options: Any) -> Any:
    """The function as it is traced with `autograph=True`."""
    return _converter[0](function, options) if _converter else function
