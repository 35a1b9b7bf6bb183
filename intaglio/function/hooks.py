"""Functions of later modules that tracing calls: see `intaglio.base.hooks`."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from intaglio.base.hooks import Hooks


class FunctionHooks(Hooks):
    """Calls from traced functions to modules that are imported after them."""

    # A traced function of a Python function that calls itself.
    trace_recursive: Callable[[FunctionType], Callable[..., Any]]


HOOKS = FunctionHooks()
