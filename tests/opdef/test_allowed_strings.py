"""Strings that attributes may not be: an error of the op eagerly, one of tracing in graphs."""

from __future__ import annotations

import pytest

from intaglio import tf

TEXT = ["ab"]
IMAGE = tf.zeros([1, 4, 4, 1])
BOX = [[0.0, 0.0, 1.0, 1.0]]
# TensorFlow 2.21 was asked for the classes and messages.
CALLS = {
    ("StringLength", "unit"): lambda: tf.strings.length(TEXT, unit="WORD"),
    ("Substr", "unit"): lambda: tf.strings.substr(TEXT, 0, 1, unit="WORD"),
    ("UnicodeTranscode", "output_encoding"): lambda: tf.strings.unicode_transcode(
        TEXT, "UTF-8", "UTF-16-LE"
    ),
    ("UnicodeTranscode", "errors"): lambda: tf.strings.unicode_transcode(
        TEXT, "UTF-8", "UTF-8", errors="drop"
    ),
    ("UnicodeDecodeWithOffsets", "errors"): lambda: tf.raw_ops.UnicodeDecodeWithOffsets(
        input=TEXT, input_encoding="UTF-8", errors="drop"
    ),
    ("UnicodeEncode", "output_encoding"): lambda: tf.raw_ops.UnicodeEncode(
        input_values=[65], input_splits=[0, 1], output_encoding="ASCII"
    ),
    ("CropAndResize", "method"): lambda: tf.image.crop_and_resize(
        IMAGE, BOX, [0], [2, 2], method="bicubic"
    ),
    ("EncodeJpeg", "format"): lambda: tf.io.encode_jpeg(tf.zeros([4, 4, 1], tf.uint8), "cmyk"),
    ("EncodeJpeg", "density_unit"): lambda: tf.io.encode_jpeg(
        tf.zeros([4, 4, 1], tf.uint8), density_unit="ft"
    ),
    ("MatrixDiagV3", "align"): lambda: tf.linalg.diag([1.0], k=1, align="CENTER"),
    ("MatrixDiagPartV3", "align"): lambda: tf.linalg.diag_part(IMAGE[0, ..., 0], align="CENTER"),
    ("QuantizeV2", "mode"): lambda: tf.quantization.quantize(
        [1.0], 0.0, 1.0, tf.quint8, mode="SCALE"
    ),
    ("QuantizeV2", "round_mode"): lambda: tf.quantization.quantize(
        [1.0], 0.0, 1.0, tf.quint8, round_mode="HALF_UP"
    ),
}


@pytest.mark.parametrize(("op", "attribute"), CALLS)
def test_a_string_that_is_not_allowed(op, attribute):
    call = CALLS[op, attribute]
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=f"Value for attr '{attribute}' of .* is not in the list of allowed values",
    ):
        call()
    with pytest.raises(ValueError, match=f"Attr '{attribute}' of '{op}' Op passed string"):
        tf.function(call).get_concrete_function()
