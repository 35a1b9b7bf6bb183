"""The pipeline's switches: INTAGLIO_DUMP, INTAGLIO_VERIFY, INTAGLIO_FUEL; and its speed."""

from __future__ import annotations

import cProfile
import pstats

import pytest

from intaglio import tf
from intaglio.ir import text
from intaglio.ir.graph import Graph
from intaglio.optimize import pipeline
from intaglio.runtime import interpreter


def traced() -> Graph:
    @tf.function
    def f(x):
        y = tf.identity(x) * 1.0
        return tf.sin(y) + tf.sin(x) + float(2 * 3)

    return f.get_concrete_function(tf.TensorSpec([2])).frozen


def ops(graph: Graph) -> list[str]:
    return [n.op.name for n in graph.nodes]


def test_every_step_is_written_where_the_variable_says(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("INTAGLIO_DUMP", str(tmp_path / "steps"))
    graph = traced()
    optimized = pipeline.optimize(graph)
    written = sorted((tmp_path / "steps").iterdir(), key=lambda p: p.name.split(".")[1])
    assert len(written) == len(pipeline.PASSES) + 1
    first, last = (p for p in written if "0-traced" in p.name or "-again" in p.name)
    assert first.read_text(encoding="utf-8") == text.format_graph(graph)
    assert last.read_text(encoding="utf-8") == text.format_graph(optimized)


def test_a_pass_that_breaks_the_graph_is_found_out(monkeypatch) -> None:
    def break_it(graph: Graph, fuel: object) -> Graph:
        return Graph(graph.name, graph.inputs, graph.nodes[:-1], graph.outputs)

    monkeypatch.setattr(pipeline, "PASSES", [("break", break_it)])
    monkeypatch.setattr(pipeline, "VERIFY", False)
    pipeline.optimize(traced())
    monkeypatch.setattr(pipeline, "VERIFY", True)
    with pytest.raises(ValueError, match="f_"):
        pipeline.optimize(traced())


def test_fuel_stops_the_rewriting(monkeypatch) -> None:
    graph = traced()
    seen: list[list[str]] = []
    for fuel in range(8):
        monkeypatch.setenv("INTAGLIO_FUEL", str(fuel))
        changed = pipeline.optimize(graph)
        seen.append(ops(changed))
        x = tf.constant([1.0, 2.0]).numpy()
        before, after = (
            interpreter._Writer(g).function()(x)[0] for g in (graph, changed)
        )
        assert (before == after).all()
    assert seen[0] == ops(graph)
    monkeypatch.delenv("INTAGLIO_FUEL")
    assert seen[-1] == ops(pipeline.optimize(graph))
    assert sorted(map(len, seen), reverse=True) == [len(s) for s in seen]
    assert ops(pipeline.optimize(graph)).count("Sin") == 1


def test_work_grows_with_the_number_of_nodes_alone() -> None:
    def calls(n: int) -> int:
        @tf.function(autograph=False)
        def f(x):
            for i in range(n):
                x = tf.sin(x) * (2.0 + i) + tf.identity(x)
            return x

        graph = f.get_concrete_function(tf.TensorSpec([2])).frozen
        counted = cProfile.Profile()
        counted.runcall(pipeline.optimize, graph)
        return pstats.Stats(counted).total_calls  # type: ignore[attr-defined]

    assert calls(1600) < 20 * calls(100)


def test_functions_that_call_each_other_in_pairs_do_not_double_for_ever() -> None:
    @tf.function(autograph=False)
    def fib(n, x):
        return x if n < 2 else fib(n - 1, x) + fib(n - 2, x)

    graph = fib.get_concrete_function(60, tf.TensorSpec([])).frozen
    assert len(pipeline.optimize(graph).nodes) < 10_000
    one = tf.constant(1.0)
    assert [float(fib(12, one)) for _ in range(4)] == [233.0] * 4
