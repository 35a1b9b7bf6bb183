"""The samples of all ops as ONNX models: as the interpreter has them, within the tolerances of the samples.

`make test` takes one part of the samples in PARTS, always the same; INTAGLIO_ONNX_SAMPLES=all takes all.
"""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import onnx
import pytest

from intaglio.export.onnx import registry
from intaglio.export.onnx.exporting import model_of_graph
from intaglio.export.onnx.lowering import UnexportableNode
from intaglio.runtime import interpreter
from tests.export.onnx import running
from tests.export.onnx.differences import DIFFERENT, TOLERANCE, TOLERANCES
from tests.ops import calls, recorded

PARTS = 24
WANTED = range(PARTS) if os.environ.get("INTAGLIO_ONNX_SAMPLES") == "all" else range(1)


@pytest.mark.parametrize("part", WANTED)
def test_samples_are_equal_in_onnx(part):
    wrong: list[str] = []
    compared = 0
    for one in map(recorded.in_parts, recorded.chosen(part, PARTS)):
        names = [f"x{i}" for i in range(len(one.arrays))]
        outputs = [f"y{i}" for i in range(len(one.graph.outputs))]
        try:
            model = model_of_graph(one.graph, names, [], outputs, 21)
        except UnexportableNode:
            continue
        onnx.checker.check_model(model)
        try:
            got = running.run(model, dict(zip(names, one.arrays, strict=True)))
        except running.NotRun:
            continue
        compared += 1
        if one.sample.label not in DIFFERENT:
            wrong += _differences(one, got)
    assert not wrong, "\n".join(wrong)
    assert compared > 50


def _differences(one, got) -> list[str]:
    wanted = [np.asarray(v) for v in interpreter.run_graph(one.graph, one.arrays)]
    sample = one.sample
    tolerance = max(TOLERANCES.get(sample.op, TOLERANCE), sample.tol or 0.0)
    try:
        for mine, theirs in zip(map(np.asarray, got), wanted, strict=True):
            assert mine.dtype == theirs.dtype and mine.shape == theirs.shape, repr(sample)
            if not sample.nondeterministic:
                calls.assert_close(mine, theirs, dataclasses.replace(sample, tol=tolerance))
    except AssertionError as e:
        return [str(e)]
    return []


def test_ops_with_a_rule_are_in_the_catalogue():
    assert set(registry.RULES) <= set(calls.CATALOGUE)
