"""tf.image and tf.signal in graphs that know nothing, or the rank only, of the shapes."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf

rng = np.random.RandomState(3)
IMAGE = rng.uniform(0, 1, (5, 6, 3)).astype("float32")
BATCH = rng.uniform(0, 1, (2, 12, 9, 3)).astype("float32")
SOUND = rng.uniform(-1, 1, (2, 40)).astype("float32")

IMAGES = {
    "central_crop": lambda x: tf.image.central_crop(x, 0.6),
    "crop": lambda x: tf.image.crop_to_bounding_box(x, 1, 2, 3, 3),
    "pad": lambda x: tf.image.pad_to_bounding_box(x, 1, 2, 14, 15),
    "crop_or_pad": lambda x: tf.image.resize_with_crop_or_pad(x, 8, 8),
    "flip": lambda x: tf.image.flip_left_right(tf.image.flip_up_down(x)),
    "rot90": lambda x: tf.image.rot90(x, 3),
    "transpose": tf.image.transpose,
    "gray": tf.image.rgb_to_grayscale,
    "standard": tf.image.per_image_standardization,
    "hue": lambda x: tf.image.adjust_hue(x, 0.2),
    "contrast": lambda x: tf.image.adjust_contrast(x, 0.2),
    "flipped": lambda x: tf.image.stateless_random_flip_left_right(x, (1, 2)),
    "random_crop": lambda x: tf.image.stateless_random_crop(
        x, tf.concat([tf.shape(x)[:-3], [2, 3, 3]], 0), (1, 2)
    ),
    "psnr": lambda x: tf.image.psnr(x, x * 0.9, 1.0),
    "ssim": lambda x: tf.image.ssim(x, x * 0.9, 1.0, filter_size=3),
}
# These need to know the rank, as in TensorFlow.
RANKED = {
    "resize": lambda x: tf.image.resize(x, [3, 4]),
    "ratio": lambda x: tf.image.resize(x, [3, 4], preserve_aspect_ratio=True),
    "lanczos": lambda x: tf.image.resize(x, [3, 4], "lanczos3", antialias=True),
    "with_pad": lambda x: tf.image.resize_with_pad(x, 7, 4),
    "variation": tf.image.total_variation,
}
BATCHES = {
    "scales": lambda x: tf.image.ssim_multiscale(
        x, x * 0.9, 1.0, power_factors=(0.5, 0.5), filter_size=3
    ),
    "sobel": tf.image.sobel_edges,
    "gradients": lambda x: tf.stack(tf.image.image_gradients(x)),
    "patches": lambda x: tf.image.extract_patches(
        x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"
    ),
}
SOUNDS = {
    "rfft": lambda x: tf.signal.irfft(tf.signal.rfft(x)),
    "longer": lambda x: tf.signal.irfft(tf.signal.rfft(x, [64]), [65]),
    "frame": lambda x: tf.signal.frame(x, 7, 3, pad_end=True),
    "stft": lambda x: tf.abs(tf.signal.stft(x, 10, 4)),
    "inverse": lambda x: tf.signal.inverse_stft(tf.signal.stft(x, 10, 4), 10, 4),
    "mdct": lambda x: tf.signal.inverse_mdct(tf.signal.mdct(x, 8)),
    "dct": lambda x: tf.signal.idct(tf.signal.dct(x, 2, norm="ortho"), 3),
    "fourth": lambda x: tf.signal.dct(x, 4, n=50),
    "shift": lambda x: tf.signal.fftshift(x, axes=-1),
    "mfcc": tf.signal.mfccs_from_log_mel_spectrograms,
}
CASES = [
    *[(f, IMAGE, n, r) for n, f in {**IMAGES, **RANKED}.items() for r in (0, 1)],
    *[(f, BATCH, n, r) for n, f in {**IMAGES, **RANKED}.items() for r in (0, 1)],
    *[(f, BATCH, n, 1) for n, f in BATCHES.items()],
    *[(f, SOUND, n, r) for n, f in SOUNDS.items() for r in (0, 1)],
]
CASES = [c for c in CASES if c[3] or c[2] not in RANKED]


@pytest.mark.parametrize(
    "function, given, known",
    [c[:2] + c[3:] for c in CASES],
    ids=[f"{c[2]}-{c[1].ndim}-{'dims' if c[3] else 'rank'}" for c in CASES],
)
def test_unknown(function, given, known):
    shape = [None] * given.ndim if known else None
    traced = tf.function(function, input_signature=[tf.TensorSpec(shape, tf.float32)])
    wanted = function(tf.constant(given))
    got = traced(tf.constant(given))
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5)


def test_gradients_reach_through_frames():
    x = tf.constant(SOUND.astype("float64"))
    with tf.GradientTape() as tape:
        tape.watch(x)
        power = tf.reduce_sum(tf.abs(tf.signal.stft(x, 8, 4)) ** 2)
    found = tape.gradient(power, x).numpy()
    step = np.zeros_like(SOUND, "float64")
    step[1, 17] = 1e-6

    def at(s):
        return tf.reduce_sum(tf.abs(tf.signal.stft(s, 8, 4)) ** 2).numpy()

    slope = (at(SOUND + step) - at(SOUND - step)) / 2e-6
    np.testing.assert_allclose(found[1, 17], slope, rtol=1e-3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "uint8"])
def test_standardized_images_are_float32(dtype: str) -> None:
    """As TensorFlow 2.21's, whatever the image is."""
    image = tf.cast(tf.reshape(tf.range(12), [2, 2, 3]), dtype)
    for run in (
        tf.image.per_image_standardization,
        tf.function(tf.image.per_image_standardization),
    ):
        result = run(image)
        assert result.dtype is tf.float32
        np.testing.assert_allclose(result[0, 0], [-1.593255, -1.303572, -1.01389], rtol=1e-5)
