"""A pytest plugin under which Keras' own tests run on Intaglio: `make keras-tests`.

Plugins named by `-p` are imported before any test: the name `tensorflow` must mean Intaglio
by then. Keras' tests also import the `conftest` of its repository, which wheels lack.
"""

from __future__ import annotations

import os
import sys
import types

import pytest

import intaglio

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
intaglio.install_as_tensorflow()


def skip_if_backend(given_backend: str, reason: str) -> pytest.MarkDecorator:
    """The mark by which Keras leaves tests out for a backend."""
    return pytest.mark.skipif(given_backend == "tensorflow", reason=reason)


_conftest = types.ModuleType("conftest")
vars(_conftest)["skip_if_backend"] = skip_if_backend
sys.modules.setdefault("conftest", _conftest)


def pytest_configure(config: pytest.Config) -> None:
    """The mark that Keras' tests use."""
    config.addinivalue_line("markers", "requires_trainable_backend: needs gradients")
