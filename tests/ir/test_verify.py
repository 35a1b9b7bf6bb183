"""The verifier refuses every kind of broken graph."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from intaglio import tf  # noqa: F401  declares the ops
from intaglio.base import dtypes
from intaglio.ir import text, verify
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import raw
from intaglio.opdef.spec import Spec


def sound() -> Graph:
    return text.parse(
        "graph g(x: float32[2]) {\n  a: float32[2] = Neg(x)\n  b: float32[2] = AddV2(a, x)\n  return b\n}"
    )


def changed(change: Callable[[list[Node]], list[Node]]) -> Graph:
    graph = sound()
    return Graph(graph.name, graph.inputs, change(list(graph.nodes)), graph.outputs)


def test_a_sound_graph_passes() -> None:
    verify.verify(sound())


def with_last(node_of: Callable[[list[Node]], Node]) -> Graph:
    graph = sound()
    nodes = [*graph.nodes[:-1], node_of(list(graph.nodes))]
    return Graph("g", graph.inputs, nodes, nodes[-1].outputs)


F2 = Spec(dtypes.float32, (2,))


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        (changed(lambda n: [n[0], n[2], n[1]]), "input a:0 is not defined before"),
        (changed(lambda n: [*n, n[1]]), "the name is taken"),
        (changed(lambda n: n[1:]), "is not defined before"),
        (changed(lambda n: n[:-1]), "output b:0 is not defined"),
        (with_last(lambda n: Node(raw.AddV2, n[1].outputs, {}, "c", [F2])), "do not fit"),
        (
            with_last(lambda n: Node(raw.Neg, n[1].outputs, {}, "c", [Spec(dtypes.int32, (2,))])),
            "inference says",
        ),
        (
            with_last(lambda n: Node(raw.Neg, n[1].outputs, {}, "c", [Spec(dtypes.float32, (3,))])),
            "inference says",
        ),
        (with_last(lambda n: Node(raw.LogicalNot, n[1].outputs, {}, "c", [F2])), "is float32, not"),
        (
            with_last(lambda n: Node(raw.Neg, n[1].outputs, {}, "c", [F2], control=(n[2],))),
            "control input b",
        ),
        (with_last(lambda n: Node(raw.Cast, n[1].outputs, {}, "c", [F2])), "attributes"),
    ],
)
def test_a_broken_graph_is_refused(graph: Graph, says: str) -> None:
    with pytest.raises(verify.InvalidGraphError) as caught:
        verify.verify(graph)
    assert says in str(caught.value)
