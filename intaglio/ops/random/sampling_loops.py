"""The loops of `rejection_sampling.py`, output by output, for machine code (`ops/restricted.py`).

They return the same numbers: each output has counters of its own, a block has two numbers, and the
second of a pair is used first. A block is ciphered again for its other number, which takes less
time than keeping it.
"""

from __future__ import annotations

import math
from typing import Any

from intaglio.ops.random.philox import MIN_UNIFORM, RESERVED, WEYL_0, WEYL_1
from intaglio.ops.restricted import bits_to_double

_LOW = 0xFFFFFFFF
_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_ONE = 0x3FF << 52
_TWO_PI = 2 * math.pi
# Means below this are drawn by products or sums (`rejection_sampling.SMALL_MEAN`).
_SMALL_MEAN = 10.0
_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


def _block(key: Any, low: Any, high: Any, offset: Any) -> Any:
    """The two words of 64 bits of the block at a counter."""
    x0 = (low & _LOW) + (offset & _LOW)
    x1 = (low >> 32) + (offset >> 32) + (x0 >> 32)
    x2 = (high & _LOW) + (x1 >> 32)
    x3 = ((high >> 32) + (x2 >> 32)) & _LOW
    x0, x1, x2 = x0 & _LOW, x1 & _LOW, x2 & _LOW
    k0, k1 = key & _LOW, key >> 32
    for _ in range(10):
        p0, p1 = x0 * _M0, x2 * _M1
        x0, x1 = (p1 >> 32) ^ x1 ^ k0, p1 & _LOW
        x2, x3 = (p0 >> 32) ^ x3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + WEYL_0) & _LOW, (k1 + WEYL_1) & _LOW
    return x0 | x1 << 32, x2 | x3 << 32


def _unit(word: Any) -> Any:
    """A float64 in [0, 1) of a word: its halves are in the other order in the mantissa."""
    return bits_to_double((word & 0xFFFFF) << 32 | word >> 32 | _ONE) - 1.0


def _uniform(key: Any, low: Any, high: Any, start: Any, number: Any) -> Any:
    """The uniform number with this number, of blocks from `start` on."""
    first, second = _block(key, low, high, start + (number >> 1))
    return _unit(first if number & 1 else second)


def _normal(key: Any, low: Any, high: Any, block: Any, second: Any) -> Any:
    """One of the two normal numbers of a block."""
    one, other = _block(key, low, high, block)
    radius = math.sqrt(-2.0 * math.log(max(_unit(one), MIN_UNIFORM)))
    angle = _TWO_PI * _unit(other)
    return (math.cos(angle) if second else math.sin(angle)) * radius


def poisson_rows(
    result: Any,
    rate: Any,
    streams: Any,
    most: Any,
    key: Any,
    low: Any,
    high: Any,
    first: Any,
    last: Any,
) -> None:
    """Poisson numbers of the means `rate` (float64) into `result`; 0 for a bad mean."""
    for i in range(first, last):
        mean, start, drawn, found = rate[i], streams[i] * RESERVED, 0, 0.0
        if mean >= 0.0 and mean < _SMALL_MEAN:
            product, floor = 1.0, math.exp(-mean)
            while True:
                product *= _uniform(key, low, high, start, drawn)
                if product <= floor:
                    break
                drawn += 1
                found += 1.0
        elif mean >= _SMALL_MEAN and mean < math.inf:
            b = 0.931 + 2.53 * math.sqrt(mean)
            a = -0.059 + 0.02483 * b
            inverse = 1.1239 + 1.1328 / (b - 3.4)
            likely = 0.9277 - 3.6224 / (b - 2)
            log_mean = math.log(mean)
            while True:
                u = _uniform(key, low, high, start, drawn) - 0.5
                v = _uniform(key, low, high, start, drawn + 1)
                drawn += 2
                us = 0.5 - abs(u)
                found = float(math.floor((2.0 * a / us + b) * u + mean + 0.43))
                if found > most:
                    continue
                if us >= 0.07 and v <= likely:
                    break
                if found < 0.0 or (us < 0.013 and v > us):
                    continue
                s = math.log(v * inverse / (a / (us * us) + b))
                if s <= -mean + found * log_mean - math.lgamma(found + 1.0):
                    break
        result[i] = found


def gamma_rows(
    result: Any, shape: Any, streams: Any, key: Any, low: Any, high: Any, first: Any, last: Any
) -> None:
    """Gamma numbers of the shapes (float64) into `result`; NaN for a bad shape."""
    for i in range(first, last):
        alpha, block = shape[i], streams[i] * RESERVED
        found = math.nan
        # The blocks that uniform and normal numbers are taken from, and how many of each are left.
        ublock, uleft, nblock, nleft = block, 0, block, 0
        if alpha == 1.0:
            found = -math.log1p(-_uniform(key, low, high, block, 0))
        elif alpha > 0.0:
            d = (alpha + 1.0 if alpha < 1.0 else alpha) - 1 / 3
            c = 1 / 3 / math.sqrt(d)
            while True:
                if nleft == 0:
                    nblock, nleft, block = block, 2, block + 1
                nleft -= 1
                x = _normal(key, low, high, nblock, nleft)
                v = 1.0 + c * x
                if v <= 0.0:
                    continue
                v = v * v * v
                if uleft == 0:
                    ublock, uleft, block = block, 2, block + 1
                uleft -= 1
                u = _uniform(key, low, high, ublock, 1 - uleft)
                square = x * x
                if u < 1.0 - 0.0331 * square * square:
                    break
                if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
                    break
            found = d * v
            if alpha < 1.0:
                if uleft == 0:
                    ublock, uleft, block = block, 2, block + 1
                uleft -= 1
                found *= math.exp(math.log(_uniform(key, low, high, ublock, 1 - uleft)) / alpha)
        result[i] = found
