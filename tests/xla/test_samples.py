"""The samples of all ops on XLA: as the interpreter has them, within the tolerances of the samples.

`make test` takes one part of the samples in PARTS, always the same; `make xla-tests` takes all.
"""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest

from intaglio.runtime import interpreter
from intaglio.xla.evaluator import NodeUntraceable
from tests.ops import calls, recorded
from tests.ops.samples import Sample
from tests.xla import samples
from tests.xla.differences import DIFFERENT, TOLERANCES, UP_TO_A_FACTOR

PARTS = 64
WANTED = range(PARTS) if os.environ.get("INTAGLIO_XLA_SAMPLES") == "all" else range(1)


@pytest.mark.parametrize("part", WANTED)
def test_samples_are_equal_on_xla(part):
    found = list(recorded.chosen(part, PARTS))
    batches = [found[i : i + samples.BATCH] for i in range(0, len(found), samples.BATCH)]
    wrong: list[str] = []
    for batch in batches:
        for one, got in zip(batch, samples.computed(batch), strict=True):
            if not isinstance(got, NodeUntraceable):
                wrong += _differences(one, got)
    assert not wrong, "\n".join(wrong)


def _differences(one: recorded.Recorded, got: list[np.ndarray]) -> list[str]:
    wanted = [np.asarray(v) for v in interpreter.run_graph(one.graph, one.arrays)]
    if one.sample.op in DIFFERENT:
        return []
    try:
        for mine, theirs in zip(got, wanted, strict=True):
            assert mine.dtype == theirs.dtype and mine.shape == theirs.shape, repr(one.sample)
            if one.sample.op in UP_TO_A_FACTOR:
                mine, theirs = np.abs(mine), np.abs(theirs)
            if not one.sample.nondeterministic:
                calls.assert_close(mine, theirs, tolerant(one.sample))
    except AssertionError as e:
        return [str(e)]
    return []


def tolerant(sample: Sample, floor: float = 0.0) -> Sample:
    """The sample with the tolerance that its op has on XLA, and at least `floor`."""
    wider = max(TOLERANCES.get(sample.op, (0.0,))[0], floor)
    return dataclasses.replace(sample, tol=max(wider, sample.tol or 0.0)) if wider else sample
