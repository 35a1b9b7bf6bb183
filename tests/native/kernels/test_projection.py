"""Images through projective maps by machine code have NumPy's bits."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.opdef import machine_code

RNG = np.random.default_rng(0)
SHAPES = [((1, 1, 1, 1), (2, 3)), ((2, 5, 7, 3), (6, 4)), ((3, 33, 20, 2), (40, 41))]


def _transforms(count):
    found = np.tile(np.array([1, 0, 0, 0, 1, 0, 0, 0], np.float32), (count, 1))
    found += RNG.standard_normal((count, 8)).astype(np.float32) * [
        0.3,
        0.3,
        3,
        0.3,
        0.3,
        3,
        0.02,
        0.02,
    ]
    found[0, 6:] = 0, -0.5  # the third row is at no depth
    return found.astype(np.float32)


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "WRAP", "NEAREST"])
@pytest.mark.parametrize("how", ["NEAREST", "BILINEAR"])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "float16", "int32", "float64"])
def test_projection(dtype, how, mode, monkeypatch):
    for shape, size in SHAPES:
        images = (RNG.standard_normal(shape) * 50 + 100).astype(dtype)
        for count in {1, shape[0]}:
            transforms = _transforms(count)

            def project(images=images, transforms=transforms, size=size):
                return tf.raw_ops.ImageProjectiveTransformV3(
                    images=images, transforms=transforms, output_shape=size, fill_value=3.5,
                    interpolation=how, fill_mode=mode,
                ).numpy()  # fmt: skip

            with monkeypatch.context() as patch:
                patch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
                patch.setattr(machine_code, "IN_BACKGROUND", False)
                got = project()
                patch.setattr(HOOKS, "select_kernel", lambda *_: None)
                wanted = project()
            assert got.dtype == wanted.dtype == dtype
            np.testing.assert_array_equal(got, wanted)
