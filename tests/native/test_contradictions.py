"""Machine code checks by itself what it relies on, whoever has made the graph or the arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.dtypes import float32, float64, int8
from intaglio.base.errors import InternalError
from intaglio.ir.graph import Graph, Node
from intaglio.native import compilation
from intaglio.native.kernels import elementwise
from intaglio.native.kernels.elementwise import FusedKernel
from intaglio.native.program import Program
from intaglio.native.runtime import entry, native_calls
from intaglio.opdef import raw
from intaglio.opdef.spec import Spec

COUNT = 300
ROW = Spec(float32, (COUNT,))

pytestmark = pytest.mark.skipif(not entry.AVAILABLE, reason="kernels are not called directly")


def placeholder(name: str, spec: Spec) -> Any:
    attrs = {"dtype": spec.dtype, "shape": spec.shape}
    return Node(raw.Placeholder, (), attrs, name, [spec]).outputs[0]


def constant(value: Any, spec: Spec) -> Any:
    attrs = {"value": value, "dtype": spec.dtype}
    return Node(raw.Const, (), attrs, "c", [spec]).outputs[0]


def graph_of(inputs: list[Any], *nodes: Any) -> Graph:
    outputs = list(nodes[-1].outputs)
    return Graph("g", inputs, [*[v.node for v in inputs], *nodes], outputs)


def product(x: Any, y: Any) -> Graph:
    made = Node(raw.Mul, [x, y], {}, "m", [ROW])
    consts = [v.node for v in (x, y) if v.node.op is raw.Const]
    inputs = [v for v in (x, y) if v.node.op is raw.Placeholder]
    return graph_of(inputs, *consts, made)


@pytest.mark.parametrize(
    "value",
    [
        np.arange(COUNT).astype(np.int8),
        np.arange(COUNT, dtype=np.float64),
        np.arange(COUNT // 2, dtype=np.float32),
    ],
    ids=["narrower", "wider", "shorter"],
)
def test_constants_of_other_sizes_are_interpreted(value: Any) -> None:
    x = placeholder("x", ROW)
    graph = product(x, constant(value, ROW))
    assert compilation.whole(graph) is None
    array = np.ones(len(value), np.float32)
    (result,) = compilation.compiled(graph)(array)
    np.testing.assert_array_equal(result, value * array)


@pytest.mark.parametrize("dtype", [np.int8, np.float64])
def test_programs_refuse_arrays_of_other_dtypes(dtype: Any) -> None:
    program = Program(product(placeholder("x", ROW), placeholder("y", ROW)))
    right, wrong = np.ones(COUNT, np.float32), np.ones(COUNT, dtype)
    result, memory = np.zeros(COUNT, np.float32), np.zeros(64, np.int64)
    assert program.kernel(right, right, result, memory) is None
    assert program.kernel(right, wrong, result, memory) is NotImplemented
    assert program.kernel(right, right[:-1], result, memory) is NotImplemented
    np.testing.assert_array_equal(program.run(right, wrong)[0], right)


def test_dtypes_that_are_equal_but_other_objects_are_accepted() -> None:
    program = Program(product(placeholder("x", ROW), placeholder("y", ROW)))
    described = np.dtype(np.float32, metadata={"from": "elsewhere"})
    array = np.arange(COUNT, dtype=described)
    assert array.dtype is not float32.numpy
    (result,) = program.run(array, array)
    np.testing.assert_array_equal(result, np.arange(COUNT, dtype=np.float32) ** 2)


def test_fused_kernels_refuse_arrays_of_other_dtypes() -> None:
    kernel = FusedKernel(product(placeholder("x", ROW), placeholder("y", ROW)))
    right = np.ones(COUNT, np.float32)
    np.testing.assert_array_equal(kernel(right, right)[0], right)
    with pytest.raises(InternalError, match="compiled for other arrays"):
        kernel(right, right.astype(np.int8))


def test_fused_kernels_without_entries_refuse_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elementwise.entry, "AVAILABLE", False)
    monkeypatch.setattr(elementwise, "_compiled", {})
    kernel = FusedKernel(product(placeholder("x", ROW), placeholder("y", ROW)))
    right = np.ones(COUNT, np.float32)
    np.testing.assert_array_equal(kernel(right, right)[0], right)
    with pytest.raises(InternalError, match="other dtypes"):
        kernel(right, right.astype(np.int8))


@pytest.mark.parametrize(
    "array", [np.ones(5, np.float32), np.ones(COUNT, np.int8)], ids=["shorter", "narrower"]
)
def test_calls_in_machine_code_are_for_arrays_that_the_program_takes(array: Any) -> None:
    program = Program(product(placeholder("x", ROW), placeholder("y", ROW)))
    for first, able in ((np.ones(COUNT, np.float32), True), (array, False)):
        table = native_calls.GuardTable()
        begin = table.sequence(0, (first,))
        table.tensor(begin, first)
        table.constant(first)
        made = native_calls.native_call(program, table, object(), True)
        assert (made is not None) is able


def called_with(body: Graph, given: Any, spec: Spec) -> Graph:
    attrs = {"f": body, "Tin": (given.dtype,), "Tout": (spec.dtype,)}
    attrs |= {"config": "", "config_proto": "", "executor_type": ""}
    call = Node(raw.PartitionedCall, [given], attrs, "call", [spec])
    return graph_of([given], call)


@pytest.mark.parametrize("spec", [Spec(float32, (5,)), Spec(int8, (COUNT,))], ids=str)
def test_graphs_are_not_compiled_for_other_inputs_than_they_have(spec: Spec) -> None:
    x = placeholder("x", ROW)
    body = graph_of([x], Node(raw.Neg, [x], {}, "n", [ROW]))
    outer = called_with(body, placeholder("y", spec), ROW)
    assert compilation.whole(outer) is None
    array = np.ones(spec.shape, spec.dtype.numpy)
    np.testing.assert_array_equal(compilation.compiled(outer)(array)[0], -array)


@pytest.mark.parametrize("spec", [Spec(float32, (COUNT + 1,)), Spec(float64, (COUNT,))], ids=str)
def test_results_that_nodes_do_not_declare_are_not_compiled(
    spec: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("intaglio.native.fallback.VERIFY", False)
    x = placeholder("x", ROW)
    graph = graph_of([x], Node(raw.Tanh, [x], {}, "t", [spec]))
    array = np.ones(COUNT, np.float32)
    np.testing.assert_allclose(compilation.compiled(graph)(array)[0], np.tanh(array), rtol=1e-6)


def test_a_loop_carries_one_dtype() -> None:
    x, y = placeholder("x", ROW), placeholder("y", ROW)
    attrs = {"DstT": float64, "SrcT": float32, "Truncate": False}
    body = graph_of([x], Node(raw.Cast, [x], attrs, "cast", [Spec(float64, (COUNT,))]))
    cond = graph_of([y], constant(np.array(True), Spec(tf.bool, ())).node)
    with pytest.raises(ValueError, match="loop body g takes float32, not float64"):
        raw.While.output_specs(
            [ROW], {"cond": cond, "body": body, "output_shapes": (), "T": (float32,)}
        )
