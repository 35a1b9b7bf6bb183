"""Conditionals: the nodes between Switch and Merge become the branches of an `If`.

A node runs where the outcomes of some predicates are as it needs them: those of what it takes, and of
the Switches that pass it on. A Merge takes two values whose outcomes differ in one predicate; what runs
under either outcome alone is one branch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.graphdef import messages, tensors
from intaglio.graphdef.dataflow.edges import (
    CONTROL,
    MERGE,
    SWITCH,
    Edge,
    Nodes,
    copied,
    edges,
    in_order,
    is_stateful,
    operand,
    output_type,
    redirect,
    sibling,
)
from intaglio.graphdef.dataflow.functions import Argument, Library, Part, argument_names, part
from intaglio.graphdef.dataflow.groups import Choice, Outcomes, branch, groups
from intaglio.graphdef.tensors import MalformedError
from intaglio.opdef import raw

BOOL, STRING = dtypes.bool_.as_datatype_enum, dtypes.string.as_datatype_enum
HANDLES = (dtypes.resource.as_datatype_enum, dtypes.variant.as_datatype_enum)


def with_branches(found: Part, arguments: Sequence[Argument], library: Library) -> Part:
    """The part, where conditionals are nodes `If`; nodes that run in no case, or for nobody, are left out.

    `arguments` are what edges name that are no nodes. Raises MalformedError for a Merge of other
    values than those of two branches.
    """
    nodes = dict(found.nodes)
    if not any(n.op in SWITCH or n.op in MERGE for n in nodes.values()):
        return found
    types = {a.name: a.type for a in arguments}
    while True:
        outcomes, choices = _outcomes(nodes)
        innermost = max([len(c.context) for c in choices.values()], default=-1)
        if innermost < 0:
            break
        deepest = {n: c for n, c in choices.items() if len(c.context) == innermost}
        for parts in groups(nodes, outcomes, deepest):
            for i, choices_of_part in enumerate(parts):
                _Conditional(nodes, outcomes, choices_of_part, types, library).replace(
                    parts[i + 1 :]
                )
    kept = {n: node for n, node in nodes.items() if not outcomes[n] and node.op not in SWITCH}
    return Part(kept, found.outputs)


def _predicate(nodes: Nodes, switch: Any) -> Edge:
    """What decides a Switch, without copies."""
    found = operand(switch, 1)
    while (node := nodes.get(found.node)) is not None and node.op == raw.Identity.name:
        found = operand(node, 0)
    return found


def _outcomes(nodes: Nodes) -> tuple[dict[str, Outcomes], dict[str, Choice]]:
    """What each node needs in order to run, and what the Merges choose between."""
    outcomes: dict[str, Outcomes] = {}
    choices: dict[str, Choice] = {}

    def of(taken: Edge) -> Outcomes:
        node = nodes.get(taken.node)
        if node is None:
            return {}
        if node.op in SWITCH and taken.output != CONTROL:
            return {**outcomes[taken.node], _predicate(nodes, node): taken.output == 1}
        return outcomes[taken.node]

    for name in in_order(nodes):
        node = nodes[name]
        if node.op in MERGE:
            choice = choices[name] = _choice(node, of)
            outcomes[name] = choice.context
        else:
            outcomes[name] = {}
        for taken in edges(node):
            if node.op not in MERGE or taken.output == CONTROL:
                outcomes[name] = {**outcomes[name], **of(taken)}
    return outcomes, choices


def _choice(merge: Any, outcomes_of: Any) -> Choice:
    data = [e for e in edges(merge) if e.output != CONTROL]
    if len(data) != 2:
        raise MalformedError(f"'{merge.name}' merges {len(data)} values; two are supported")
    first, second = map(outcomes_of, data)
    opposed = [p for p, v in first.items() if second.get(p, v) is not v]
    # What a rewrite made a constant needs nothing: it is the other branch's counterpart.
    one_sided = [p for p in (*first, *second) if (p in first) is not (p in second)]
    found = opposed or (one_sided if len(one_sided) == 1 else [])
    if len(found) != 1:
        raise MalformedError(
            f"'{merge.name}' merges values that are not those of the two branches of one conditional"
        )
    predicate = found[0]
    taken = first[predicate] if predicate in first else not second[predicate]
    context = {p: v for p, v in first.items() if second.get(p) is v}
    return Choice(merge.name, predicate, {taken: data[0], not taken: data[1]}, context)


class _Conditional:
    """The Merges of one conditional, and its branches."""

    def __init__(
        self,
        nodes: Nodes,
        outcomes: dict[str, Outcomes],
        choices: list[Choice],
        types: Mapping[str, int],
        library: Library,
    ) -> None:
        self.nodes = nodes
        self.outcomes = outcomes
        self.choices = choices
        self.types = types
        self.library = library

    def replace(self, later: Sequence[Sequence[Choice]] = ()) -> None:
        """Puts an `If` in the place of the conditional, and copies of its results in that of the Merges.

        What `later` conditionals of the predicate take from its branches, and cannot compute again, are
        results too.
        """
        moved, waited_for = self._moved(later)
        branches = {o: branch(self.nodes, self.outcomes, self.choices, o) for o in (True, False)}
        outside = {e for _, arguments, _ in branches.values() for e in arguments}
        # Edges that carry the same value are one argument.
        sources = {e: self._source(e) for e in sorted(outside)}
        operands = list(dict.fromkeys(sources.values()))
        first = self.choices[0]
        node = messages.NodeDef(op=raw.If.name)
        node.name = sibling(first.merge, node.op, self.nodes)
        node.input.append(first.predicate.text)
        node.input.extend([e.text for e in operands])
        waited = {n for _, _, others in branches.values() for n in others}
        node.input.extend([f"^{n}" for n in sorted(waited) if not self._is_switch(n)])
        kinds = [self._type(e) for e in operands]
        results = [output_type(self.nodes[c.merge], 0) for c in self.choices]
        node.attr["Tcond"].type = BOOL
        node.attr["Tin"].list.type.extend(kinds)
        node.attr["Tout"].list.type.extend(results)
        names = argument_names(len(operands), self.nodes)
        arguments = [
            Argument(a, t, self.nodes.get(e.node))
            for a, t, e in zip(names, kinds, operands, strict=True)
        ]
        position = {e: names[operands.index(sources[e])] for e in outside}
        for key, outcome in (("then_branch", True), ("else_branch", False)):
            values = [c.values[outcome] for c in self.choices]
            found = part(self.nodes, branches[outcome][0], values, position)
            function = self.library.add(f"{node.name}_{key}", found, arguments, results)
            node.attr[key].func.name = function
        self.nodes[node.name] = node
        for i, choice in enumerate(self.choices):
            self.nodes[choice.merge] = copied(self.nodes[choice.merge], Edge(node.name, i))
        moved |= {Edge(n, CONTROL): Edge(node.name, CONTROL) for n in waited_for}
        redirect(self.nodes, moved)

    def _moved(self, later: Sequence[Sequence[Choice]]) -> tuple[dict[Edge, Edge], set[str]]:
        """What later conditionals need and must not run again, as results of this one.

        Returns where they find them, by the edges in the branches, and the names of the nodes.
        """
        inside = branch(self.nodes, self.outcomes, self.choices, None)[0]
        users: set[str] = set()
        for choices in later:
            users |= branch(self.nodes, self.outcomes, choices, None)[0]
        shared = {name for name in inside & users if is_stateful(self.nodes[name])}
        taken = {e for n in users for e in edges(self.nodes[n]) if e.node in shared}
        values = [e for e in sorted(taken) if e.output != CONTROL and self._type(e) not in HANDLES]
        return {e: self._kept(e) for e in values}, shared

    def _kept(self, value: Edge) -> Edge:
        """A value of one branch as a result of the conditional, in nodes that run as the value's did."""
        first, kind = self.choices[0], self._type(value)
        taken = self.outcomes[value.node][first.predicate]

        def add(op: str, inputs: Sequence[Edge], outcomes: Outcomes) -> Any:
            node = messages.NodeDef(op=op, name=sibling(value.node, f"kept/{op}", self.nodes))
            node.input.extend([e.text for e in inputs])
            node.attr["dtype" if op == raw.Const.name else "T"].type = kind
            self.nodes[node.name], self.outcomes[node.name] = node, outcomes
            return node

        nothing = add(raw.Const.name, (), {**first.context, first.predicate: not taken})
        zero = b"" if kind == STRING else 0
        dtype = tensors.dtype_of(kind).numpy
        nothing.attr["value"].tensor.CopyFrom(tensors.tensor_proto(np.array(zero, dtype)))
        merge = add(MERGE[0], (value, Edge(nothing.name)), first.context)
        values = {taken: value, not taken: Edge(nothing.name)}
        self.choices.append(Choice(merge.name, first.predicate, values, first.context))
        switch = add(SWITCH[0], (Edge(merge.name), first.predicate), first.context)
        passed = add(raw.Identity.name, [Edge(switch.name, int(taken))], self.outcomes[value.node])
        return Edge(passed.name)

    def _source(self, taken: Edge) -> Edge:
        """What comes from outside: the input of a Switch of this conditional, or the edge itself."""
        node = self.nodes.get(taken.node)
        if node is None or node.op not in SWITCH:
            return taken
        decided = _predicate(self.nodes, node) == self.choices[0].predicate
        return operand(node, 0) if decided else taken

    def _is_switch(self, name: str) -> bool:
        return name in self.nodes and self.nodes[name].op in SWITCH

    def _type(self, taken: Edge) -> int:
        if taken.node in self.types:
            return self.types[taken.node]
        if taken.node not in self.nodes:
            raise MalformedError(f"a branch takes '{taken.text[:80]}', which does not exist")
        return output_type(self.nodes[taken.node], taken.output)
