"""Non-maximum suppression box by box, for machine code (`ops/restricted.py`).

The boxes with a good score are a heap: only as many are taken from it as are needed.
"""

from __future__ import annotations

from typing import Any

from intaglio.ops.restricted import single


def _is_before(scores: Any, step: Any, a: Any, b: Any) -> Any:
    """Whether a box comes before another: the better score, or the smaller number."""
    x, y = scores[a * step], scores[b * step]
    return x > y or (x == y and a < b)


def _sink(heap: Any, scores: Any, step: Any, at: Any, size: Any) -> None:
    """Sifts an element of the heap down."""
    own = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _is_before(scores, step, heap[child + 1], heap[child]):
            child += 1
        if not _is_before(scores, step, heap[child], own):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = own


def _share(boxes: Any, step: Any, a: Any, b: Any) -> Any:
    """Intersection over union of two boxes; 0 if one has no area."""
    one, other = boxes[a * step :], boxes[b * step :]
    top, bottom = min(one[0], one[2]), max(one[0], one[2])
    left, right = min(one[1], one[3]), max(one[1], one[3])
    above, below = min(other[0], other[2]), max(other[0], other[2])
    before, behind = min(other[1], other[3]), max(other[1], other[3])
    area = (bottom - top) * (right - left)
    another = (below - above) * (behind - before)
    height = max(min(bottom, below) - max(top, above), 0.0)
    width = max(min(right, behind) - max(left, before), 0.0)
    shared = height * width
    return shared / (area + another - shared) if area > 0.0 and another > 0.0 else single(0)


def suppress_rows(
    chosen: Any,
    counts: Any,
    heaps: Any,
    boxes: Any,
    scores: Any,
    size: Any,
    classes: Any,
    kinds: Any,
    limit: Any,
    threshold: Any,
    least: Any,
    first: Any,
    last: Any,
) -> None:
    """The boxes [batch, size, kinds, 4] that are kept for each image and class into `chosen`
    [batch, classes, limit], and their numbers; scores are [batch, size, classes]."""
    for row in range(first, last):
        image, kind = row // classes, row % classes
        own = scores[image * size * classes + kind :]
        corners = boxes[4 * (image * size * kinds + (kind if kinds > 1 else 0)) :]
        heap, kept = heaps[row * size :], chosen[row * limit :]
        waiting = 0
        for i in range(size):
            if own[i * classes] > least:
                heap[waiting] = i
                waiting += 1
        for i in range(waiting // 2 - 1, -1, -1):
            _sink(heap, own, classes, i, waiting)
        found = 0
        while waiting > 0 and found < limit:
            best = heap[0]
            waiting -= 1
            heap[0] = heap[waiting]
            _sink(heap, own, classes, 0, waiting)
            apart = True
            for i in range(found):
                if not _share(corners, 4 * kinds, best, kept[i]) <= threshold:
                    apart = False
                    break
            if apart:
                kept[found] = best
                found += 1
        counts[row] = found
