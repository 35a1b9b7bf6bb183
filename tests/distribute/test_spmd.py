"""Replicas as one SPMD program of XLA: the numbers of replicas that are run one by one, within 1e-5."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from intaglio import xla
from tests.distribute import recording

pytestmark = pytest.mark.skipif(not xla.is_installed(), reason=xla.INSTALL)
# `jit_compile=True` refuses functions that read datasets.
REFUSED = {"in a loop of a graph", "by an iterator in a graph"}
# Steps that are carried out for one replica after the other, inside or outside of an XLA program.
NO_PROGRAM = {
    "one device after it",
    "a copy besides the variable",
    "parts of unlike shapes",
    "shapes that depend on data",
    "random numbers",
    "a variable of no strategy that is written",
    "python code that knows the replica",
    "a shape from the number of the replica",
    "a merged function that looks at replicas",
    "an error in a replica",
    "two strategies in a function",
}


def lines(*command: str) -> list[Any]:
    """The lines of JSON that a program prints."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=recording.ROOT,
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", ["mirrored", "tapes", "functions"])
def test_programs_say_what_tensorflow_says(name: str) -> None:
    found, expected = recording.said_here(name, "--xla"), recording.answers(name)
    differing = {k: found[k] for k, v in expected.items() if not recording.are_close(found[k], v)}
    assert {k: v for k, v in differing.items() if k not in REFUSED} == {}


def test_cases_give_what_replicas_one_by_one_give() -> None:
    native = lines("tests.distribute.programs_of_replicas", "native")
    found = lines("tests.distribute.programs_of_replicas", "xla")
    assert [name for name, *_ in found] == [name for name, *_ in native]
    for (name, answer, is_program), (_, expected, _) in zip(found, native, strict=True):
        assert is_program == (name not in NO_PROGRAM), name
        _check_close(name, answer, expected)


def _check_close(name: str, found: Any, expected: Any) -> None:
    if isinstance(expected, (list, dict)):
        keys = expected if isinstance(expected, dict) else range(len(expected))
        assert len(found) == len(expected), name
        for key in keys:
            _check_close(name, found[key], expected[key])
    elif isinstance(expected, float):
        assert np.isclose(found, expected, 1e-5, 1e-5), name
    else:
        assert found == expected, name


def test_random_steps() -> None:
    """Of 60 steps from seed 0 none differed; each test run tries the first ones."""
    (found,) = lines("tests.distribute.random_steps", "0", "12")
    assert found == {"differing": [], "programs": 12, "steps": 12}
