"""Checksums: the published ones, and many at once as one by one."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio.base.crc32c import crc32c, crc32c_of_each, extend, masked, masked_all


def test_published_checksums():
    # RFC 3720, B.4.
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E
    assert extend(crc32c(b"1234"), b"56789") == crc32c(b"123456789") == 0xE3069283


@pytest.mark.parametrize(
    "lengths",
    [[*range(300)], [200] * 50, [20000] * 3, [16383, 16384, 70001, 5, 0, 64, 65, 127, 128]],
)
def test_many_at_once(lengths):
    sizes = np.array(lengths)
    data = np.random.default_rng(1).bytes(int(sizes.sum()) + 7)
    starts = 7 + np.cumsum(sizes) - sizes
    found = crc32c_of_each(data, starts, sizes)
    one_by_one = [crc32c(data[s : s + n]) for s, n in zip(starts.tolist(), lengths, strict=True)]
    assert found.tolist() == one_by_one
    assert masked_all(found).tolist() == [masked(c) for c in one_by_one]
