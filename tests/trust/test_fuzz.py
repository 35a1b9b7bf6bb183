"""The fuzzers: valid inputs are read, inputs follow from their numbers, nothing is found in a few."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from trust import fuzz
from trust.fuzzing import runner
from trust.fuzzing.runner import Format

# Keras takes seconds to import.
QUICK = [kind for kind in fuzz.FORMATS if kind.name not in ("keras", "hdf5")]


def named(kind: type[Format]) -> str:
    return kind.name


@pytest.fixture
def ready(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("INTAGLIO_CACHE", "")
    return lambda kind: runner.ready(kind, tmp_path, tmp_path)


@pytest.mark.parametrize("kind", QUICK, ids=named)
def test_valid_inputs_are_read(kind: type[Format], ready: Any) -> None:
    made = ready(kind)
    made.run(made.valid())


@pytest.mark.parametrize("kind", QUICK, ids=named)
def test_inputs_follow_from_their_numbers(kind: type[Format], ready: Any) -> None:
    made = ready(kind)
    first, again, other = (
        [made.make(runner.generator(seed, kind.name, i)) for i in range(8)] for seed in (0, 0, 1)
    )
    assert repr(first) == repr(again)
    assert repr(first) != repr(other)
