"""Samples of image files being written."""

from tests.ops.samples import i32, sample, u8, u16


def refused(op, phrase, kind="InvalidArgumentError", **args):
    """A call that fails."""
    sample(op, **args, error=(kind, phrase))


STREAM = "the bytes of a file depend on the encoder: see tests/composite_ops/image/test_codecs.py"
for depth in (1, 3):
    for attrs in (
        {},
        {"quality": 40},
        {"progressive": True},
        {"optimize_size": True},
        {"chroma_downsampling": False},
        {"density_unit": "cm", "x_density": 7, "y_density": 900},
        {"xmp_metadata": "hi"},
    ):
        sample("EncodeJpeg", image=u8(16, 24, depth, lo=0, hi=255), **attrs, parity=STREAM)
    sample(
        "EncodeJpegVariableQuality",
        images=u8(16, 24, depth, lo=0, hi=255),
        quality=i32.of(60),
        parity=STREAM,
    )
for message, args in (
    ("quality must be in [0,100], got 101", {"quality": 101}),
    ("Value for attr 'format' of \"foo\" is not in the list of allowed values", {"format": "foo"}),
    ("Value for attr 'density_unit' of \"x\"", {"density_unit": "x"}),
    ("format grayscale expects 1 channels, got", {"format": "grayscale"}),
):
    refused("EncodeJpeg", message, image=u8(4, 5, 3), **args)
refused("EncodeJpeg", "image must have 1 or 3 channels, got", image=u8(4, 5, 2))
refused("EncodeJpeg", "image must be 3-dimensional", image=u8(4, 5))
refused("EncodeJpeg", "JPEG encoding failed", "InternalError", image=u8(0, 5, 3))
refused(
    "EncodeJpegVariableQuality",
    "quality must be in [0,100], got 150",
    images=u8(4, 5, 3),
    quality=i32.of(150),
)
for depth in (1, 2, 3, 4):
    for dtype in (u8, u16):
        sample("EncodePng", image=dtype(3, 4, depth), parity=STREAM)
sample("EncodePng", image=u8(2, 3, 4, 3), compression=0, parity=STREAM)
refused("EncodePng", "images must be at least rank 3", image=u8(3, 4))
refused("EncodePng", "image must have 1, 2, 3, or 4 channels, got 5", image=u8(3, 4, 5))
refused("EncodePng", "compression should be in [-1,9], got 12", image=u8(3, 4, 3), compression=12)
refused("EncodePng", "PNG encoding failed", "InternalError", image=u8(0, 4, 3))
