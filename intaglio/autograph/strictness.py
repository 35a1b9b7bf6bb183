"""Strict mode: converted code rejects what TensorFlow rejects, although a graph could represent it."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_strict = ContextVar("strict", default=os.environ.get("INTAGLIO_AUTOGRAPH") == "strict")


def is_strict() -> bool:
    """True if growing lists and hidden state of staged blocks are rejected."""
    return _strict.get()


@contextmanager
def strict(on: bool = True) -> Generator[None]:
    """Functions traced in the block are converted as TensorFlow converts them.

    Lists that grow in a staged loop or branch, and state that only the functions called
    there write, stay Python: tensors left in them raise InaccessibleTensorError when used.
    A dropped result of `TensorArray.write` is no error. With INTAGLIO_AUTOGRAPH=strict in
    the environment this holds everywhere.
    """
    before = _strict.set(on)
    try:
        yield
    finally:
        _strict.reset(before)
