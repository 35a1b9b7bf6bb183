"""The vector code of every op that has a `scalar` rule, against its NumPy kernel.

The samples of the catalogue are run as fused nodes. Results are the same bit for bit, but
for the functions that NumPy computes in its own way, which are close.
"""

from __future__ import annotations

import pytest

from intaglio.base.dtypes import from_numpy
from intaglio.ir.graph import SymbolicTensor
from intaglio.native.clusters import can_compile
from intaglio.native.fused import FusedKernel
from intaglio.trace.graph import record
from tests.ops import calls

# Their kernels call a function of NumPy's that need not round like ours.
APPROXIMATE = frozenset(
    ["Exp", "Expm1", "Log", "Log1p", "Tanh", "Sigmoid", "Elu", "Selu", "Softplus", "SoftplusGrad",
     "Sin", "Cos", "Tan", "Sinh", "Cosh", "Asin", "Acos", "Atan", "Atan2", "Asinh", "Acosh", "Atanh",
     "Erf", "Erfc", "Pow", "Xlogy", "Xlog1py", "Angle", "ComplexAbs"]
)  # fmt: skip
RULED = [n for n in calls.NAMES if "scalar" in calls.CATALOGUE[n].rules]
SAMPLES = [s for n in RULED for s in calls.samples_of(n) if not s.error]


def graph_of(sample):
    """The sample's call as a graph of inputs of unknown rank, and the inputs."""
    inputs = calls.inputs_of(sample)
    arrays = calls.flat(list(inputs.values()))
    specs = [(from_numpy(a.dtype), None, "x") for a in arrays]

    def function(*tensors):
        left = list(tensors)
        given = {
            k: [left.pop(0) for _ in v] if isinstance(v, list) else left.pop(0)
            for k, v in inputs.items()
        }
        return calls.call(sample, given)

    graph, outputs = record(function, sample.op, specs)
    graph.outputs.extend([t for t in outputs if isinstance(t, SymbolicTensor)])
    return graph.freeze_function(), arrays


@pytest.mark.parametrize("sample", SAMPLES, ids=repr)
def test_vector_code_gives_the_kernels_results(sample):
    graph, arrays = graph_of(sample)
    node = graph.outputs[0].node
    reason = can_compile(node)
    if reason:
        pytest.skip(reason)
    wanted = calls.eager(sample)
    got = FusedKernel(graph)(*arrays)
    for mine, theirs in zip(got, wanted, strict=True):
        if sample.op in APPROXIMATE:
            calls.assert_close(mine, theirs, sample)
        else:
            calls.assert_same(mine, theirs, repr(sample))


def test_most_numeric_samples_are_compiled():
    """So that a rule that stops compiling is noticed."""
    compiled = [s for s in SAMPLES if not can_compile(graph_of(s)[0].outputs[0].node)]
    assert len(compiled) > len(SAMPLES) / 2
