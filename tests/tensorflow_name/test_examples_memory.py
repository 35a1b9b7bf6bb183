"""A loop of `predict` keeps nothing of what it did."""

from __future__ import annotations

import importlib.util

import pytest

from tests.tensorflow_name.process import printed_by

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("keras") is None,
    reason="keras is not installed: pip install 'intaglio[keras]'",
)


def test_predict_in_a_loop_does_not_grow() -> None:
    lines = printed_by(
        """
        import gc, sys, threading, time
        import intaglio
        intaglio.install_as_tensorflow()
        import keras
        import numpy as np
        model = keras.Sequential(
            [keras.Input((16,)), keras.layers.Dense(8), keras.layers.Dense(2)]
        )
        x = np.ones((1, 16), "float32")

        def others():  # but for the pool of threads of compiled code, which stays
            threads = threading.enumerate()
            return len([t for t in threads if not t.name.startswith("native-")]) - 1

        def blocks(calls):
            for _ in range(calls):
                model.predict(x, verbose=0)
            ended = time.monotonic() + 5
            while others() and time.monotonic() < ended:
                time.sleep(0.001)  # threads that fetch ahead are on their way out
            gc.collect()
            return sys.getallocatedblocks()

        blocks(2000)  # caches fill, and what is hot is compiled
        before, after = (min(blocks(100) for _ in range(4)) for _ in range(2))
        print(after - before, others())
        """
    )
    blocks, threads = map(int, lines[0].split())
    assert blocks < 400  # one for each call between the two
    assert threads == 0
