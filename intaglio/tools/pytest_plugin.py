"""The pytest plugin: fixtures that assert how functions are traced, and `--intaglio-strict`.

    def test_one_trace(assert_traces, assert_no_retrace):
        f(x)
        with assert_no_retrace():
            f(y)
        assert_traces(f, 1)

pytest finds it when Intaglio is installed (entry point `pytest11`).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

_HELP = "fail a test that uses values that changed after tracing, or what only Intaglio converts"


def pytest_addoption(parser: Any) -> None:
    """Adds `--intaglio-strict`."""
    group = parser.getgroup("intaglio")
    group.addoption("--intaglio-strict", action="store_true", help=_HELP)


def _assertion(name: str) -> Any:
    return getattr(importlib.import_module("intaglio.insight.assertions"), name)


@pytest.fixture
def assert_traces() -> Any:
    """`assert_traces(f, 1)`: how often a function was traced."""
    return _assertion("assert_traces")


@pytest.fixture
def assert_no_retrace() -> Any:
    """`with assert_no_retrace(f):` no function is traced again in the block."""
    return _assertion("assert_no_retrace")


@pytest.fixture
def assert_graph_ops() -> Any:
    """`assert_graph_ops(f, MatMul=2)`: the ops of the last trace."""
    return _assertion("assert_graph_ops")


@pytest.fixture
def assert_no_stale_captures() -> Any:
    """`assert_no_stale_captures(f)`: what traces read of Python's state is as it was."""
    return _assertion("assert_no_stale_captures")


@pytest.fixture
def assert_verified() -> Any:
    """`assert_verified(f, x)`: a call gives the same eagerly, as a graph and as machine code; its result."""
    return _verified


def _verified(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a call that `intaglio.verify` carries out. Raises AssertionError where it differs."""
    intaglio = importlib.import_module("intaglio")
    try:
        return intaglio.verify(function)(*args, **kwargs)
    except intaglio.VerificationError as e:
        raise AssertionError(str(e)) from None


@pytest.fixture(autouse=True)
def _intaglio_strict(request: pytest.FixtureRequest) -> Iterator[None]:
    """With `--intaglio-strict`: changed captures are errors, and conversion is TensorFlow's."""
    if not request.config.getoption("--intaglio-strict"):
        yield
        return
    intaglio = importlib.import_module("intaglio")
    with ExitStack() as stack:
        stack.enter_context(intaglio.captures("error"))
        stack.enter_context(intaglio.strict())
        yield
