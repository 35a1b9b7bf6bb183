"""A pytest plugin for Keras' own tests: what they expect around them, and their outcomes.

Knows nothing of Intaglio: the same plugin runs them on real TensorFlow. The tests import
the `conftest` of Keras' repository, which wheels lack. With `KERAS_OUTCOMES=file` the
outcome of each test is written there as JSON: test -> [outcome, the error's last line].
"""

from __future__ import annotations

import json
import os
import sys
import types

import pytest

os.environ.setdefault("KERAS_BACKEND", "tensorflow")

_OUTCOMES: dict[str, tuple[str, str]] = {}
_WORSE = ("passed", "skipped", "failed")


def skip_if_backend(given_backend: str, reason: str) -> pytest.MarkDecorator:
    """The mark by which Keras leaves tests out for a backend."""
    return pytest.mark.skipif(given_backend == "tensorflow", reason=reason)


_conftest = types.ModuleType("conftest")
vars(_conftest)["skip_if_backend"] = skip_if_backend
sys.modules.setdefault("conftest", _conftest)


def pytest_configure(config: pytest.Config) -> None:
    """The mark that Keras' tests use."""
    config.addinivalue_line("markers", "requires_trainable_backend: needs gradients")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keeps the worst of a test's phases."""
    before = _OUTCOMES.get(report.nodeid)
    if before is None or _WORSE.index(before[0]) < _WORSE.index(report.outcome):
        _OUTCOMES[report.nodeid] = (report.outcome, _said(report.longrepr))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be imported counts as one failing test."""
    if report.failed:
        _OUTCOMES[report.nodeid] = ("failed", _said(report.longrepr))


def pytest_sessionfinish() -> None:
    """Writes the file."""
    path = os.environ.get("KERAS_OUTCOMES")
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(_OUTCOMES, file, indent=0, sort_keys=True)


def _said(longrepr: object) -> str:
    """The first line of what an error says."""
    if longrepr is None:
        return ""
    if isinstance(longrepr, tuple):  # a skip: file, line, reason
        return str(longrepr[-1])
    crash = getattr(longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(longrepr).strip()
    lines = text.splitlines() if crash is not None else text.splitlines()[::-1]
    return next((line.removeprefix("E   ").strip() for line in lines if line.strip()), "")
