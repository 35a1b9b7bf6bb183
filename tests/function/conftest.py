"""What several tests of functions start from."""

from __future__ import annotations

import gc

import pytest

import intaglio
from intaglio import tf


@pytest.fixture
def no_other_traces() -> None:
    """Functions of other tests have traces too: a new trace, the only one allowed, removes them all."""
    gc.collect()
    with intaglio.trace_cache(max_traces=1):
        tf.function(lambda x: x)(tf.ones([1]))
    gc.collect()
