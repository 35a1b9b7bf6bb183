"""The native code of every op, over all its samples and dtypes, against its NumPy kernel.

Results are the same bit for bit but for the ops of one table (`exactness`). Samples without code are
none that are skipped: what stops them is written down (`without_code.json`), and compared.
"""

from __future__ import annotations

import pytest

from intaglio.native.llvm import jit
from intaglio.native.passes import elementwise_fusion
from intaglio.native.regions import keeps_bits, may_be_native, may_have_code
from intaglio.native.runtime import entry
from tests.native import reach
from tests.native.exactness import CLOSE_OPS, COMPLEX_ROOTS
from tests.ops import calls

RECORDED = reach.recorded()
# Where there are fewer kernels there is more without code.
WHOLE = entry.AVAILABLE and jit.HAS_HALF


@pytest.mark.parametrize(("op", "way"), [(op, way) for way in reach.WAYS for op in reach.ops(way)])
def test_native_code_gives_the_kernels_results(op, way):
    reasons = reach.check(op, way)
    if WHOLE:
        assert reasons == RECORDED[way].get(op, []), (
            "what stops native code has changed: python -m tests.native.reach"
        )


# Their kernels are of float32, and their samples are not. Of other transforms a sample without
# elements runs; `test_fourier` has the rest.
TRANSFORMS = ("IRFFT", "IRFFT2D", "IRFFT3D", "RFFT2D", "RFFT3D")
ELSEWHERE = {"MaxPoolGrad": "test_pooling", **dict.fromkeys(TRANSFORMS, "test_fourier")}


def test_every_op_with_a_rule_has_a_sample_that_is_run():
    """But for those on graphs, lists and variables, which other tests have."""
    never = [
        op
        for op in calls.NAMES
        if may_have_code(calls.CATALOGUE[op])
        and reach.samples_of(op)
        and all(reach.NOTHING in RECORDED[way].get(op, []) for way in reach.WAYS[1:])
    ]
    assert never == sorted(ELSEWHERE)


def test_the_page_and_the_table_name_ops_that_exist():
    named = {op for ops in RECORDED.values() for op in ops} | CLOSE_OPS
    assert named <= {*calls.NAMES}


def test_what_is_declared_exact_has_code_that_is_compared_bit_for_bit():
    """Roots of complex numbers, which are close, are no case of `native_exact` (`native/analysis/exactness.py`)."""
    exact = {n for n in calls.NAMES if calls.CATALOGUE[n].native_exact}
    assert not exact & CLOSE_OPS
    without = {n for n in exact if not may_be_native(calls.CATALOGUE[n])}
    assert not without - {"Const", "Placeholder", "Rank", "Shape", "Size"}  # known or given


def test_code_that_approximates_is_not_exact():
    """Loops over elements call no function for the sizes and roots of complex numbers, and approximate them."""
    approximated = []
    for sample in [s for op in sorted(CLOSE_OPS | COMPLEX_ROOTS) for s in reach.samples_of(op)]:
        node = reach.graph_of(sample)[0].outputs[0].node
        is_root = node.op.name in COMPLEX_ROOTS and node.outputs[0].dtype.is_complex
        if (is_root or node.op.name in CLOSE_OPS) and elementwise_fusion.is_elementwise(node.op):
            assert not elementwise_fusion.loop_keeps_bits(node), sample
            assert not keeps_bits(node), sample
            approximated.append(node.op.name)
    assert {"ComplexAbs", "Exp", "Rsqrt", "Sqrt"} <= {*approximated}
