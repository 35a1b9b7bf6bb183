"""Programs on several logical devices say what they said on TensorFlow 2.21."""

from __future__ import annotations

import pytest

from tests.distribute import recording


@pytest.mark.parametrize("name", recording.names())
def test_program(name: str) -> None:
    if name.startswith("keras") and not recording.has_keras():
        pytest.skip("keras is not installed: pip install 'intaglio[keras]'")
    found, expected = recording.said_here(name), recording.answers(name)
    assert found.keys() == expected.keys()
    differing = {label: (found[label], text) for label, text in expected.items()}
    assert {k: pair for k, pair in differing.items() if pair[0] != pair[1]} == {}
