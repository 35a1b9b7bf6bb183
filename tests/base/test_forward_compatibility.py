"""`tf.compat.forward_compatible`: TensorFlow 2.21 was asked for the last day."""

from __future__ import annotations

import pytest

from intaglio import tf


def test_the_horizon_moves_within_its_block() -> None:
    assert tf.compat.forward_compatible(2026, 1, 15)
    assert not tf.compat.forward_compatible(2026, 1, 16)
    with tf.compat.forward_compatibility_horizon(2000, 1, 2):
        assert tf.compat.forward_compatible(2000, 1, 1)
        assert not tf.compat.forward_compatible(2026, 1, 15)
    assert tf.compat.forward_compatible(2026, 1, 15)
    with pytest.raises(ValueError):
        tf.compat.forward_compatible(2026, 2, 30)
