"""Progress of long work: what is shown, where nothing is, and that it is gone afterwards."""

import io
import os
import sys
import threading
import time

import pytest

from intaglio import tf
from intaglio.base import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def screen(self) -> str:
        """What the line shows in the end."""
        text = ""
        for part in self.getvalue().split("\r"):
            text = part + text[len(part) :]
        return text.rstrip()


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """stderr as a terminal, from here on: pytest sets its own between the phases of a test."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "INTERVAL", 0.01)
    monkeypatch.setattr(progress, "CHOSEN", None)
    return stream


def wait_for(stream: io.StringIO, text: str) -> None:
    deadline = time.monotonic() + 20.0
    while text not in stream.getvalue():
        assert time.monotonic() < deadline, stream.getvalue()
        time.sleep(0.01)


def test_long_traces_are_shown_with_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)

    @tf.function(autograph=False)
    def slow(x):
        for _ in range(3):
            x = x + 1.0
        wait_for(terminal, "slow: ")
        return x

    slow(tf.constant(1.0))
    assert "tracing slow: 0 s, 7 nodes so far" in terminal.getvalue()
    assert "test_progress.py:" in terminal.getvalue()
    assert terminal.screen() == ""  # it is gone


def test_compilations_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)
    pytest.importorskip("llvmlite", reason="pip install 'intaglio[jit]'")
    from intaglio.native import compilation

    own = compilation._compiled

    def slowly(graph):
        wait_for(terminal, "compiling ")
        return own(graph)

    monkeypatch.setattr(compilation, "_compiled", slowly)
    f = tf.function(lambda x: tf.tanh(x) * 2.0, jit_compile=True)
    assert f(tf.ones([3])).shape == (3,)
    assert terminal.screen() == ""


def test_work_inside_work_and_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)

    def work(name: str) -> None:
        with progress.shown(name), progress.shown(f"part of {name}"):
            wait_for(terminal, f"part of {name}")

    threads = [threading.Thread(target=work, args=(n,)) for n in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30.0)
    assert terminal.screen() == ""


@pytest.mark.parametrize(
    ("variable", "terminal_there", "expected"),
    [
        (None, True, True),
        (None, False, False),
        ("0", True, False),
        ("", True, False),
        ("1", False, True),
    ],
)
def test_where_it_is_shown(monkeypatch, variable, terminal_there, expected) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal() if terminal_there else io.StringIO())
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    monkeypatch.setattr(progress, "CHOSEN", variable)
    assert progress.is_shown() is expected


def test_a_stream_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)
    with progress.shown("work"):
        wait_for(terminal, "work")
        terminal.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_process_shows_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)
    with progress.shown("parent"):
        wait_for(terminal, "parent")
        child = os.fork()
        if not child:
            with progress.shown("child"):
                wait_for(terminal, "child")
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
