"""What tracing asks of traced functions, which are imported after it: see `intaglio.base.hooks`."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from intaglio.base.hooks import Hooks


class FunctionHooks(Hooks):
    """The calls of the parts of a traced function to what is made of them."""

    # A traced function of a Python function that calls itself.
    trace_recursive: Callable[[FunctionType], Callable[..., Any]]


HOOKS = FunctionHooks()
