"""Compares what two runs of an example print: numbers by value, the rest as text."""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
# Examples print three to five digits; a number may be rounded to either side.
RELATIVE, ABSOLUTE = 2e-3, 2e-4


def same(first: list[str], second: list[str]) -> bool:
    """True if both have printed something, and the same but for rounding.

    >>> same(["loss 0.12345"], ["loss 0.12346"]), same(["a 1"], ["b 1"])
    (True, False)
    """
    one, other = "\n".join(first), "\n".join(second)
    if not first or _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(
        math.isclose(float(a), float(b), rel_tol=RELATIVE, abs_tol=ABSOLUTE) for a, b in pairs
    )
