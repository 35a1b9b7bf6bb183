"""What is printed differently by another NumPy or Python than the one of examples and recorded answers.

NumPy prints its scalars with their types since version 2.
"""

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


# What Python says itself, and says otherwise since version 3.14.
_OF_PYTHON = (
    (
        r"cannot\s+use\s+'[\w.]+'\s+as\s+a\s+dict\s+key\s+\((Tensor is unhashable\.)\s+(.*?\(\).*?)\)",
        r"\1 \2",
    ),
    (r"typing\.Optional\[(\w+)\]", r"\1 | None"),
    (r"typing\.Union\[(\w+), (\w+)\]", r"\1 | \2"),
    (r"complex\(\) (?:first )?argument must be (.*), not '?(\w+)'?", r"complex() of \2"),
)


def by_any_python(text: str) -> str:
    """The text in one wording for all versions of Python."""
    for theirs, ours in _OF_PYTHON:
        text = re.sub(theirs, ours, text)
    return text


class Checker(doctest.OutputChecker):
    """Compares what an example prints."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """True if an example printed what it says."""
        return super().check_output(as_printed(want), got, optionflags)
