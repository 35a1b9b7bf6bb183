"""Warnings about a line of the user's program: one for each line."""

from __future__ import annotations

import warnings

_reported: set[tuple[str, int]] = set()


def warn_at(file: str, line: int, message: str) -> None:
    """A UserWarning at a line, if there was none about it yet."""
    where = (file, line)
    if where not in _reported:
        _reported.add(where)
        warnings.warn_explicit(f"line {line}: {message}", UserWarning, *where)
