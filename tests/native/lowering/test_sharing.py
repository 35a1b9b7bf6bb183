"""Values that share memory: what an op makes without a copy holds the memory that it lies in.

By that an assignment knows what it would overwrite. Each op's samples are read from variables, all
in memory however few elements they have: nothing lies in a variable's memory without holding it,
and what does is as it was after the variable has been assigned.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from intaglio.base.dtypes import from_numpy, resource
from intaglio.ir.graph import SymbolicTensor
from intaglio.native.llvm.vectors import Unsupported, kind_of
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.memory_plan import OUTSIDE, Block
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.lowering.registry import elementwise, lowering_of
from intaglio.native.pipeline import ready
from intaglio.native.program import Program
from intaglio.native.regions import may_have_code
from intaglio.opdef import raw
from intaglio.opdef.spec import Spec
from intaglio.runtime.resources import Resource
from intaglio.trace.graph import record
from tests.native import reach
from tests.native.exactness import assert_alike, foreseeable
from tests.ops import calls

DERIVED = re.compile(r"^\s*(%\S+) = (?:getelementptr|phi ptr|select|load ptr)\b(.*)$")
NAME = re.compile(r"%[\w.]+")
OPS = [n for n in calls.NAMES if reach.samples_of(n) and may_have_code(calls.CATALOGUE[n])]


def constant(array):
    return raw.Const(value=array, dtype=from_numpy(array.dtype))


def graph_of(sample, assigns: bool):
    """A sample's call as a graph of variables, or of their values, and the arrays in these.

    Integers of which a kernel might want to know which they are, are constants.
    """
    arrays = calls.flat(list(calls.inputs_of(sample).values()))
    floats = any(a.dtype.kind not in "iu" for a in arrays)
    known = [a.dtype.kind in "iu" and (floats or a.ndim < 2) for a in arrays]
    data = [a for a, k in zip(arrays, known, strict=True) if not k]
    contents = [Spec(from_numpy(a.dtype), a.shape) for a in data]

    def function(*given):
        values = list(given)
        for i, spec in enumerate(contents if assigns else ()):
            given[i].spec = Spec(resource, (), spec)
            values[i] = raw.ReadVariableOp(given[i], dtype=spec.dtype)
        left = [constant(a) if k else values.pop(0) for a, k in zip(arrays, known, strict=True)]
        made = calls.call(
            sample,
            {
                k: [left.pop(0) for _ in v] if isinstance(v, list) else left.pop(0)
                for k, v in calls.inputs_of(sample).items()
            },
        )
        for handle, array in zip(given, data, strict=True) if assigns else ():
            raw.AssignVariableOp(handle, constant(np.zeros_like(array)))
        return made

    specs = [(resource, (), "x") if assigns else (s.dtype, s.shape, "x") for s in contents]
    graph, outputs = record(function, sample.op, specs)
    graph.outputs.extend([t for t in outputs if isinstance(t, SymbolicTensor)])
    return graph.freeze_function(), data


def lies_in(text: str, pointer: str) -> set[int]:
    """The numbers of the function's inputs in whose memory a pointer may be."""
    places: dict[str, set[str]] = {}
    for line in text.splitlines():
        found = DERIVED.match(line)
        if found:
            places[found[1]] = set(NAME.findall(found[2]))
    waiting, seen = [pointer], set[str]()
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += places.get(one, ())
    inputs = re.findall(r"(%\S+) = getelementptr inbounds ptr, ptr %ins, i64 (\d+)", text)
    return {int(number) for name, number in inputs if name in seen}


def shares(sample) -> bool:
    """Whether a result lies in an input's memory; each that does must hold this memory."""
    graph, data = graph_of(sample, assigns=False)
    w = FunctionLowering(lowering_of, elementwise)
    blocks = [Block(OUTSIDE, 0) for _ in data]
    given = [
        ArrayOperand(
            kind_of(a.dtype), a.shape, pointer=w.argument("%ins", i), blocks=blocks[i : i + 1]
        )
        for i, a in enumerate(data)
    ]
    w.memory = w.argument("%outs", 0)
    results = w.graph(ready(graph), given)
    for i, result in enumerate(results):  # only what is used is part of the text
        w.store(result, w.argument("%outs", i + 1))
    text, found = w.code.text(), False
    for result in results:
        within = lies_in(text, result.pointer) if isinstance(result, ArrayOperand) else set()
        assert all(blocks[i] in result.blocks for i in within), (sample, within)
        found |= bool(within)
    return found


def check(sample) -> bool:
    """Whether a result shares memory; one that does is as before after an assignment."""
    if not shares(sample):
        return False
    graph, data = graph_of(sample, assigns=True)
    variables = [Resource(Spec(from_numpy(a.dtype), a.shape), "v") for a in data]
    for variable, array in zip(variables, data, strict=True):
        variable.assign(np.array(array))
    made = Program(graph).run(*variables)
    for mine, theirs in zip(made, calls.eager(sample), strict=True):
        if foreseeable(sample):
            assert_alike(mine, theirs, sample)
    for variable in variables:
        assert not np.any(variable.read())
    return True


# Ops of which a sample is handed on without a copy: else the test would look at nothing.
SHARING = frozenset(
    [
        "All",
        "Any",
        "Bitcast",
        "BroadcastTo",
        "ExpandDims",
        "GatherV2",
        "GuaranteeConst",
        "Identity",
        "Mean",
        "Reshape",
        "ReverseV2",
        "Snapshot",
        "Split",
        "SplitV",
        "Squeeze",
        "StopGradient",
        "StridedSlice",
        "Sum",
        "Unpack",
    ]
)


@pytest.mark.parametrize("op", OPS)
def test_results_in_an_inputs_memory_hold_it_and_outlive_assignments(op):
    found = False
    with reach._in_memory():
        for sample in reach.samples_of(op):
            try:
                found |= check(sample)
            except Unsupported:
                continue
    assert found or op not in SHARING
