"""How NumPy prints its scalars: version 2 with their types, as in examples and recorded answers."""

from __future__ import annotations

import doctest
import re

import numpy as np

TYPES_PRINTED = repr(np.int64(1)) != "1"
_SCALAR = re.compile(
    r"\bnp\.(?:float|int|uint|complex|str_|bytes_)\d*\(((?:'[^']*'|\([^()]*\)|[^()'])*)\)"
)


def as_printed(text: str) -> str:
    """What NumPy 2 printed, as the NumPy of these tests prints it."""
    if TYPES_PRINTED:
        return text
    text = re.sub(r"\bnp\.(True|False)_", r"\1", text)
    return _SCALAR.sub(_without_type, text)


def _without_type(scalar: re.Match[str]) -> str:
    value = scalar[1]
    return f"({value})" if scalar[0].startswith("np.complex") else value


class Checker(doctest.OutputChecker):
    """Compares what an example prints."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """True if an example printed what it says."""
        return super().check_output(as_printed(want), got, optionflags)
