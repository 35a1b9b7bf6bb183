"""Loops over elements in kernels that are recorded: an op that computes what the kernel computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Rewriter
from intaglio.opdef import door, raw
from intaglio.ops import restricted
from intaglio.ops.image.suppression_loops import suppress_rows
from intaglio.ops.random.sampling_loops import gamma_rows
from intaglio.optimize import symbolic_loops
from intaglio.optimize.kernel_expressions import by_kernel
from intaglio.optimize.symbolic_arrays import NotSymbolic, SymbolicArray, tensor_of
from intaglio.runtime import interpreter
from tests.ops import calls, recorded
from tests.ops.samples import SAMPLES


def add_rows(
    scale: Any, totals: Any, x: Any, width: Any, least: Any, first: Any, last: Any
) -> None:
    """Adds to totals the numbers of each row that are above `least`; the sums before and after are counted."""
    for row in range(first, last):
        own = x[row * width :]
        for i in range(width):
            if own[i] > least:
                totals[row] += own[i] * scale


def of_parts(totals: Any, x: Any, first: Any, last: Any) -> None:
    one, other = totals[first:], x[first:]
    _written(other, one)


def _written(source: Any, target: Any) -> None:
    target[0] = source[0]


def test_what_a_function_writes_is_known() -> None:
    """Its parameters, also by names for parts of them and by functions that it calls."""
    assert restricted.written_parameters(add_rows) == {1}
    assert restricted.written_parameters(of_parts) == {0}
    assert restricted.written_parameters(suppress_rows) == {0, 1, 2}
    assert restricted.written_parameters(gamma_rows) == {0}


@pytest.mark.parametrize("computed", [False, True])
def test_numbers_and_arrays_in_any_order(computed: bool) -> None:
    """Outputs keep what is not written; numbers are constants or computed."""
    x = np.arange(6, dtype=np.float64).reshape(2, 3)
    concrete = tf.function(lambda x, y: x).get_concrete_function(
        tf.TensorSpec((2, 3), tf.float64), tf.TensorSpec((), tf.float64)
    )
    graph = concrete.frozen
    new = Rewriter(graph)
    for node in graph.nodes:
        new.keep(node)
    with door.pushed(new):
        array, number = map(SymbolicArray, graph.inputs)
        number.number = float
        totals = SymbolicArray(np.full(2, 10.0))
        scale = number if computed else 2.0
        done = symbolic_loops.run_loops(add_rows, 1, scale, totals, array, 3, 1.5, rows=2)
        result = tensor_of(totals)
    assert done
    graph = prune(new.result([result]))
    assert [n.op.name for n in graph.nodes].count("_ElementLoops") == 1
    (found,) = interpreter.compiled(graph)(x, np.float64(2.0))
    np.testing.assert_array_equal(found, [10 + 2 * 2.0, 10 + 2 * 12.0])


def test_arrays_of_others_are_not_written() -> None:
    with pytest.raises(NotSymbolic, match="no part of the program"):
        symbolic_loops.run_loops(
            add_rows, 1, 1.0, np.zeros(2), SymbolicArray(np.ones(6)), 3, 0.0, rows=2
        )


@pytest.mark.parametrize(
    "name", ["StatelessRandomGammaV2", "StatelessRandomPoisson", "CombinedNonMaxSuppression"]
)
def test_kernels_with_loops_are_expressions(name: str) -> None:
    """Equal to the kernels for their samples, and no expression without loops."""
    compared = 0
    for sample in calls.CATALOGUE and SAMPLES[name]:
        one = recorded.recorded(sample)
        if one is None:
            continue
        new, changed = Rewriter(one.graph), False
        for node in one.graph.nodes:
            current = new.copy(node)
            if node.op.name != name:
                new.keep(node, current)
                continue
            assert by_kernel(new, current) is None
            found = by_kernel(new, current, loops=True)
            changed = found is not None
            new.keep(node, current) if found is None else new.replace(node, found)
        if not changed:
            continue
        graph = prune(new.result())
        assert any(n.op is raw._ElementLoops for n in graph.nodes)
        expected = interpreter.run_graph(one.graph, one.arrays)
        for mine, own in zip(interpreter.run_graph(graph, one.arrays), expected, strict=True):
            np.testing.assert_allclose(
                np.asarray(mine, np.float64), np.asarray(own, np.float64), rtol=1e-6
            )
        compared += 1
    assert compared
