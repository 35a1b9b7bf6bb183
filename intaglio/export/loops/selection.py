"""Elements that data selects: first in arrays that are long enough, with their number; then zeros."""

from __future__ import annotations

from typing import Any

from intaglio.ops.image.suppression_loops import suppress_rows


def where(
    found: Any, count: Any, mask: Any, dims: Any, size: Any, rank: Any, first: Any, last: Any
) -> None:
    """The indices [size, rank] of what is true, in the order of C."""
    number = 0
    for i in range(size):
        if mask[i]:
            rest = i
            for step in range(rank):
                axis = rank - 1 - step
                found[number * rank + axis] = rest % dims[axis]
                rest = rest // dims[axis]
            number += 1
    for i in range(number * rank, size * rank):
        found[i] = 0
    count[0] = number


def unique(
    values: Any, positions: Any, counts: Any, count: Any, xs: Any, limit: Any,
    size: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """Distinct elements of the first `limit` in the order in which they appear, which of them each is, and how
    often."""
    number = 0
    for i in range(limit[0]):
        at = 0
        while at < number and xs[i] != values[at]:
            at += 1
        if at == number:
            values[at] = xs[i]
            counts[at] = 0
            number += 1
        counts[at] += 1
        positions[i] = at
    for i in range(number, size):
        values[i] = 0
        counts[i] = 0
    for i in range(limit[0], size):
        positions[i] = 0
    count[0] = number


def suppress(
    chosen: Any, count: Any, heap: Any, boxes: Any, scores: Any, most: Any, threshold: Any, least: Any,
    size: Any, wanted: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """The boxes that are kept, best score first, at most `most` of them, in an array for `wanted`."""
    for i in range(wanted):
        chosen[i] = 0
    limit = min(most[0], min(size, wanted))
    share, worst = float(threshold[0]), float(least[0])
    suppress_rows(chosen, count, heap, boxes, scores, size, 1, 1, limit, share, worst, 0, 1)
