"""Where the boxes of a picture go: layers from top to bottom, with few crossings.

The engine is Sugiyama's algorithm in `fast-sugiyama` (the extra `graphs`), after K. Sugiyama,
S. Tagawa and M. Toda, "Methods for visual understanding of hierarchical system structures", 1981.
Without it boxes stand in their layers in the order of the program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from intaglio.base import later

Edge = tuple[int, int]
# An edge over more layers than this does not move its ends: it would fill all layers between.
MAX_LAYERS_OF_AN_EDGE = 24
# Boxes without edges stand in rows of so many.
ROW = 8


class Layout(NamedTuple):
    """A position for each box, in boxes from the left and from the top, and who found them."""

    positions: list[tuple[float, float]]
    engine: str


def layout(count: int, edges: Sequence[Edge]) -> Layout:
    """Positions for boxes 0 to count - 1 with edges between them, no two of them the same."""
    ranks = _ranks(count, edges)
    short = [(a, b) for a, b in edges if a != b and ranks[b] - ranks[a] <= MAX_LAYERS_OF_AN_EDGE]
    try:
        from_edges = later.named("fast_sugiyama:from_edges")
    except ImportError:
        return Layout(_in_layers(ranks), "program order")
    positions: dict[int, tuple[float, float]] = {}
    left = 0.0
    # Each connected part has a layout of its own; they stand side by side.
    for part, *_ in from_edges(short, vertex_spacing=1) if short else ():
        xs, ys = zip(*[xy for _, xy in part], strict=True)
        least, most = min(xs), max(xs)
        top = max(ys)
        for box, (x, y) in part:
            positions[box] = (left + x - least, top - y)
        left += most - least + 1
    bottom = max([y for _, y in positions.values()], default=-1) + 1
    alone = [i for i in range(count) if i not in positions]
    for place, box in enumerate(alone):
        positions[box] = (place % ROW, bottom + place // ROW)
    return Layout([positions[i] for i in range(count)], "fast-sugiyama")


def _ranks(count: int, edges: Sequence[Edge]) -> list[int]:
    """The length of the longest path to each box, by edges that go forward in the program."""
    ranks = [0] * count
    into: dict[int, list[int]] = defaultdict(list)
    for a, b in edges:
        into[max(a, b)].append(min(a, b))
    for box in range(count):
        ranks[box] = max([ranks[a] + 1 for a in into[box]], default=0)
    return ranks


def _in_layers(ranks: Sequence[int]) -> list[tuple[float, float]]:
    widths: dict[int, int] = defaultdict(int)
    found: list[tuple[float, float]] = []
    for rank in ranks:
        found.append((widths[rank], rank))
        widths[rank] += 1
    return found
