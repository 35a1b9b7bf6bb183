"""Sobol's sequence: points that fill a cube more evenly than random ones.

Follows Joe and Kuo, "Constructing Sobol sequences with better two-dimensional projections"
(2008). Their primitive polynomials and first direction numbers, for 21200 dimensions, are in
`sobol_directions.bin`, bit after bit: dimension after dimension from the second, with each
degree's polynomials together; of a polynomial the coefficients between the first and last, of a
direction number all bits but its last, which is one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from intaglio.base.dtypes import float32, float64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, numbers

FILE = Path(__file__).with_name("sobol_directions.bin")
DIMENSIONS = 21200
BITS = 31
# How many dimensions have a polynomial of each degree, from 1.
DEGREES = (1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7775)


def _blocks(wanted: int) -> Iterator[tuple[int, Any]]:
    """(degree, bits [dimension, ...]) of the dimensions from the second."""
    start, left = 0, wanted - 1
    for degree, count in enumerate(DEGREES, 1):
        taken = min(count, left)
        if not taken:
            return
        width = degree - 1 + degree * (degree - 1) // 2
        first, last = start // 8, -(-(start + taken * width) // 8)
        raw = np.fromfile(FILE, np.uint8, last - first, offset=first)
        bits = np.unpackbits(raw)[start - 8 * first :][: taken * width]
        yield degree, bits.reshape(taken, width)
        start, left = start + count * width, left - taken


def _grown(degree: int, bits: Any) -> Any:
    """All direction numbers [number, dimension] of one degree, as fractions of 2**32."""
    directions = np.zeros((BITS, len(bits)), np.uint64)
    coefficients = bits[:, : degree - 1].astype(np.uint64).T
    at = degree - 1
    for i in range(1, degree + 1):
        own = bits[:, at : at + i - 1].astype(np.uint64)
        at += i - 1
        value = 1 + (own << np.arange(1, i, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
        directions[i - 1] = value << np.uint64(32 - i)
    for k in range(degree, BITS):
        back = directions[k - degree]
        directions[k] = back ^ (back >> np.uint64(degree))
        for i in range(1, degree):
            directions[k] ^= directions[k - i] * coefficients[i - 1]
    return directions


@functools.lru_cache(maxsize=4)
def directions(wanted: int) -> Any:
    """Direction numbers [number, dimension]."""
    first = np.uint64(1) << np.arange(31, 31 - BITS, -1, dtype=np.uint64)
    return np.concatenate(
        [first[:, None], *[_grown(d, bits) for d, bits in _blocks(wanted)]], axis=1
    )


@op
class SobolSample(Op):
    """Points `skip` + 1 to `skip` + `num_results` of the sequence, [num_results, dim]."""

    signature = (
        "dim: int32, num_results: int32, skip: int32; dtype: type = float32 -> samples: dtype"
    )
    dtype = (float32, float64)
    differentiable = False

    def infer(self, dim: Spec, num_results: Spec, skip: Spec, dtype) -> Spec:
        for spec in (dim, num_results, skip):
            if spec.rank not in (None, 0):
                raise ShapeError(f"Shape must be rank 0 but is rank {spec.rank}")
        sizes = [numbers(s) for s in (num_results, dim)]
        dims = tuple([None if n is None or n[0] < 0 else n[0] for n in sizes])
        return Spec(dtype, dims)

    def kernel(self, dim, num_results, skip, dtype):
        dims, count, start = int(dim), int(num_results), int(skip)
        if dims < 1:
            raise invalid_argument(f"dim must be at least one, not {dims}")
        if count < 1:
            raise invalid_argument(f"num_results must be at least one, not {count}")
        if start < 0:
            raise invalid_argument(f"skip must be non-negative, not {start}")
        if count + start >= 2**31 - 1:
            raise invalid_argument("num_results+skip must be less than 2147483647")
        if dims > DIMENSIONS:
            raise invalid_argument(f"dim must be at most {DIMENSIONS}, not {dims}")
        found = directions(dims)
        numbers = np.arange(start + 1, start + count + 1, dtype=np.uint64)
        gray = numbers ^ (numbers >> np.uint64(1))
        points = np.zeros((count, dims), np.uint64)
        for bit in range((start + count).bit_length()):
            has = (gray >> np.uint64(bit)) & np.uint64(1)
            points ^= np.multiply.outer(has, found[bit])
        return (points * 2.0**-32).astype(dtype.numpy)
