"""A loop of `predict` keeps nothing of what it did."""

from __future__ import annotations

import importlib.util

import pytest

from tests.keras_bridge.process import printed_by

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("keras") is None,
    reason="keras is not installed: pip install 'intaglio[keras]'",
)


def test_predict_in_a_loop_does_not_grow() -> None:
    lines = printed_by(
        """
        import gc, threading, tracemalloc
        import intaglio
        intaglio.install_as_tensorflow()
        import keras
        import numpy as np
        model = keras.Sequential(
            [keras.Input((16,)), keras.layers.Dense(8), keras.layers.Dense(2)]
        )
        x = np.ones((1, 16), "float32")

        def state():
            for _ in range(100):
                model.predict(x, verbose=0)
            gc.collect()
            held = tracemalloc.get_traced_memory()[0]
            return held, len(gc.get_objects()), threading.active_count()

        tracemalloc.start()
        state()
        before, after = state(), state()
        print(*[b - a for a, b in zip(before, after)])
        """
    )
    held, objects, threads = map(int, lines[0].split())
    assert held < 20_000  # 100 calls that each kept one small object would hold more
    assert objects < 50
    assert threads == 0
