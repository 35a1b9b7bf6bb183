"""Every pass before machine code on graphs written as text, against the text it has to give.

`INTAGLIO_GOLDEN=write pytest tests/native/passes/test_golden.py` writes the results anew; read the
difference before committing it.
"""

from __future__ import annotations

import os
import pathlib

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.dtypes import float32, resource
from intaglio.ir import passes, text, verify
from intaglio.ir.graph import Graph
from intaglio.ir.rewrite import Fuel
from intaglio.native import pipeline
from intaglio.native.passes import narrow_products, partitioning, row_blocks
from intaglio.opdef.spec import Spec

FOLDER = pathlib.Path(__file__).parents[2] / "golden" / "native"
STEPS = {step.name.replace(" ", "-"): step for step in pipeline.LOWERING_PASSES}
CASES = sorted(p.name.removesuffix(".before.txt") for p in FOLDER.glob("*.before.txt"))


@pytest.fixture(autouse=True)
def two_threads_and_small_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_blocks, "thread_count", lambda: 2)
    monkeypatch.setattr(partitioning, "MAX_FUNCTION_NODES", 9)
    # As on a processor that multiplies numbers of 8 bits.
    monkeypatch.setattr(narrow_products, "form_of", lambda *dtypes: dtypes)


def read(case: str) -> Graph:
    graph = text.parse((FOLDER / f"{case}.before.txt").read_text(encoding="utf-8"))
    verify.verify(graph)
    for value in graph.inputs:
        if value.dtype is resource:
            value.spec = Spec(resource, (), Spec(float32, (64,)))
    # What the compiler finds without code: strings, inputs and constants.
    outside = {"Placeholder", "Const", "AsString", "StringToNumber"}
    graph.derived[partitioning.OUTSIDE] = {id(n) for n in graph.nodes if n.op.name in outside}
    return graph


def changed(case: str, fuel: Fuel) -> Graph:
    return pipeline.apply(STEPS[case.split(".")[0]], read(case), fuel)


@pytest.mark.parametrize("case", CASES)
def test_pass_gives_the_golden_text(case: str) -> None:
    made = changed(case, Fuel())
    verify.verify(made)
    after = FOLDER / f"{case}.after.txt"
    written = text.format_graph(made)
    if os.environ.get("INTAGLIO_GOLDEN") == "write":
        after.write_text(written, encoding="utf-8")
    assert written == after.read_text(encoding="utf-8")


def test_there_is_a_case_for_every_pass() -> None:
    assert {c.split(".")[0] for c in CASES} == set(STEPS)


@pytest.mark.parametrize("case", CASES)
def test_without_fuel_nothing_changes(case: str) -> None:
    assert text.format_graph(changed(case, Fuel(0))) == text.format_graph(read(case))


def test_every_step_is_written_to_the_folder_of_the_variable(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("INTAGLIO_DUMP", str(tmp_path))
    pipeline.run(read("elementwise.nested"), pipeline.Graphs.NATIVE)
    native = [s.name for s in pipeline.LOWERING_PASSES if pipeline.Graphs.NATIVE in s.graphs]
    names = [f"{i}-{n.replace(' ', '-')}" for i, n in enumerate(["traced", *native])]
    assert {p.name for p in tmp_path.iterdir()} == {f"nested.native-{n}.txt" for n in names}


def test_a_pass_that_breaks_the_graph_is_found_out(monkeypatch) -> None:
    def break_it(graph: Graph, fuel: Fuel) -> Graph:
        return Graph(graph.name, graph.inputs, graph.nodes[:-1], graph.outputs)

    broken = pipeline.Step("break", break_it, pipeline.Graphs.NATIVE)
    monkeypatch.setattr(pipeline, "LOWERING_PASSES", [broken])
    monkeypatch.setattr(passes, "VERIFY", True)
    with pytest.raises(verify.InvalidGraphError):
        pipeline.run(read("expansion.sums"), pipeline.Graphs.NATIVE)


def test_two_nodes_that_share_a_graph_still_do() -> None:
    outer = """graph inner(x: float32[64]) {
  a: float32[64] = Exp(x)
  b: float32[64] = Neg(a)
  return b
}

graph outer(x: float32[64]) {
  first: float32[64] = PartitionedCall(x; Tin=(float32,), Tout=(float32,), f=graph("inner"))
  second: float32[64] = PartitionedCall(first; Tin=(float32,), Tout=(float32,), f=graph("inner"))
  return second
}
"""
    graph = pipeline.ready(text.parse(outer))
    first, second = (n.attrs["f"] for n in graph.nodes[1:])
    assert first is second
    assert [n.op.name for n in first.nodes] == ["Placeholder", "_FusedElementwise"]


@pytest.mark.parametrize("amount", [0, 1, 2, 3, 5, 8, 13, 21])
def test_any_amount_of_fuel_gives_the_same_results(monkeypatch, amount) -> None:
    def step(x, v):
        h = tf.zeros([8, 64])
        for i in tf.range(6):
            h = tf.tanh(x[i] @ v) * 0.5 + h
            if tf.reduce_sum(h) > 0.0:
                v.assign_sub(v * 0.25)
        rows = tf.nn.softmax(h) + tf.add_n([h, h, h])
        v.assign_add(tf.reduce_sum(rows) * tf.ones_like(v))
        return rows, v.read_value()

    def results():
        v = tf.Variable(np.linspace(-1.0, 1.0, 64 * 64, dtype=np.float32).reshape(64, 64))
        x = tf.constant(np.linspace(-1.0, 2.0, 6 * 8 * 64, dtype=np.float32).reshape(6, 8, 64))
        compiled = tf.function(step, jit_compile=True)
        return [a.numpy() for _ in range(2) for a in compiled(x, v)]

    wanted = results()
    monkeypatch.setenv("INTAGLIO_FUEL", str(amount))
    for a, b in zip(results(), wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
