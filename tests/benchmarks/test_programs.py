"""Every program of `benchmarks/programs`, with tiny inputs: its modes give the same results."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.programs.families import PROGRAMS
from benchmarks.programs.inputs import Inputs
from benchmarks.programs.measure import Figures, Measured, difference
from benchmarks.programs.page import Summary, page, slower
from benchmarks.programs.registry import Program
from benchmarks.programs.worker import Job, Run, arrays_of
from intaglio import tf

SEED = 4


def results(name: str, mode: str) -> dict[str, np.ndarray]:
    """What two calls of the step return."""
    run = Run(Job(name, mode, SEED, True, ""), tf)
    return {f"{call}-{n}": a for call in range(2) for n, a in enumerate(arrays_of(run()))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_modes_agree(name: str) -> None:
    program = PROGRAMS[name]
    expected = results(name, program.modes[0])
    assert expected
    for mode in program.modes[1:]:
        assert not difference(expected, results(name, mode), program.tolerance), mode


def test_there_are_enough_programs_unlike_each_other() -> None:
    assert len(PROGRAMS) >= 60
    assert len({p.family for p in PROGRAMS.values()}) >= 12


def test_inputs_follow_from_seed_and_name() -> None:
    def drawn(seed: int, name: str) -> list[float]:
        inputs = Inputs(seed, name)
        return [inputs.size(10, 1000), *inputs.normal(3), *inputs.pixels(2, 4, 5, 3).ravel()]

    assert drawn(1, "a") == drawn(1, "a")
    assert drawn(1, "a") != drawn(2, "a")
    assert drawn(1, "a") != drawn(1, "b")
    assert Inputs(1, "a").sentences(4) == Inputs(1, "a").sentences(4)


def test_sizes_are_multiples_within_their_range() -> None:
    inputs = Inputs(3, "sizes")
    assert all(
        size in range(24, 65, 8) for size in (inputs.size(24, 64, step=8) for _ in range(50))
    )


def test_differences_are_found() -> None:
    x = np.linspace(0, 1, 100, dtype="float32")
    assert not difference({"a": x}, {"a": x + 1e-5}, 1e-3)
    assert "100.0%" in difference({"a": x}, {"a": x + 0.1}, 1e-3)
    assert "shape" in difference({"a": x}, {"a": x[:-1]}, 1e-3)
    assert "instead" in difference({"a": x}, {}, 1e-3)
    assert difference({"a": np.array([b"x"])}, {"a": np.array([b"y"])}, 1e-3)
    assert difference({"a": np.array([1.0])}, {"a": np.array([np.nan])}, 1e-3)


def test_the_page_lists_what_is_slower() -> None:
    def step() -> None: ...

    program = Program("one", "family", lambda tf, inputs: (step, ()), ("eager", "jit"), 0.1, False)
    figures: dict[tuple[str, str], Figures | str] = {
        ("intaglio", "eager"): Figures(0.1, 0.004, 5e7),
        ("intaglio", "jit"): Figures(1.5, 0.003, 6e7),
        ("tensorflow", "eager"): Figures(0.2, 0.002, 3e8),
        ("tensorflow", "jit"): "refused",
    }
    found = Measured(program, figures, [], {"eager": 0.1, "jit": 0.2})
    assert slower([found]) == [(2.0, "one", "eager"), (1.5, "one", "best")]
    text = page([found], 1)
    assert "| one | 3 ms (jit) | 2 ms (eager) | **1.50** | **2.00** | - | - | 0.50 |" in text
    assert "- one: 1.50" in text
    assert "All runs" not in text
    runs = [Summary("2026-11-22", 7, 2, 0.6, 1, 2.5, 0.4, 1.5, 0.3), Summary.of([found], 1)]
    assert runs[1][1:] == (1, 1, 1.5, 1, 1.5, 0.0, 0.0, 0.2)
    text = page([found], 1, runs)
    assert "| 2026-11-22 | 7 | 2 | 0.60 | 1 | **2.50** | 0.40 | **1.50** | 0.30 |" in text
