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


def suppress_by_overlaps(
    chosen: Any, count: Any, overlaps: Any, scores: Any, most: Any, threshold: Any, least: Any,
    size: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """The same by the overlaps [size, size] of boxes: those of a box with the ones that are kept."""
    limit, found, best = min(most[0], size), 0, 0
    for i in range(size):
        chosen[i] = 0
    before = -1  # the box before the next one in the order of scores, of which the first of equal ones comes first
    while found < limit and best >= 0:
        best = -1
        for i in range(size):
            behind = before < 0
            if before >= 0:
                equal = scores[i] == scores[before]
                behind = scores[i] < scores[before] or (equal and i > before)
            if scores[i] > least[0] and behind and (best < 0 or scores[i] > scores[max(best, 0)]):
                best = i
        if best >= 0:
            apart = True
            for i in range(found):
                if not overlaps[best * size + chosen[i]] <= threshold[0]:
                    apart = False
            if apart:
                chosen[found] = best
                found += 1
            before = best
    count[0] = found
