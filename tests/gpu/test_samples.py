"""The samples of all ops, called eagerly on a GPU: as on the host, within the tolerances of XLA's programs.

One part in PARTS is taken each time; `INTAGLIO_XLA_SAMPLES=all` takes all of them.
"""

from __future__ import annotations

import os
import zlib

import numpy as np
import pytest

from intaglio import tf
from tests.gpu.samples import FACTORS, GPU_TOLERANCE, WIDE_TOLERANCE
from tests.ops import calls
from tests.xla.differences import DIFFERENT
from tests.xla.test_samples import tolerant

PARTS = 48
WANTED = range(PARTS) if os.environ.get("INTAGLIO_XLA_SAMPLES") == "all" else range(1)


@pytest.mark.parametrize("part", WANTED)
def test_samples_are_equal_on_the_gpu(gpu, part):
    wrong: list[str] = []
    for name in calls.NAMES:
        for sample in calls.samples_of(name):
            if zlib.crc32(sample.label.encode()) % PARTS == part:
                wrong += _differences(gpu, sample)
    assert not wrong, "\n".join(wrong)


def _result(sample):
    """The arrays, or the type of the error."""
    try:
        return calls.eager(sample)
    except Exception as e:
        return e


def _differences(gpu, sample):
    wanted = _result(sample)
    with tf.device(gpu):
        found = _result(sample)
    if isinstance(wanted, Exception) or isinstance(found, Exception):
        if type(wanted) is type(found) and str(wanted) == str(found):
            return []
        if isinstance(wanted, tf.errors.OpError) and isinstance(found, list):
            return []  # programs do not check their data
        return [f"{sample!r}: {type(found)} {found} for {type(wanted)} {wanted}"[:500]]
    if sample.op in DIFFERENT or sample.nondeterministic:
        return []
    try:
        for mine, theirs in zip(found, wanted, strict=True):
            assert mine.dtype == theirs.dtype and mine.shape == theirs.shape, repr(sample)
            if sample.op in FACTORS:
                mine, theirs = np.abs(mine), np.abs(theirs)
            floor = GPU_TOLERANCE.get(theirs.dtype, WIDE_TOLERANCE)
            floor = floor if theirs.dtype.kind in "fc" else 0.0
            calls.assert_close(mine, theirs, tolerant(sample, floor))
    except AssertionError as e:
        return [str(e)[:500]]
    return []
