"""The text form: what is written is read back, and what is not written is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.base import dtypes
from intaglio.ir import text, verify
from intaglio.ir.graph import Graph
from intaglio.opdef import raw
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
def test_other_text_is_refused_with_its_line(change: tuple[str, str], says: str) -> None:
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
    steps = draw(
        st.lists(
            st.tuples(st.sampled_from(UNARY + BINARY), st.integers(0, 9), st.integers(0, 9)),
            min_size=1,
            max_size=12,
        )
    )

    def build(x: object, y: object) -> object:
        values = [x, y]
        for name, i, j in steps:
            a, b = values[i % len(values)], values[j % len(values)]
            op = getattr(raw, name)
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
    x, y = (np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3), np.ones((2, 3), np.float32))
    for ours, theirs in zip(
        interpreter.run_graph(graph, [x, y]), interpreter.run_graph(read, [x, y]), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_user_lines_as_comments() -> None:
    @tf.function
    def f(x):
        y = x * 2.0
        return y + x

    graph = f.get_concrete_function(tf.TensorSpec([2])).frozen
    written = text.format_graph(graph, user_lines=True)
    assert "f: y = x * 2.0\n  mul/y: float32[] = Const" in written
    assert "f: return y + x\n  add: float32[2] = AddV2(mul, x)" in written
    assert text.format_graph(text.parse(written)) == text.format_graph(graph)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("  a: float32[] = Neg(" + "x, " * 100_000 + "x)", "line 2"),
        ("  a: int32[] = Const(; value=" + "(" * 5000 + ")" * 5000 + ")", "line 2"),
        ("  a: int32[] = Const(; value=" + "-" * 50_000 + "1)", "line 2"),
        ("  a: int32[] = Const(; value=" + "[" * 90 + "]" * 90 + ")", "line 2"),
        ("  a: int32[] = Const(; value=" + "9" * 10_000 + ", dtype=int32)", "line 2"),
        ("  a: float32[" + "[," * 50_000 + "] = Neg(x)", "line 2"),
        ("  x: float32[] = Neg(x)", "two nodes named 'x'"),
        ("  a: float32[] = Neg(y)", "unknown name 'y'"),
        ("  a: float32[] = Nag(x)", "unknown name 'Nag'"),
        ("  a: float32[1] = Pack(x; axis=0)", "Pack needs the attributes N"),
        ("  a: int32[] = Const(; value=tensor(int32, (4, 1 << 60), []), dtype=int32)", "line 2"),
        ("  a: int32[] = Const(; value=tensor(int32, (99999999999,), [1]), dtype=int32)", "line 2"),
    ],
)
def test_hostile_text_is_refused_at_once(line: str, reason: str) -> None:
    with pytest.raises(text.GraphSyntaxError, match=reason) as raised:
        text.parse("graph g(x: float32[]) {\n" + line + "\n  return x\n}\n")
    assert len(str(raised.value)) < 600


SHARDS = st.text(alphabet="abx01,;:()[]{}=\"'#-. \n", max_size=40)


@given(st.integers(0, len(SMALL)), st.integers(0, 30), SHARDS)
@settings(max_examples=300, deadline=None)
def test_damaged_text_is_a_graph_or_refused(at: int, width: int, put: str) -> None:
    damaged = SMALL[:at] + put + SMALL[at + width :]
    try:
        graph = text.parse(damaged)
    except text.GraphSyntaxError:
        return
    assert isinstance(graph, Graph)
