"""The only module that converts a Python function before it is traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.autograph import api


def converted_for_graphs(function: Callable[..., Any], options: Any, requested: bool = True) -> Any:
    """The function as it is traced with `autograph=True`; a library's only if that is `requested`."""
    return api.for_tracing(function, options, requested)


def stepped(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The converted function called on values, op by op."""
    return api.stepped(function, args, kwargs)
