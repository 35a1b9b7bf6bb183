"""Colours by machine code have NumPy's bits."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.opdef import machine_code

RNG = np.random.default_rng(0)
CALLS = {
    "hsv": tf.image.rgb_to_hsv,
    "rgb": tf.image.hsv_to_rgb,
    "hue": lambda x: tf.image.adjust_hue(x, 0.3),
    "hue back": lambda x: tf.image.adjust_hue(x, -0.9),
    "saturation": lambda x: tf.image.adjust_saturation(x, 1.7),
    "no saturation": lambda x: tf.image.adjust_saturation(x, 0.0),
}


def _images():
    for count in (1, 2, 15, 16, 17, 33, 1000, 20000):
        yield RNG.random((1, count, 3))
        yield RNG.standard_normal((1, count, 3)) * 3  # beyond what colours are
    steps = np.linspace(0, 1, 5)
    yield np.stack(np.meshgrid(steps, steps, steps), axis=-1)  # equal channels too
    odd = RNG.random((1, 40, 3))
    odd[0, ::7, 1], odd[0, ::5, 0], odd[0, 3:6, 2] = np.nan, np.inf, -np.inf
    yield odd


@pytest.mark.parametrize("name", CALLS)
def test_the_same_bits(name, monkeypatch):
    for image in _images():
        x = tf.constant(image, tf.float32)
        with monkeypatch.context() as patch, np.errstate(all="ignore"):
            patch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
            patch.setattr(machine_code, "IN_BACKGROUND", False)
            got = CALLS[name](x).numpy()
            patch.setattr(HOOKS, "select_kernel", lambda *_: None)
            wanted = CALLS[name](x).numpy()
        np.testing.assert_array_equal(got, wanted)
