"""The fuzzers: valid inputs are read, inputs follow from their numbers, nothing is found in a few."""

from __future__ import annotations

import ast
import os
import pathlib
import subprocess
import sys
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


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=pathlib.Path(fuzz.__file__).parents[1],
        env={**os.environ, "INTAGLIO_CACHE": "", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_few_hundred_inputs_have_no_findings() -> None:
    names = [kind.name for kind in QUICK if kind.name != "saved_model"]
    chosen = [part for name in names for part in ("--format", name)]
    done = run("-m", "trust.fuzz", "--count", "400", "--seed", "7", *chosen)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| tensor |" in done.stdout


WRONG = """
import os, pathlib, signal, sys, time
from trust.fuzzing import runner

def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass

class Wrong(runner.Format):
    name = "wrong"
    def seeds(self): return None
    def make(self, rng): self.count = getattr(self, "count", 0) + 1; return rng.random()
    def valid(self): return None
    def run(self, value):
        if value is None: return work(2.0)
        index = NUMBERS[value]
        if index == 2: os.kill(os.getpid(), signal.SIGSEGV)
        if index == 4: raise KeyError("k")
        if index == 5: raise ValueError("v")
        if index == 6:
            while True: pass
        if index == 7: raise MemoryError

NUMBERS = {runner.generator(0, "wrong", i).random(): i for i in range(10)}
runner.CPU_SECONDS = 0.5
rows, findings = runner.run([Wrong], [10], 0, 2)
print(sorted((f.index, f.verdict, f.what) for f in findings))
print(sorted(rows[0].counts.items()))
"""


# The first input that a process reads imports what reads it, which is no hang.
def test_every_kind_of_finding_is_seen_and_the_rest_goes_on() -> None:
    done = run("-c", WRONG)
    found, counts = done.stdout.splitlines()
    assert ast.literal_eval(found) == [
        (2, "crash", "crash: SIGSEGV"),
        (4, "other", "KeyError: 'k'"),
        (6, "hang", "hang"),
        (7, "memory", "MemoryError"),
    ]
    assert dict(ast.literal_eval(counts)) == {
        "crash": 1,
        "error": 1,
        "fine": 5,
        "hang": 1,
        "memory": 1,
        "other": 1,
    }


def test_an_input_can_be_run_again() -> None:
    done = run("-m", "trust.fuzz", "--format", "tensor", "--seed", "3", "--only", "5")
    assert done.stdout.startswith("(b'")
