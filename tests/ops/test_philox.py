"""The cipher against its authors' test vectors, and streams against one another."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio.ops.random import philox
from intaglio.ops.random.philox import Stream

ONES = 2**64 - 1
PI = Stream(0x299F31D0A4093822, 0x85A308D3243F6A88, 0x0370734413198A2E)

# Philox4x32-10 in the test vectors published with the paper (Random123, kat_vectors).
VECTORS = [
    (Stream(0, 0, 0), [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    (Stream(ONES, ONES, ONES), [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (PI, [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
]


@pytest.mark.parametrize(("stream", "block"), VECTORS)
@pytest.mark.parametrize("count", [1, philox.MAX_PYTHON_BLOCKS + 1])
def test_known_answers(stream, block, count):
    assert philox.blocks(stream, count)[0].tolist() == block


@pytest.mark.parametrize("low", [0, ONES - 3])
def test_counters_carry(low):
    stream = Stream(5, low, ONES)
    many = philox.blocks(stream, philox.CHUNK_BLOCKS + 20)
    for i in (0, 3, 4, 5, 19, philox.CHUNK_BLOCKS - 1, philox.CHUNK_BLOCKS + 19):
        assert many[i].tolist() == philox.blocks(stream.skipped(i), 1)[0].tolist()


@pytest.mark.parametrize("draw", [philox.uniform, philox.normal, philox.truncated_normal])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_longer_samples_begin_like_shorter_ones(draw, dtype):
    long = draw(PI, 3 * philox.CHUNK_BLOCKS, np.dtype(dtype))
    for count in (0, 1, 5, philox.CHUNK_BLOCKS + 1):
        assert (draw(PI, count, np.dtype(dtype)) == long[:count]).all()


def test_moments():
    count = 200_000
    uniform = philox.uniform(PI, count, np.dtype("float64"))
    assert uniform.min() >= 0 and uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.003
    normal = philox.normal(PI, count, np.dtype("float64"))
    assert abs(normal.mean()) < 0.01 and abs(normal.std() - 1) < 0.01
    near = philox.truncated_normal(PI, count, np.dtype("float64"))
    assert np.abs(near).max() < 2 and abs(near.std() - 0.8796) < 0.01
    faces = philox.uniform_int(PI, count, -3, 3, np.dtype("int32"))
    assert (np.abs(np.bincount(faces + 3) / count - 1 / 6) < 0.005).all()
    assert sorted(philox.permutation(PI, 50).tolist()) == list(range(50))
