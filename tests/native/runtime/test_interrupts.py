"""Ctrl-C ends loops of machine code, and variables are as before the call then."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from typing import Any

import pytest

from intaglio.cpython import eval_breaker
from intaglio.native.runtime.interrupts import watch

# A loop that is not ended runs longer than this.
MAX_SECONDS = 120


def seen(case: str, **environment: str) -> Any:
    """What a process saw that was sent signals."""
    command = [sys.executable, "-m", "tests.native.runtime.interrupted", case]
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        timeout=MAX_SECONDS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "ignored" not in done.stderr
    return ast.literal_eval(done.stdout)


@pytest.mark.parametrize("body", ["plain", "nested", "called_back", "matrices"])
def test_an_interrupt_ends_a_compiled_loop(body: str) -> None:
    assert seen(f"{body}:jit", INTAGLIO_THREADS="2") == [True, True]


@pytest.mark.parametrize("environment", [{}, {"INTAGLIO_PORTABLE": "1"}])
def test_an_interrupt_ends_an_interpreted_loop(environment: dict[str, str]) -> None:
    assert seen("nested", **environment) == [True, True]


def test_an_interrupt_ends_a_loop_that_changed_over() -> None:
    assert seen("in_the_background") is True


def test_portable_builds_interrupt_what_should_be_compiled() -> None:
    assert seen("plain:jit", INTAGLIO_PORTABLE="1") == [True, True]


def test_variables_keep_the_values_before_the_call() -> None:
    assert seen("variables") == [True, True, True]


def test_handlers_that_return_run_during_the_loop() -> None:
    before_the_end, value, result, variable = seen("handlers")
    assert before_the_end
    assert value == [0] * 4  # what the variable was when the call began
    assert result and variable


def test_loops_of_other_threads_go_on() -> None:
    assert seen("other_threads") == [True, [[4]]]


def test_the_place_of_the_eval_breaker_is_known() -> None:
    state = eval_breaker.main_thread_state()
    assert state and eval_breaker.eval_breaker(state)
    assert watch().address


def test_an_unknown_layout_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eval_breaker, "_VERSION", (2, 7))
    assert eval_breaker.eval_breaker(eval_breaker.main_thread_state()) == 0
