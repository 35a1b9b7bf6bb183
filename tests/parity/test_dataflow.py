"""Graphs of TensorFlow 1's control flow compute what real TensorFlow computed (`record_dataflow.py`)."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.graphdef import load
from intaglio.graphdef.dataflow.edges import DATAFLOW

FOLDER = pathlib.Path(__file__).parent / "dataflow"
ANSWERS = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))
PROGRAMS = ANSWERS["programs"]


def graph_of(name: str) -> Any:
    return load.parse_graph_def((FOLDER / f"{name}.pb").read_bytes())


def imported(name: str, jit: bool = False) -> Any:
    """The program as a function of its inputs."""
    graph_def, program = graph_of(name), PROGRAMS[name]
    results = [f"result{i}:0" for i in range(len(program["answers"][0]))]

    @tf.function(jit_compile=jit or None)
    def run(*inputs: Any) -> Any:
        feeds = {f"input{i}:0": x for i, x in enumerate(inputs)}
        return tf.graph_util.import_graph_def(graph_def, feeds, results, name="")

    return run


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("jit", [False, True], ids=["plain", "jit"])
def test_graphs_compute_what_tensorflow_computed(name: str, jit: bool) -> None:
    program = PROGRAMS[name]
    types = {n.name: n.attr["dtype"].type for n in graph_of(name).node if n.op == "Placeholder"}
    if jit and (name in ("strings", "asserted")):
        pytest.skip("jit_compile takes arithmetic alone")
    run = imported(name, jit)
    for call, answers in zip(zip(*program["feeds"], strict=True), program["answers"], strict=True):
        inputs = [
            tf.constant(value, tf.as_dtype(types[f"input{i}"])) for i, value in enumerate(call)
        ]
        for got, answer in zip(run(*inputs), answers, strict=True):
            assert list(got.shape) == answer["shape"]
            values = got.numpy().reshape(-1)
            if answer["dtype"] == "string":
                assert [v.decode() for v in values] == answer["values"]
            else:
                assert got.dtype.name == answer["dtype"]
                np.testing.assert_allclose(values, answer["values"], rtol=1e-5, atol=1e-6)


def test_results_of_branches_and_loops_keep_their_names() -> None:
    graph = tf.Graph()
    with graph.as_default():
        tf.graph_util.import_graph_def(graph_of("loop_in_branch"), name="")
    assert graph.get_tensor_by_name("cond/Merge:0").dtype == tf.float32
    types = {op.type for op in graph.get_operations()}
    assert "If" in types and not types & DATAFLOW


def test_gradients_go_through_imported_loops() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        (y,) = imported("nested_loops")(x, tf.constant(3))
    gradient = tape.gradient(y, x).numpy()
    step = 1e-2
    for i in range(3):
        moved = np.eye(3, dtype=np.float32)[i] * step
        (more,), (less,) = (
            imported("nested_loops")(x + m, tf.constant(3)) for m in (moved, -moved)
        )
        np.testing.assert_allclose(gradient[i], np.sum(more - less) / (2 * step), rtol=1e-2)


def test_an_assertion_in_a_branch_is_raised() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        imported("asserted")(tf.constant(2.0))


def changed(name: str, change: Any) -> None:
    graph_def = graph_of(name)
    change(graph_def, {n.name: n for n in graph_def.node})
    with tf.Graph().as_default():
        tf.graph_util.import_graph_def(graph_def, name="")


def test_graphs_that_are_no_conditionals_or_loops_are_refused() -> None:
    def second_condition(graph_def: Any, nodes: Any) -> None:
        graph_def.node.add().CopyFrom(nodes["while/LoopCond"])
        graph_def.node[-1].name = "while/second"

    def merge_of_one_branch(graph_def: Any, nodes: Any) -> None:
        nodes["cond/Merge"].input[0] = nodes["cond/Merge"].input[1]

    def past_enter(graph_def: Any, nodes: Any) -> None:
        nodes["while/Exit"].input[0] = "while/Identity"

    def lost_array(graph_def: Any, nodes: Any) -> None:
        nodes["TensorArrayReadV3"].input[0] = "input0"

    for name, change, message in (
        ("loop", second_condition, "2 conditions"),
        ("branch", merge_of_one_branch, "two branches of one conditional"),
        ("loop", past_enter, "no loop variable"),
        ("split_array", lost_array, "the TensorArray"),
    ):
        with pytest.raises(ValueError, match=message):
            changed(name, change)


def test_gradients_of_loops_name_what_is_missing() -> None:
    graph_def = tf.compat.v1.GraphDef()
    graph_def.node.add(name="history", op="StackV2").attr["elem_type"].type = 1
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"'StackV2' .*'history'"):
        tf.graph_util.import_graph_def(graph_def)
