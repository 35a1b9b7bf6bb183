"""Warnings about a line of the user's program: each line is remarked on once."""

from __future__ import annotations

import warnings

_reported: set[tuple[str, int]] = set()


def remark(file: str, line: int, message: str) -> None:
    """A UserWarning at a line, if there was none about it yet."""
    place = (file, line)
    if place not in _reported:
        _reported.add(place)
        warnings.warn_explicit(f"line {line}: {message}", UserWarning, *place)
