"""The likeliest labels of sequences by beam search, in double precision (`ops/nn/ctc_beam_search.py`).

A beam is a number in a tree of prefixes, whose nodes have a parent and a last label, and the log-probabilities
of the alignments of its prefix that end in the label and of those that end in a blank.
"""

from __future__ import annotations

import math
from typing import Any

NEVER = -math.inf


def _either(a: Any, b: Any) -> Any:
    """log(exp(a) + exp(b))."""
    high, low = max(a, b), min(a, b)
    if low == NEVER:
        return high
    return high + math.log1p(math.exp(low - high))


def _longer(parents: Any, ends: Any, count: Any, parent: Any, label: Any) -> Any:
    """The node of a prefix with one label more; a new one, number `count`, where there is none."""
    for i in range(parent + 1, count):
        if parents[i] == parent and ends[i] == label:
            return i
    parents[count] = parent
    ends[count] = label
    return count


def _extended(
    longer: Any, standing: Any, numbers: Any, label: Any, blank: Any, sources: Any, ends: Any,
    parents: Any, x: Any, classes: Any, width: Any,
) -> None:  # fmt: skip
    """The scores of beams one step later, `standing`, and those of beams with one label more."""
    labels = classes - 1
    for j in range(width):
        sources[j] = -1
        last = ends[max(numbers[j], 0)] if numbers[j] >= 0 else -1
        total = _either(label[j], blank[j])
        for c in range(labels):
            before = blank[j] if c == last else total
            longer[j * labels + c] = before + x[c]
        parent = parents[max(numbers[j], 0)] if numbers[j] >= 0 else -1
        for k in range(width):
            if parent >= 0 and sources[j] < 0 and numbers[k] == parent:
                sources[j] = k
    for j in range(width):
        if sources[j] >= 0:
            longer[sources[j] * labels + ends[numbers[j]]] = NEVER
    # Labels are those after this step, of which each depends on its source before it.
    for j in range(width):
        standing[j] = label[j]
        if sources[j] >= 0:
            k, last = sources[j], ends[numbers[j]]
            same = ends[numbers[k]] == last
            grown = blank[k] if same else _either(label[k], blank[k])
            standing[j] = _either(label[j], grown)
    for j in range(width):
        last = max(ends[max(numbers[j], 0)], 0) if numbers[j] >= 0 else 0
        blank[j] = _either(label[j], blank[j]) + x[labels]
        label[j] = standing[j] + x[last]
        standing[j] = _either(label[j], blank[j])


def _forget(
    longer: Any, standing: Any, numbers: Any, sources: Any, forgotten: Any, ends: Any, labels: Any, width: Any
) -> None:  # fmt: skip
    """Beams that had fallen out by the time when their own prefix is met get no longer prefixes."""
    least = math.inf
    for j in range(width):
        forgotten[j] = 0
        least = min(least, standing[j] if numbers[j] >= 0 else NEVER)
    for j in range(width):
        k = sources[j]
        if k < 0 or k >= j or forgotten[max(k, 0)] != 0:
            continue
        own, ahead = standing[j], 0
        for i in range(width):
            if numbers[i] >= 0 and standing[i] > own:
                ahead += 1
        for i in range(k * labels + ends[numbers[j]]):
            if longer[i] > least and longer[i] > own and forgotten[i // labels] == 0:
                ahead += 1
        if ahead >= width:
            forgotten[j] = 1
    for j in range(width):
        if forgotten[j] != 0:
            for c in range(labels):
                longer[j * labels + c] = NEVER


def _best(taken: Any, standing: Any, numbers: Any, longer: Any, labels: Any, width: Any) -> Any:
    """The best beam that is not taken: those that exist come before those with one label more."""
    best, at = NEVER, -1
    for j in range(width):
        if taken[j] == 0 and numbers[j] >= 0 and (at < 0 or standing[j] > best):
            best, at = standing[j], j
    for i in range(width * labels):
        if taken[width + i] == 0 and longer[i] > best:
            best, at = longer[i], width + i
    return at


def decode(
    labels: Any, lengths: Any, scores: Any, failed: Any, numbers: Any, label: Any, blank: Any,
    next_numbers: Any, next_label: Any, next_blank: Any, standing: Any, longer: Any, sources: Any,
    forgotten: Any, taken: Any, parents: Any, ends: Any, x: Any, steps: Any,
    time: Any, batch: Any, classes: Any, width: Any, paths: Any, merge: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """The labels [batch, paths, time] of the best paths with zeros behind them, their lengths and scores.

    `x` has log-probabilities [time, batch, classes]. It fails where there are fewer paths.
    """
    failed[0] = 0
    others = classes - 1
    for b in range(batch):
        count = 1
        parents[0] = -1
        ends[0] = -1
        for j in range(width):
            numbers[j] = -1
            label[j] = NEVER
            blank[j] = NEVER
        numbers[0] = 0
        blank[0] = 0.0
        for t in range(min(time, steps[b])):
            row = x[(t * batch + b) * classes :]
            _extended(
                longer, standing, numbers, label, blank, sources, ends, parents, row, classes, width
            )
            _forget(longer, standing, numbers, sources, forgotten, ends, others, width)
            for i in range(width + width * others):
                taken[i] = 0
            for j in range(width):
                at = _best(taken, standing, numbers, longer, others, width)
                next_numbers[j] = -1
                next_label[j] = NEVER
                next_blank[j] = NEVER
                if at < 0:
                    continue
                taken[at] = 1
                if at < width:
                    next_numbers[j] = numbers[at]
                    next_label[j] = label[at]
                    next_blank[j] = blank[at]
                else:
                    parent = numbers[(at - width) // others]
                    node = _longer(parents, ends, count, parent, (at - width) % others)
                    count = max(count, node + 1)
                    next_numbers[j] = node
                    next_label[j] = longer[at - width]
            for j in range(width):
                numbers[j] = next_numbers[j]
                label[j] = next_label[j]
                blank[j] = next_blank[j]
        for p in range(paths):
            place = b * paths + p
            scores[place] = _either(label[p], blank[p])
            if numbers[p] < 0:
                failed[0] = 1
            lengths[place] = _read(labels[place * time :], numbers[p], parents, ends, time, merge)


def _read(found: Any, number: Any, parents: Any, ends: Any, time: Any, merge: Any) -> Any:
    """The labels of a prefix, without repetitions if these are merged; how many there are."""
    length, at = 0, number
    while at > 0:
        length += 1
        at = parents[at]
    at = number
    for i in range(length):
        found[length - 1 - i] = ends[at]
        at = parents[at]
    kept = 0
    for i in range(length):
        if merge == 0 or kept == 0 or found[i] != found[kept - 1]:
            found[kept] = found[i]
            kept += 1
    for i in range(kept, time):
        found[i] = 0
    return kept
