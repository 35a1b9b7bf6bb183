"""The pipeline's switches: INTAGLIO_DUMP, INTAGLIO_VERIFY, INTAGLIO_FUEL; and its speed."""

from __future__ import annotations

import cProfile
import math
import pstats

import pytest

from intaglio import tf
from intaglio.autodiff.derivative import derivative_of
from intaglio.base.generated_code import GeneratedCode
from intaglio.ir import passes, text, walk
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


def test_every_step_is_written_to_the_folder_of_the_variable(tmp_path, monkeypatch) -> None:
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
    monkeypatch.setattr(passes, "VERIFY", False)
    pipeline.optimize(traced())
    monkeypatch.setattr(passes, "VERIFY", True)
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
        before, after = (interpreter._GraphSource(g).function()(x)[0] for g in (graph, changed))
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


def bodies(graph: Graph) -> dict[str, list[str]]:
    """The op types of the graphs below this one, by the graphs' names."""
    return {g.name: ops(g) for g in walk.nested(graph)}


def looped():
    @tf.function
    def f(x, n):
        def step(i, y):
            return i + 1, tf.sin(tf.identity(y)) * 1.0 + tf.sin(y)

        _, y = tf.while_loop(lambda i, y: i < n + 0, step, [0, x])
        return tf.cond(n > 2, lambda: y + tf.cos(y) - tf.cos(y), lambda: tf.identity(y))

    return f


def test_second_calls_run_optimised_branches_and_bodies(monkeypatch) -> None:
    ran: list[Graph] = []
    compiled = interpreter.compiled

    def seen(graph: Graph) -> interpreter.Compiled:
        ran.append(graph)
        return compiled(graph)

    monkeypatch.setattr(interpreter, "compiled", seen)
    f, x, n = looped(), tf.constant([1.0, 2.0]), tf.constant(3)
    counts: list[int] = []
    answers: list[list[float]] = []
    for _ in range(4):
        ran.clear()
        answers.append(f(x, n).numpy().tolist())
        counts.append(sum(len(g.nodes) for g in ran))
    assert answers == answers[:1] * 4
    assert counts[-1] < counts[0]
    before = f.get_concrete_function(x, n).frozen
    after = bodies(pipeline.optimize(before))
    assert set(after) == set(bodies(before))
    assert not any("Identity" in found for found in after.values())
    assert sum(found.count("Sin") for found in after.values()) == 1


def test_an_attached_graph_is_optimised_once_for_all_that_share_it() -> None:
    inner = tf.function(lambda x: tf.sin(tf.identity(x)))
    large = tf.function(lambda x: sum(inner(x) * float(i) for i in range(70)))

    @tf.function
    def f(c, x):
        return tf.cond(c, lambda: large(x), lambda: large(x) + large(x))

    graph = f.get_concrete_function(tf.TensorSpec([], tf.bool), tf.TensorSpec([2]))
    called = {
        id(n.attrs["f"])
        for g in walk.nested(pipeline.optimize(graph.frozen))
        for n in g.nodes
        if "f" in n.attrs
    }
    first = pipeline.optimize(graph.frozen)
    again = pipeline.optimize(graph.frozen)
    assert len(called) == 1
    assert {id(g) for g in walk.nested(first)} == {id(g) for g in walk.nested(again)}


def test_a_loop_without_values_is_optimised() -> None:
    v = tf.Variable(0.0)

    @tf.function
    def f():
        for _ in tf.range(3):
            v.assign_add(tf.identity(1.0) * 1.0)

    for _ in range(4):
        f()
    assert float(v) == 12.0
    changed = bodies(pipeline.optimize(f.get_concrete_function().frozen))
    assert not any({"Identity", "Mul"} & set(found) for found in changed.values())


def test_watched_calls_run_optimised_from_the_second_on() -> None:
    f = tf.function(lambda x: tf.sin(tf.identity(x)) + tf.sin(x))
    x = tf.constant(0.5)
    grads: list[float] = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        grads.append(float(tape.gradient(y, x)))
    assert grads[0] == pytest.approx(2 * math.cos(0.5))
    assert grads == grads[:1] * 3
    graph = f.get_concrete_function(x).frozen
    watched = derivative_of(graph, (0,)).watched[False]
    assert watched.forward.optimized_run is not None
    optimized = GeneratedCode.behind(watched.forward.optimized_run)
    traced = GeneratedCode.behind(watched.forward.compiled)
    assert optimized is not None and traced is not None
    assert len(optimized.line_map) < len(traced.line_map)
