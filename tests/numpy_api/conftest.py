"""NumPy's behaviour for a test, and back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from intaglio import tf
from intaglio.numpy_api import np_config


@pytest.fixture
def numpy_behavior() -> Iterator[None]:
    """Tensors behave like arrays while the test runs."""
    tf.experimental.numpy.experimental_enable_numpy_behavior()
    yield
    np_config.disable_numpy_behavior()
