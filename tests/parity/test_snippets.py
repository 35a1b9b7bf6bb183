"""Snippets of user code give here what TensorFlow 2.21 gave."""

from __future__ import annotations

import re

import pytest

from intaglio import tf
from tests.parity import snippets

CASES = [
    pytest.param(file.stem, program, id=f"{file.stem}-{i}")
    for file in sorted(snippets.FOLDER.glob("*.txt"))
    for i, program in enumerate(snippets.programs(file.stem))
]


def _plain(text: str) -> str:
    """Without what differs between two runs of one program: addresses and node numbers."""
    return re.sub(r"0x[0-9a-f]+", "0x", text)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("file", "program"), CASES)
def test_snippet(file: str, program: str) -> None:
    expected = snippets.answers(file)[program]
    got = snippets.run(program, tf)
    for part in ("error", "value", "printed"):
        mine, theirs = _plain(got.get(part, "")), _plain(expected.get(part, ""))
        assert mine == theirs, f"{part} of\n{program}"
