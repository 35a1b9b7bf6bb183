"""Image files written and read again: what the bytes are is the encoder's affair."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from tests.ops import image_files as files

rng = np.random.RandomState(4)
Y, X = np.mgrid[:24, :32]
SMOOTH = np.stack([Y * 8 + 20, X * 7 + 10, (Y + X) * 4], -1).astype("uint8")


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("compression", [-1, 0, 9])
def test_png_gives_every_pixel_back(dtype, channels, compression):
    image = rng.randint(0, np.iinfo(dtype).max + 1, (5, 7, channels)).astype(dtype)
    file = tf.io.encode_png(image, compression=compression)
    read = tf.io.decode_png(file, dtype=dtype)
    np.testing.assert_array_equal(read, image)
    assert read.dtype == dtype


def test_batches_of_png():
    images = rng.randint(0, 256, (2, 3, 4, 5, 3)).astype("uint8")
    written = tf.io.encode_png(images)
    assert written.shape == (2, 3)
    np.testing.assert_array_equal(tf.io.decode_png(written[1, 2]), images[1, 2])


@pytest.mark.parametrize(
    "options", [{}, {"progressive": True}, {"optimize_size": True}, {"chroma_downsampling": False}]
)
def test_jpeg_gives_nearly_every_pixel_back(options):
    file = tf.io.encode_jpeg(SMOOTH, quality=98, **options)
    read = tf.io.decode_jpeg(file).numpy().astype(int)
    assert np.abs(read - SMOOTH).max() <= 12
    assert np.abs(read - SMOOTH).mean() < 2


def test_jpeg_quality_costs_bytes():
    sizes = [len(tf.io.encode_jpeg(SMOOTH, quality=q).numpy()) for q in (10, 50, 95)]
    assert sizes == sorted(sizes) and sizes[0] < sizes[2]


def test_jpeg_headers():
    options = {"density_unit": "cm", "x_density": 7, "y_density": 900}
    file = tf.io.encode_jpeg(SMOOTH, xmp_metadata="hi", **options).numpy()
    assert file[13:18] == b"\x02\x00\x07\x03\x84"
    assert b"http://ns.adobe.com/xap/1.0/\0hi" in file


def test_quality_as_an_input():
    @tf.function
    def worse(image, quality):
        return tf.image.adjust_jpeg_quality(image, quality)

    made = worse(SMOOTH, tf.constant(90)).numpy().astype(int)
    assert made.shape == SMOOTH.shape
    assert 0 < np.abs(made - SMOOTH).mean() < 3
    wanted = tf.io.decode_jpeg(tf.io.encode_jpeg(SMOOTH, quality=90))
    np.testing.assert_array_equal(made, wanted)


def test_random_quality_is_between_its_limits():
    made = tf.image.stateless_random_jpeg_quality(SMOOTH, 30, 40, seed=(1, 2))
    quality = tf.random.stateless_uniform([], (1, 2), 30, 40, tf.int32)
    np.testing.assert_array_equal(made, tf.image.adjust_jpeg_quality(SMOOTH, quality))


def test_is_jpeg():
    known = tf.io.is_jpeg([files.JPEG_RGB, files.PNG_RGB, b""])
    assert known.numpy().tolist() == [True, False, False]


def test_decode_image_in_other_dtypes():
    for dtype in ("int32", "float64", "float16"):
        read = tf.io.decode_image(files.PNG_RGB, dtype=dtype)
        wide = tf.io.decode_png(files.PNG_RGB, dtype=tf.uint16)
        wanted = tf.image.convert_image_dtype(wide, dtype)
        np.testing.assert_array_equal(read, wanted)


def test_in_a_dataset_shaped_program():
    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def load(file):
        image = tf.io.decode_image(file, channels=3, expand_animations=False)
        return tf.image.resize(image, [6, 4])

    assert load(files.JPEG_RGB).shape == (6, 4, 3)
    assert load(files.GIF).shape == (6, 4, 3)
    assert load.get_concrete_function().output_shapes == tf.TensorShape([6, 4, 3])


def test_jpeg_xl_is_refused():
    with pytest.raises(NotImplementedError, match="JPEG XL"):
        tf.image.decode_jxl(b"\xff\x0a")
    with pytest.raises(NotImplementedError, match="JPEG XL"):
        tf.io.decode_image(b"\xff\x0aabc")
