"""The graph rewriter: what it hands on, and that what did not change is shared."""

from __future__ import annotations

from intaglio import tf  # noqa: F401  declares the ops
from intaglio.ir import text, verify
from intaglio.ir.graph import Graph, Node
from intaglio.ir.rewrite import Rewriter, derived, map_attached
from intaglio.opdef import door, raw

TEXT = """graph f(x: float32[2]) {
  a: float32[2] = Neg(x)
  b: float32[2] = Neg(a)
  c: float32[2] = Exp(b) after a
  return c
}
"""


def named(graph: Graph) -> dict[str, Node]:
    return {n.name: n for n in graph.nodes}


def test_a_graph_of_which_all_is_kept_is_the_same_object() -> None:
    graph = text.parse(TEXT)
    new = Rewriter(graph)
    for node in graph.nodes:
        new.keep(node)
    assert new.result() is graph


def test_another_order_of_the_same_nodes_is_another_graph() -> None:
    graph = text.parse("graph f(x: float32[]) {\n  a: float32[] = Neg(x)\n  b: float32[] = Exp(x)\n"
                       "  return a\n}\n")  # fmt: skip
    new = Rewriter(graph)
    for node in (graph.nodes[0], graph.nodes[2], graph.nodes[1]):
        new.keep(node)
    assert [n.name for n in new.result().nodes] == ["x", "b", "a"]


def test_replacing_maps_later_inputs_and_control_inputs() -> None:
    graph = text.parse(TEXT)
    old = named(graph)
    new = Rewriter(graph)
    for node in graph.nodes:
        if node.name == "b":
            new.replace(node, [new.value(node.inputs[0].node.inputs[0])])
        elif node.name == "a":
            new.keep(node, derived(node, node.inputs, op=raw.Abs))
        else:
            new.keep(node)
    made = named(new.result())
    assert made["a"].op.name == "Abs"
    assert made["a"].source is old["a"]
    assert made["c"].inputs[0] is graph.inputs[0]
    assert made["c"].control == (made["a"],)
    assert made["c"].source is old["c"]
    verify.verify(new.result())


def test_what_waits_for_dropped_nodes_does_not_wait() -> None:
    graph = text.parse(TEXT)
    new = Rewriter(graph)
    for node in graph.nodes:
        if node.name == "a":
            new.substitute(node.outputs[0], graph.inputs[0])
            new.drop(node)
        else:
            new.keep(node)
    assert text.format_graph(new.result()).count("after") == 0


def test_what_waits_for_absorbed_nodes_waits_for_what_absorbs_them() -> None:
    graph = text.parse(TEXT)
    old = named(graph)
    new = Rewriter(graph)
    for node in graph.nodes:
        if node.name == "b":
            both = new.add(derived(node, graph.inputs, op=raw.Abs))
            new.absorb([old["a"], node], both)
            new.substitute(node.outputs[0], both.outputs[0])
        elif node.name != "a":
            new.keep(node)
    made = named(new.result())
    assert made["c"].control == (made["b"],)


def test_new_nodes_have_names_of_their_own_and_the_provenance_of_the_old_one() -> None:
    graph = text.parse(TEXT)
    old = named(graph)["b"]
    new = Rewriter(graph)
    for node in graph.nodes:
        if node is old:
            first = new.like(node, node.inputs, op=raw.Abs)
            second = new.like(node, first.outputs, op=raw.Exp)
            new.root = node
            with door.pushed(new):
                third = raw.Sin(second.outputs[0])
            new.replace(node, [third])
            assert {first.name, second.name, third.node.name} == {"b", "b_1", "b_2"}
            assert all(n.source is old for n in (first, second, third.node))
        else:
            new.keep(node)
    verify.verify(new.result())


def test_attached_graphs_that_do_not_change_leave_the_graph_alone() -> None:
    body = TEXT.replace("graph f", "graph g")
    outer = 'graph f(x: float32[2]) {\n  y: float32[2] = PartitionedCall(x; Tin=(float32,), Tout=(float32,), f=graph("g"))\n  return y\n}\n'
    graph = text.parse(body + outer)
    assert map_attached(graph, lambda node, name, nested: nested) is graph
    seen: list[str] = []

    def change(node: Node, name: str, nested: Graph) -> Graph:
        seen.append(name)
        return Graph(nested.name, nested.inputs, nested.nodes[:-1], [nested.nodes[-2].outputs[0]])

    changed = map_attached(graph, change)
    assert seen == ["f"]
    verify.verify(changed)
    assert len(changed.nodes[-1].attrs["f"].nodes) == 3
