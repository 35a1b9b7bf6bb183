"""Functions of later modules that tracing calls: see `intaglio.base.hooks`."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from intaglio.base.hooks import Hooks


class FunctionHooks(Hooks):
    """Calls from traced functions to modules that are imported after them."""

    # Makes a traced function of a Python function that calls itself.
    trace_recursive: Callable[[FunctionType], Callable[..., Any]]
    # Adds the code of an error of tracing to it as a note.
    note_code: Callable[[Exception], None]
    # The views of a function or trace: its text, its NumPy program, its picture.
    to_text: Callable[[Any], str]
    to_python: Callable[[Any], Any]
    picture: Callable[..., Any]
    # The ops and time of tracing by line; a trace as the first of the stages up to machine code.
    trace_profile: Callable[[Any], Any]
    stage: Callable[[Any], Any]
    # Repeats a recorded call, up to a line: `Function.replay`.
    replay: Callable[..., Any]
    # Executes a call under `stance("verify")`, given the function, its arguments and keywords.
    verified_call: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


HOOKS = FunctionHooks()
