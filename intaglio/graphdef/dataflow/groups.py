"""Which Merges are results of one conditional, and in which order conditionals come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from intaglio.graphdef.dataflow.edges import Edge, Nodes, edges, in_order
from intaglio.graphdef.dataflow.functions import needed

# Outcomes by predicate: what must be so for a node to run.
Outcomes = dict[Edge, bool]


class Choice(NamedTuple):
    """What a Merge chooses between: its predicate, the edges by outcome, the outcomes of both."""

    merge: str
    predicate: Edge
    values: dict[bool, Edge]
    context: Outcomes


def branch(
    nodes: Nodes, outcomes: dict[str, Outcomes], choices: Sequence[Choice], outcome: bool | None
) -> tuple[set[str], set[Edge], set[str]]:
    """As `needed`, for the values of Merges under an outcome; None for both."""
    predicate = choices[0].predicate
    values = [v for c in choices for o, v in c.values.items() if outcome in (o, None)]

    def is_inside(name: str) -> bool:
        return predicate in outcomes.get(name, {})

    def is_argument(taken: Edge) -> bool:
        return not is_inside(taken.node)

    return needed(nodes, values, is_argument, is_inside)


def groups(
    nodes: Nodes, outcomes: dict[str, Outcomes], choices: Mapping[str, Choice]
) -> list[list[list[Choice]]]:
    """The Merges by conditional: those of one predicate whose branches have nodes in common.

    Where some take what others give, as gradients do, these are conditionals of their own, in this
    order: each item is a list of one conditional, or of several.
    """
    found: list[tuple[list[Choice], set[str]]] = []
    for choice in choices.values():
        members, inside = [choice], branch(nodes, outcomes, [choice], None)[0]
        for other in [*found]:
            if other[0][0].predicate == choice.predicate and other[1] & inside:
                found.remove(other)
                members, inside = [*other[0], *members], other[1] | inside
        found.append((members, inside))
    whole = [members for members, _ in found]
    divided = _in_circles(nodes, whole)
    depths = _depths(nodes, {c.merge for i in divided for c in whole[i]}) if divided else {}
    result: list[list[list[Choice]]] = []
    for i, members in enumerate(whole):
        parts: dict[int, list[Choice]] = {}
        for choice in members:
            parts.setdefault(depths[choice.merge] if i in divided else 0, []).append(choice)
        result.append([parts[depth] for depth in sorted(parts)])
    return result


def _in_circles(nodes: Nodes, whole: Sequence[Sequence[Choice]]) -> set[int]:
    """The groups that take their own results, by other groups or at once. Sets of groups are bits."""
    group_of = {c.merge: i for i, members in enumerate(whole) for c in members}
    reached: dict[str, int] = {}
    before = [0] * len(whole)
    for name in in_order(nodes):
        bits = 0
        for taken in edges(nodes[name]):
            bits |= reached.get(taken.node, 0)
        group = group_of.get(name)
        if group is not None:
            before[group] |= bits
            bits |= 1 << group
        reached[name] = bits
    for i, bits in enumerate(before):  # the transitive closure, as Warshall has it
        for j in range(len(before)):
            if before[j] >> i & 1:
                before[j] |= bits
    return {i for i, bits in enumerate(before) if bits >> i & 1}


def _depths(nodes: Nodes, merges: set[str]) -> dict[str, int]:
    """The largest number of these Merges that come one after another before each."""
    after: dict[str, int] = {}
    found: dict[str, int] = {}
    for name in in_order(nodes):
        depth = max([after.get(e.node, 0) for e in edges(nodes[name])], default=0)
        if name in merges:
            found[name] = depth
            depth += 1
        after[name] = depth
    return found
