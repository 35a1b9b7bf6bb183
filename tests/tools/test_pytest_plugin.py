"""The pytest plugin, in a pytest of its own, which finds it by its entry point."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from intaglio import tf
from intaglio.insight.assertions import (
    assert_graph_ops,
    assert_no_retrace,
    assert_no_stale_captures,
    assert_traces,
)

MODULE = """
from intaglio import tf

scale = 2.0

@tf.function
def f(x, n=1):
    return tf.nn.relu(x) * scale * n

def test_right(assert_traces, assert_no_retrace, assert_graph_ops, assert_no_stale_captures):
    f(tf.ones([2]))
    with assert_no_retrace():
        f(tf.zeros([2]))
    assert_traces(f, 1)
    assert_graph_ops(f, Relu=1, MatMul=0)
    assert_no_stale_captures(f)

def test_retraced(assert_no_retrace):
    f(tf.ones([2]))
    with assert_no_retrace(f):
        f(tf.ones([3]))

def test_verified(assert_verified):
    assert float(assert_verified(f, tf.constant(2.0))) == 4.0

def test_not_verified(assert_verified):
    count = []

    @tf.function
    def g(x):
        return x * len(count)

    g(tf.constant(2.0))
    count.append(1)
    assert_verified(g, tf.constant(2.0))

def test_stale():
    global scale
    f(tf.ones([2]))
    scale = 3.0
    f(tf.ones([2]))
"""


def outcome(folder: pathlib.Path, *options: str) -> str:
    (folder / "test_it.py").write_text(MODULE, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null"]
    command += ["--rootdir", str(folder), *options]
    done = subprocess.run(
        [*command, str(folder / "test_it.py")], capture_output=True, text=True, timeout=120
    )
    return done.stdout + done.stderr


def test_fixtures_say_why_a_function_was_traced_again(tmp_path: pathlib.Path) -> None:
    shown = outcome(tmp_path)
    assert "2 failed, 3 passed" in shown and "g:" in shown
    assert "f was traced again, 1 times" in shown and "x.shape[0] was 2, now 3" in shown


def test_the_strict_option_makes_stale_captures_errors(tmp_path: pathlib.Path) -> None:
    shown = outcome(tmp_path, "--intaglio-strict")
    assert "3 failed, 2 passed" in shown and "StaleCaptureError" in shown


@tf.function
def model(x: tf.Tensor) -> tf.Tensor:
    return tf.matmul(x, x) @ x


def test_assertions_tell_what_there_is() -> None:
    with pytest.raises(ValueError, match="model has no trace yet"):
        assert_graph_ops(model, MatMul=2)
    model(tf.ones([2, 2]))
    assert_graph_ops(model, MatMul=2, Relu=0)
    with pytest.raises(AssertionError, match=r"2 MatMul, not 1\. It has"):
        assert_graph_ops(model, MatMul=1)
    assert_traces(model, 1)
    with pytest.raises(AssertionError, match="model was traced 1 times, not 2"):
        assert_traces(model, 2)
    with pytest.raises(TypeError, match=r"expected a tf\.function"):
        assert_traces(len, 1)


def test_new_functions_may_be_traced_once() -> None:
    with assert_no_retrace():
        tf.function(lambda x: x + 1)(tf.ones([2]))
    f = tf.function(lambda x: x + 1)
    with pytest.raises(AssertionError, match="traced again"), assert_no_retrace():
        f(tf.ones([2]))
        f(tf.ones([3]))


numbers = [1.0]


@tf.function
def scaled(x: tf.Tensor) -> tf.Tensor:
    return x * numbers[0]


def test_stale_captures_are_named() -> None:
    scaled(tf.ones([]))
    assert_no_stale_captures(scaled)
    numbers[0] = 5.0
    with pytest.raises(AssertionError, match=r"scaled: numbers\[0\] was 1.0, now 5.0"):
        assert_no_stale_captures(scaled)
    numbers[0] = 1.0
