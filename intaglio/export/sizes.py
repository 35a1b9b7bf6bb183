"""Open dimensions as arguments of C functions: the numbers that each may be, and dimensions as formulas of them.

Code is written for every choice of the sizes, with the shapes of that choice, so whatever has code for a
fixed shape has it for open ones. Choices share the kernels, which take dimensions as data.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

# No open dimension is larger.
MAX_SIZE = 2**31 - 1
# A library has code for so many choices of a function's sizes.
MAX_CHOICES = 4096
# A dimension is looked for as a sum of sizes that is divided by at most so much.
_MAX_DIVISOR = 16
# And as a sum of at most so many products of at most so many sizes.
_MAX_DEGREE, _MAX_TERMS = 3, 3
# A name, an element, or a product of names: no parentheses are needed to multiply it.
_SINGLE = re.compile(r"\w+( \* \w+)*|\w+(\.\w+)?\[\d+\]")


class Size(NamedTuple):
    """An open dimension: its name in C, its label, and what it may be, in ascending order."""

    name: str
    label: str
    values: tuple[int, ...]

    @property
    def described(self) -> str:
        """`1 to 64`, or the numbers."""
        first, last = self.values[0], self.values[-1]
        if len(self.values) > 2 and last - first == len(self.values) - 1:
            return f"{first} to {last}"
        shown = [str(v) for v in self.values]
        if len(shown) > 12:
            shown[6:-3] = ["..."]
        return ", ".join(shown)


def choices(sizes: Sequence[Size]) -> Iterator[tuple[int, ...]]:
    """All choices of sizes, the last size changing fastest."""
    return itertools.product(*[s.values for s in sizes])


def formula(sizes: Sequence[Size], dims: Sequence[int]) -> str | None:
    """A dimension as C computes it of sizes: `2 * n + 1`, `(n + 1) / 2`; None if nothing like that is right.

    `dims` has the dimension for each of `choices`, for all of which the formula is right.
    """
    if len({*dims}) == 1:
        return str(dims[0])
    chosen = list(choices(sizes))
    slopes = _slopes(sizes, dims)
    if slopes is not None:
        constant = dims[0] - _dot(slopes, chosen[0])
        if all(_dot(slopes, c) + constant == d for c, d in zip(chosen, dims, strict=True)):
            return _sum(sizes, slopes, constant)
    for index, divisor in itertools.product(range(len(sizes)), range(2, _MAX_DIVISOR + 1)):
        # The numbers that may be added before the division, by every choice.
        least = max(divisor * d - c[index] for c, d in zip(chosen, dims, strict=True))
        most = min(divisor * d + divisor - 1 - c[index] for c, d in zip(chosen, dims, strict=True))
        added = min(max(least, 0), most)
        if least <= most and added >= -sizes[index].values[0]:
            whole = _sum(sizes, [int(i == index) for i in range(len(sizes))], added)
            return f"({whole}) / {divisor}" if added else f"{whole} / {divisor}"
    found = _polynomial(sizes, chosen, dims)
    if found is not None:
        return found
    factor = math.gcd(*dims)
    part = formula(sizes, [d // factor for d in dims]) if factor > 1 else None
    return part and f"{factor} * ({part})"


def _polynomial(
    sizes: Sequence[Size], chosen: Sequence[tuple[int, ...]], dims: Sequence[int]
) -> str | None:
    """A dimension as a sum of products of sizes: `n * n + 2 * m`; None if it is none with integers."""
    terms = [
        term
        for degree in range(1, _MAX_DEGREE + 1)
        for term in itertools.combinations_with_replacement(range(len(sizes)), degree)
    ]
    # Fewer terms first: what few choices say is right for more than one polynomial.
    counts = range(1, _MAX_TERMS + 1) if len(terms) <= _MAX_TERMS**2 else (1,)
    for some in itertools.chain(*[itertools.combinations(terms, n) for n in counts]):
        products = [[math.prod([c[i] for i in term]) for term in some] for c in chosen]
        table = np.array([[*row, 1] for row in products], np.float64)
        slopes = np.linalg.lstsq(table, np.array(dims, np.float64), rcond=None)[0].round()
        if not np.isfinite(slopes).all():
            continue
        *factors, constant = [int(s) for s in slopes]
        if all(_dot(factors, p) + constant == d for p, d in zip(products, dims, strict=True)):
            names = [Size(" * ".join([sizes[i].name for i in term]), "", (0,)) for term in some]
            return _sum(names, factors, constant)
    return None


def _dot(slopes: Sequence[int], values: Sequence[int]) -> int:
    return sum([a * b for a, b in zip(slopes, values, strict=True)])


def _slopes(sizes: Sequence[Size], dims: Sequence[int]) -> tuple[int, ...] | None:
    """How much a dimension grows with each size, by its first and last value; None if that is no integer."""
    slopes: list[int] = []
    stride = math.prod([len(s.values) for s in sizes])
    for size in sizes:
        stride //= len(size.values)
        last = dims[stride * (len(size.values) - 1)]
        if len(size.values) == 1:
            slopes.append(0)
            continue
        slope = Fraction(last - dims[0], size.values[-1] - size.values[0])
        if slope.denominator != 1:
            return None
        slopes.append(int(slope))
    return tuple(slopes)


def _sum(sizes: Sequence[Size], slopes: Sequence[int], constant: int) -> str:
    """`2 * n - 3`."""
    terms = [
        (k, size.name if abs(k) == 1 else f"{abs(k)} * {size.name}")
        for size, k in zip(sizes, slopes, strict=True)
        if k
    ]
    terms += [(constant, str(abs(constant)))] if constant else []
    terms.sort(key=lambda term: term[0] < 0)
    text = "".join([f" {'-' if k < 0 else '+'} {t}" for k, t in terms])
    return text.removeprefix(" + ").removeprefix(" ")


def product(forms: Sequence[str]) -> str:
    """The product of dimensions as C writes it: numbers first."""
    number = math.prod([int(f) for f in forms if f.isdigit()])
    others = [f if _SINGLE.fullmatch(f) else f"({f})" for f in forms if not f.isdigit()]
    if not number or not others:
        return str(number)
    return " * ".join([*([str(number)] if number != 1 else []), *others])


def named(label: str, axis: int) -> str:
    """The name of an open dimension without one: `x_dim1`."""
    return f"{label}_dim{axis}"


def checked(options: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """The numbers of each size, in ascending order. Raises ValueError, with what to write, for others."""
    found: dict[str, tuple[int, ...]] = {}
    for name, values in options.items():
        try:
            numbers = tuple(sorted({operator.index(v) for v in values}))
        except TypeError:  # no sequence, or not of integers
            numbers = ()
        if not numbers or numbers[0] < 0 or numbers[-1] > MAX_SIZE:
            raise ValueError(
                f"sizes: {name!r} is {values!r}: write the numbers that it may be, such as range(1, 65); "
                f"none is above {MAX_SIZE}."
            )
        found[name] = numbers
    return found
