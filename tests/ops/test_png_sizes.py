"""PNG files are read back as they were, and hardly larger than with the slower search."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from intaglio import tf

RNG = np.random.default_rng(0)
Y, X = np.mgrid[0:300, 0:400]


def _photograph(channels):
    waves = [np.sin(X / (9 + c)) + np.cos(Y / (7 + 2 * c)) for c in range(channels)]
    noise = RNG.normal(size=(300, 400, channels)) * 5
    return np.clip(np.stack(waves, -1) * 50 + 128 + noise, 0, 255).astype(np.uint8)


IMAGES = {
    "a photograph": _photograph(3),
    "grey": _photograph(1),
    "with opacity": _photograph(4),
    "noise": RNG.integers(0, 256, (300, 400, 3)).astype(np.uint8),
    "tiles": np.tile(RNG.integers(0, 256, (20, 25, 3)).astype(np.uint8), (15, 16, 1)),
    "one colour": np.full((300, 400, 3), 7, np.uint8),
    "few rows": RNG.integers(0, 256, (2, 90000, 3)).astype(np.uint8),
    "few columns": RNG.integers(0, 256, (90000, 1, 3)).astype(np.uint8),
    "small": _photograph(3)[:20, :20],
}


@pytest.mark.parametrize("name", IMAGES)
def test_png(name):
    image = IMAGES[name]
    data = tf.io.encode_png(image).numpy()
    np.testing.assert_array_equal(tf.io.decode_png(data), image)
    file = io.BytesIO()
    Image.fromarray(image[..., 0] if image.shape[-1] == 1 else image).save(file, "PNG")
    assert len(data) <= 1.1 * len(file.getvalue())
