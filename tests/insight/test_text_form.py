"""`to_text`: what it writes reads back to a graph that computes the same."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from intaglio.ir import text, verify
from intaglio.runtime import interpreter, random_state
from trust import generator
from trust.programs import load, namespace


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.filterwarnings("ignore")
def test_random_programs_survive_the_text(seed: int) -> None:
    program = generator.Draw(seed, 10).program()
    variables = {n: tf.Variable(a) for n, a in program.variables.items()}
    f = tf.function(load(program.source(), namespace(program, variables, tf.function)))
    arguments = [tf.constant(a) for a in program.inputs[0]]
    trace = f.get_concrete_function(*arguments)
    written = trace.to_text()
    read = intaglio.graph_of_text(written)
    verify.verify(read)
    assert text.format_graph(read, user_lines=True) == "\n".join(written.split("\n")[1:])
    # Both run from the same state.
    inputs = [t._array for t in [*arguments, *trace.captured_inputs]]
    before = {n: v.numpy() for n, v in variables.items()}
    results: list[Any] = []
    for graph in (trace.frozen, read):
        random_state.SEEDS.set(1)
        for name, value in before.items():
            variables[name].assign(value)
        results.append(
            [*interpreter.run_graph(graph, inputs), *[v.numpy() for v in variables.values()]]
        )
    for one, other in zip(*results, strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def test_lines_of_the_user_are_read_back() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.nn.relu(x) * 2.0

    f(tf.ones([3]))
    read = intaglio.graph_of_text(f.to_text())
    here = pathlib.Path(__file__)
    (relu,) = [n for n in read.nodes if n.type == "Relu"]
    assert relu.frames[0].filename == str(here)
    assert relu.frames[0].source == "return tf.nn.relu(x) * 2.0"
    assert relu.frames[0].function == "f"


def test_all_traces_are_written_with_their_signatures() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return x + 1

    f(tf.ones([3]))
    f(tf.ones([4]))
    written = f.to_text()
    assert "# (x: TensorSpec(shape=(3,)" in written and "# (x: TensorSpec(shape=(4,)" in written
    assert intaglio.graph_of_text(written).inputs[0].dims == (4,)
