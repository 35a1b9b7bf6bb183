"""Checksums by the processor's instruction are those of the tables."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio.base import crc32c
from intaglio.base.hooks import HOOKS
from intaglio.data.record_files import framed

RNG = np.random.default_rng(2)
LENGTHS = [*range(70), 255, 256, 257, 4099, 16384, 70001]
DATA = RNG.bytes(1 << 18)


@pytest.fixture(params=["compiler", "no compiler"])
def checksums(request, monkeypatch):
    if request.param == "compiler":
        monkeypatch.setattr(crc32c, "MIN_BYTES_FOR_COMPILER", 0)
    else:
        monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)


def _by_table(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc32c._TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


@pytest.mark.usefixtures("checksums")
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_of_every_length(kind):
    for length in LENGTHS:
        data = DATA[length % 5 :][:length]
        assert crc32c.crc32c(kind(data)) == _by_table(data), length


@pytest.mark.usefixtures("checksums")
def test_continued():
    for cut in (0, 1, 30, 5000):
        begun = crc32c.crc32c(DATA[:cut])
        assert crc32c.extend(begun, DATA[cut:20000]) == _by_table(DATA[:20000])


@pytest.mark.usefixtures("checksums")
def test_of_many_parts():
    lengths = np.array([*LENGTHS, 0, 3])
    starts = RNG.integers(0, len(DATA) - lengths.max(), lengths.size)
    found = crc32c.crc32c_of_each(DATA, starts, lengths)
    parts = [DATA[s : s + n] for s, n in zip(starts.tolist(), lengths.tolist(), strict=True)]
    assert found.dtype == np.uint32
    assert found.tolist() == [_by_table(part) for part in parts]


@pytest.mark.usefixtures("checksums")
def test_records_in_a_file():
    for records in ([b""], [b"one"], [DATA[:n] for n in LENGTHS[:30]]):
        whole = framed(records)
        at = 0
        for record in records:
            head = len(record).to_bytes(8, "little")
            check = crc32c.masked(_by_table(head)).to_bytes(4, "little")
            tail = crc32c.masked(_by_table(record)).to_bytes(4, "little")
            expected = head + check + record + tail
            assert whole[at : at + len(expected)] == expected
            at += len(expected)
        assert at == len(whole)
