"""Samples of image files being read."""

from tests.ops import image_files as files
from tests.ops.samples import i32, s, sample

PALETTES = "TensorFlow 2.21 takes another opacity for palettes"
ACCURATE = {"dct_method": "INTEGER_ACCURATE"}


def refused(op, phrase, kind="InvalidArgumentError", **args):
    """A call that fails."""
    sample(op, **args, error=(kind, phrase))


PNGS = ("RGB", "GRAY", "RGBA", "LA", "GRAY16", "PALETTE", "RGB16", "RGBA16", "LA16")
for kind in PNGS:
    contents = s.of(getattr(files, f"PNG_{kind}"))
    for channels in (0, 1, 3, 4):
        why = PALETTES if (kind, channels) == ("PALETTE", 4) else True
        sample("DecodePng", contents=contents, channels=channels, parity=why, tol=1)
    sample("DecodePng", contents=contents, dtype="uint16")
    for dtype in ("uint8", "uint16", "float32"):
        sample("DecodeImage", contents=contents, dtype=dtype)
for kind in ("RGB", "RGBA", "GRAY"):
    contents = s.of(getattr(files, f"BMP_{kind}"))
    for channels in (0, 3, 4):
        sample("DecodeBmp", contents=contents, channels=channels)
    sample("DecodeImage", contents=contents, dtype="uint16")
refused(
    "DecodeBmp",
    "`channels` must be 0, 3 or 4 for BMP, but got 1",
    contents=s.of(files.BMP_RGB),
    channels=1,
)
refused(
    "DecodeBmp", "Trying to decode PNG format using DecodeBmp op.", contents=s.of(files.PNG_RGB)
)
refused("DecodePng", "Trying to decode BMP format using a wrong op.", contents=s.of(files.BMP_RGB))
refused(
    "DecodePng",
    "`channels` must be 0, 1, 3 or 4 but got 2",
    contents=s.of(files.PNG_RGB),
    channels=2,
)
refused(
    "DecodePng", "Invalid PNG. Failed to initialize decoder.", contents=s.of(files.PNG_RGB[:40])
)
refused("DecodePng", "Input is empty.", contents=s.of(b""))
refused("DecodePng", "`contents` must be scalar but got shape", contents=s([files.PNG_RGB]))
refused("DecodeImage", "Unknown image file format. One of JPEG,", contents=s.of(b"hello"))

for name in ("JPEG_RGB", "JPEG_GRAY"):
    contents = s.of(getattr(files, name))
    for channels in (0, 1, 3):
        sample("DecodeJpeg", contents=contents, channels=channels, **ACCURATE)
    for channels in (0, 1, 3):
        sample("DecodeJpeg", contents=contents, channels=channels)
    sample("DecodeJpeg", contents=contents, ratio=2)
    for ratio in (2, 4, 8):
        sample("DecodeJpeg", contents=contents, ratio=ratio, **ACCURATE)
    sample("DecodeAndCropJpeg", contents=contents, crop_window=i32([2, 3, 10, 12]), **ACCURATE)
    sample("DecodeImage", contents=contents)
    for T in ("int32", "int64"):
        sample("ExtractJpegShape", contents=contents, output_type=T)
JPEG = s.of(files.JPEG_RGB)
sample("DecodeJpeg", contents=s.of(files.PNG_RGBA))
refused("DecodeJpeg", "JPEG does not support 4 channels", contents=JPEG, channels=4)
refused("DecodeJpeg", "ratio must be 1, 2, 4, or 8, got 3", contents=JPEG, ratio=3)
refused("DecodeJpeg", "jpeg::Uncompress failed.", contents=s.of(files.JPEG_RGB[:-20]))
refused(
    "DecodeAndCropJpeg",
    "crop_size must have four elements",
    contents=JPEG,
    crop_window=i32([2, 3, 10]),
)
for window in ([2, 3, 100, 12], [2, 3, 0, 12]):
    refused("DecodeAndCropJpeg", "jpeg::Uncompress failed.", contents=JPEG, crop_window=i32(window))

for name in ("GIF", "GIF_ONE"):
    contents = s.of(getattr(files, name))
    sample("DecodeGif", contents=contents)
    for dtype in ("uint8", "uint16", "float32"):
        for expand in (True, False):
            sample("DecodeImage", contents=contents, dtype=dtype, expand_animations=expand)
sample("DecodeGif", contents=s.of(files.PNG_RGBA))
sample("DecodePng", contents=s.of(files.GIF_ONE))
refused(
    "DecodePng", "Got 3 frames, but animated gifs can only be decoded by", contents=s.of(files.GIF)
)
refused(
    "DecodeImage", "channels must be 0 or 3 for GIF, got 1", contents=s.of(files.GIF), channels=1
)
sample("DecodeWebP", contents=s.of(files.WEBP))
sample("DecodeWebP", contents=s.of(files.WEBP_RGBA), channels=4)
sample("DecodeImage", contents=s.of(files.WEBP))
refused(
    "DecodeWebP",
    "Number of channels requested does not match input",
    contents=s.of(files.WEBP),
    channels=4,
)
refused("DecodeWebP", "WebP only supports 3 or 4 channels", contents=s.of(files.WEBP), channels=1)
