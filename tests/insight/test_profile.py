"""Profiles: the lines and ops that take the time, and files that others read."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from intaglio.base.origins import PACKAGE, Frame
from intaglio.graphdef import profile_messages
from intaglio.insight.profile_files import chrome_trace
from intaglio.insight.profiling import Profile, Sample, Step, _stack


def slow(x: Any) -> Any:
    end = time.perf_counter() + 0.03
    while time.perf_counter() < end:
        pass
    return x


@tf.function
def graph(x: Any) -> Any:
    x = tf.numpy_function(slow, [x], tf.float32)
    return tf.linalg.expm(tf.reshape(x, [2, 2]))


def test_time_goes_to_the_users_lines() -> None:
    x = tf.zeros([4])
    graph(x)
    with intaglio.profile(0.001) as p:
        for _ in range(4):
            graph(x)
            slow(x)
    assert p.seconds >= 0.2
    longest = p.lines[0]
    assert longest.where.function == "slow" and longest.share > 0.5
    assert sum([t.share for t in p.ops]) == pytest.approx(1.0)
    # Below the callback of a graph is the line of the traced function that made it.
    stacks = [[s.where.function for s in sample.stack if s.where] for sample in p.samples]
    assert any(["graph" in s[:-1] and s[-1] == "slow" for s in stacks])
    assert "slow" in str(p) or "perf_counter" in str(p)


def test_a_profile_runs_once_and_restores_the_interval() -> None:
    before = sys.getswitchinterval()
    p = intaglio.profile()
    with pytest.raises(KeyError), p:
        raise KeyError
    assert sys.getswitchinterval() == before
    with pytest.raises(RuntimeError, match="has run"), p:
        pass
    with pytest.raises(ValueError, match="positive"):
        intaglio.profile(0)


def made() -> Profile:
    """A profile with known samples: `outer` calls a product, then a sum, then waits."""
    p = Profile(0.001)
    p.seconds, p.began, p.threads = 0.007, 10**18, {7: "main"}
    outer = Step(Frame("/a/train.py", 3, "outer"), "")
    product = Step(Frame("/a/train.py", 9, "inner"), "MatMul")
    total = Step(Frame("/a/train.py", 10, "inner"), "one loop: Mul, Tanh")
    ms = 10**6
    for at, stack in (
        (0, (outer, product)),
        (1, (outer, product)),
        (2, (outer, total)),
        (5, (outer,)),
    ):
        p.samples.append(Sample(7, at * ms, ms, stack))
    return p


def test_chrome_events_are_nested_and_merged() -> None:
    events = [e for e in chrome_trace(made())["traceEvents"] if e["ph"] == "X"]
    found = [(e["name"], e["ts"], e["dur"]) for e in events]
    assert found == [
        ("outer (train.py:3)", 0, 3000),
        ("inner (train.py:9)", 0, 2000),
        ("MatMul", 0, 2000),
        ("inner (train.py:10)", 2000, 1000),
        ("one loop: Mul, Tanh", 2000, 1000),
        ("outer (train.py:3)", 5000, 1000),
    ]


def test_files_have_the_forms_of_their_readers(tmp_path: pathlib.Path) -> None:
    p = made()
    for suffix in (".html", ".speedscope.json", ".trace.json", ".trace.json.gz", ".xplane.pb"):
        intaglio.save_profile(p, tmp_path / f"p{suffix}")
    scope = json.loads((tmp_path / "p.speedscope.json").read_text())
    (thread,) = scope["profiles"]
    assert thread["name"] == "main" and sum(thread["weights"]) == 4 * 10**6
    names = [f["name"] for f in scope["shared"]["frames"]]
    assert [names[i] for i in thread["samples"][2]][-1] == "one loop: Mul, Tanh"
    trace = json.loads(gzip.decompress((tmp_path / "p.trace.json.gz").read_bytes()))
    assert trace == json.loads((tmp_path / "p.trace.json").read_text())
    space = profile_messages.XSpace.FromString((tmp_path / "p.xplane.pb").read_bytes())
    (plane,) = space.planes
    (line,) = plane.lines
    assert plane.name == "/host:CPU" and line.timestamp_ns == 10**18
    product = next(e for e in line.events if plane.event_metadata[e.metadata_id].name == "MatMul")
    assert (product.offset_ps, product.duration_ps) == (0, 2 * 10**9)
    assert product.stats[0].str_value == "train.py:9"
    assert "MatMul" in (tmp_path / "p.html").read_text(encoding="utf-8")
    intaglio.save_profile(p, tmp_path / "logs")
    written = sorted([f.name.split(".", 1)[1] for f in (tmp_path / "logs").rglob("*.*")])
    assert [w for w in written if "xplane" in w] and [w for w in written if "trace" in w]
    with pytest.raises(ValueError, match="ends in none of"):
        intaglio.save_profile(p, tmp_path / "p.txt")


def test_machine_code_is_named() -> None:
    @tf.function(jit_compile=True)
    def f(x: Any) -> Any:
        return tf.tanh(x @ x) * 2.0 + 1.0

    x = tf.constant(np.ones([300, 300], np.float32))
    f(x)
    with intaglio.profile(0.001) as p:
        end = time.perf_counter() + 10.0
        while not p.machine_code and time.perf_counter() < end:
            for _ in range(20):
                f(x)
    (steps,) = p.machine_code.values()
    assert any(["MatMul" in s.name for s in steps])
    assert any(["Tanh" in s.name for s in steps])


def test_waiting_in_pythons_library_for_the_package_is_the_callers() -> None:
    library = compile("def wait(call): return call()", threading.__file__, "exec")
    package = compile(
        "def run(wait, call): return wait(call)", os.path.join(PACKAGE, "run.py"), "exec"
    )
    space: dict[str, Any] = {}
    exec(library, space)
    exec(package, space)
    found = space["run"](space["wait"], lambda: _stack(sys._getframe(1), {}))
    assert found[-1].where is not None and found[-1].where.filename == __file__
