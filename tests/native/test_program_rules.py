"""The native code of every op, against its NumPy kernel: the samples of the catalogue as programs.

What is data and what says how to go about it the code must know apart: integers are given as
constants, then as inputs.
"""

from __future__ import annotations

import numpy as np
import pytest

from intaglio.base.dtypes import from_numpy
from intaglio.ir.graph import SymbolicTensor
from intaglio.native.lanes import Unsupported
from intaglio.native.programs import Program
from intaglio.native.rules import has_code
from intaglio.optimize.pipeline import optimize
from intaglio.trace.graph import record
from tests.native.test_rules import APPROXIMATE
from tests.ops import calls

# Sums in another order.
SUMS = frozenset(["MatMul", "Softmax", "LogSoftmax", "SoftmaxCrossEntropyWithLogits",
                  "SparseSoftmaxCrossEntropyWithLogits", "Conv2D", "Sum", "Mean", "Prod",
                  "Conv2DBackpropInput", "Conv2DBackpropFilter", "MaxPoolGrad", "AvgPool", "Cumprod"])  # fmt: skip
SAMPLES = [
    s
    for n in calls.NAMES
    if has_code(n) or "scalar" in calls.CATALOGUE[n].rules
    for s in calls.samples_of(n)
    if not s.error
]


def program_of(sample, constants: bool):
    """The sample's call as a program, and the arrays that it takes."""
    inputs = calls.inputs_of(sample)
    arrays = calls.flat(list(inputs.values()))
    known = [constants and a.dtype.kind in "iu" for a in arrays]
    specs = [
        (from_numpy(a.dtype), a.shape, "x")
        for a, k in zip(arrays, known, strict=True)
        if not k
    ]

    def function(*tensors):
        given = iter(tensors)
        left = [
            calls.CATALOGUE["Const"](value=a, dtype=from_numpy(a.dtype)) if k else next(given)
            for a, k in zip(arrays, known, strict=True)
        ]  # fmt: skip
        values = {
            k: [left.pop(0) for _ in v] if isinstance(v, list) else left.pop(0)
            for k, v in inputs.items()
        }
        return calls.call(sample, values)

    graph, outputs = record(function, sample.op, specs)
    graph.outputs.extend([t for t in outputs if isinstance(t, SymbolicTensor)])
    made = Program(optimize(graph.freeze_function()))
    return made, [a for a, k in zip(arrays, known, strict=True) if not k]


@pytest.mark.parametrize("constants", [True, False])
@pytest.mark.parametrize("sample", SAMPLES, ids=repr)
def test_native_code_gives_the_kernels_results(sample, constants):
    try:
        program, arrays = program_of(sample, constants)
    except Unsupported as e:
        pytest.skip(str(e))
    for mine, theirs in zip(program.run(*arrays), calls.eager(sample), strict=True):
        assert np.asarray(mine).shape == np.shape(theirs), sample
        if sample.op in APPROXIMATE or sample.op in SUMS:
            calls.assert_close(mine, theirs, sample)
        else:
            calls.assert_same(mine, theirs, repr(sample))
