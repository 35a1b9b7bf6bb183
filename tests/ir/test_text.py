"""The text form: what is written is read back, and what is not written is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf  # noqa: F401  declares the ops
from intaglio.base import dtypes
from intaglio.ir import text, verify
from intaglio.ir.graph import Graph
from intaglio.op import raw
from intaglio.runtime import interpreter
from intaglio.trace.graph import record

SMALL = """\
graph small(x: float32[2, None], y: float32[...]) {
  axis: int32[1] = Const(; value=tensor(int32, (1,), [0]), dtype=int32)
  sum: float32[None] = Sum(x, axis)
  kept: float32[...] = AddV2(sum, y) after axis
  return kept, sum
}
"""


def test_small_graph_reads_as_written() -> None:
    graph = text.parse(SMALL)
    verify.verify(graph)
    assert text.format_graph(graph) == SMALL
    assert [v.dims for v in graph.inputs] == [(2, None), None]
    assert graph.nodes[-1].control[0].name == "axis"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("Sum(x", "Summ(x"), "line 3"),
        (("Sum(x", "Sum(w"), "'w'"),
        (("int32, (1,), [0]", "int32, (1,), [0"), "line 2"),
        (("sum: float32", "sum: int32"), "written Spec(int32"),
        (("}\n", ""), "ends before"),
        (("return kept, sum", "# nothing"), "return"),
        (("graph small", "grph small"), "graph name"),
        (("after axis", "after axle"), "axle"),
    ],
)
def test_other_text_is_refused_with_its_line(
    change: tuple[str, str], says: str
) -> None:
    with pytest.raises(text.GraphSyntaxError) as caught:
        text.parse(SMALL.replace(*change))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "array",
    [
        np.array([np.inf, -np.inf, np.nan, -0.0], np.float32),
        np.array([0.1, 1 / 3], np.float64),
        np.array([1 + 2j, -1j], np.complex64),
        np.array([True, False]),
        np.array([b"a,[b]", b'"q\\', b"\xff"], object),
        np.array(2**63 - 1, np.int64),
        np.arange(100, dtype=np.float16),
        np.zeros((0, 3), np.int8),
    ],
    ids=lambda a: f"{a.dtype}{a.shape}",
)
def test_constants_keep_every_bit(array: np.ndarray) -> None:
    graph, value = record(
        lambda: raw.Const(value=array, dtype=dtypes.from_numpy(array.dtype)), "c", []
    )
    frozen = graph.freeze("c", [], [value])
    read = text.parse(text.format_graph(frozen)).outputs[0].node.attrs["value"]
    assert read.dtype == array.dtype and read.shape == array.shape
    if array.dtype == object:
        assert read.tolist() == array.tolist()
    else:
        assert read.tobytes() == array.tobytes()


UNARY = ["Neg", "Abs", "Square", "Relu", "Sign"]
BINARY = ["AddV2", "Sub", "Mul", "Maximum", "Minimum"]


@st.composite
def programs(draw: st.DrawFn) -> Graph:
    """A random graph of elementwise ops, reductions and reshapes on two 2x3 inputs."""
    steps = draw(st.lists(st.tuples(st.sampled_from(UNARY + BINARY), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))  # fmt: skip

    def build(x: object, y: object) -> object:
        values = [x, y]
        for name, i, j in steps:
            a, b = values[i % len(values)], values[j % len(values)]
            op = raw.CATALOGUE[name]
            values.append(op(a) if name in UNARY else op(a, b))
        return values[-1]

    graph, result = record(
        build, "p", [(dtypes.float32, (2, 3), "x"), (dtypes.float32, (2, 3), "y")]
    )
    return graph.freeze("p", graph.inputs, [result])


@given(programs())
@settings(max_examples=40, deadline=None)
def test_random_graphs_survive_the_text(graph: Graph) -> None:
    written = text.format_graph(graph)
    read = text.parse(written)
    verify.verify(read)
    assert text.format_graph(read) == written
    x, y = (
        np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3),
        np.ones((2, 3), np.float32),
    )
    for ours, theirs in zip(
        interpreter.run_graph(graph, [x, y]),
        interpreter.run_graph(read, [x, y]),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)
