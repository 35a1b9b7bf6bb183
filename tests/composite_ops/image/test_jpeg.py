"""JPEG files become TensorFlow's very pixels: checksums of what 2.21 answered for two files."""

from __future__ import annotations

import base64
import zlib

import pytest

from intaglio import tf

# 19 x 13 pixels, colour stored for every second column, and for every second one and row.
FILES = {
    "422": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+"
        "MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09P"
        "T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAANABMDASEAAhEBAxEB/8QAGAAAAwEBAAAA"
        "AAAAAAAAAAAAAAIFBAb/xAAgEAACAgICAgMAAAAAAAAAAAABAwACBAUREiEiJDEy/8QAGAEAAgMAAAAAAAAA"
        "AAAAAAAAAwQCBQb/xAAiEQABBAAFBQAAAAAAAAAAAAACAAEDBBETFDFSFSFBQlH/2gAMAwEAAhEDEQA/ANW9"
        "UnX0CKX5LfAk3VWztO3qpHajDyTJwXHKEpPBuyJ06tp82QsMXXT12+R1HK4RzRw/U21GvyUPI+a2l3+xp9R8"
        "nIYOoB8CVdEWcDh9R2S7xjLA4Fs3dKHsI/UIbMJY970/Jf/Z"
    ),
    "420": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+"
        "MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09P"
        "T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wgARCAANABMDASIAAhEBAxEB/8QAFwAAAwEAAAAA"
        "AAAAAAAAAAAAAAMEAv/EABcBAAMBAAAAAAAAAAAAAAAAAAECAwT/2gAMAwEAAhADEAAAAWzN0GsIiub/xAAb"
        "EAACAgMBAAAAAAAAAAAAAAAAAQIDERITIv/aAAgBAQABBQK9Ksq3pfWRL25SZln/xAAbEQACAQUAAAAAAAAA"
        "AAAAAAAAAiEDEhMUUv/aAAgBAwEBPwG1ccLJu0uT/8QAGhEAAgIDAAAAAAAAAAAAAAAAAQIAQQMSUf/aAAgB"
        "AgEBPwHE7FSLubJyf//EABoQAAEFAQAAAAAAAAAAAAAAAAABEBEhMVH/2gAIAQEABj8CjpSaYW//xAAYEAAD"
        "AQEAAAAAAAAAAAAAAAAAAREhYf/aAAgBAQABPyFFLDSVQUhge4YDsf/aAAwDAQACAAMAAAAQLx//xAAYEQAD"
        "AQEAAAAAAAAAAAAAAAAAARExYf/aAAgBAwEBPxC7QeneED//xAAYEQACAwAAAAAAAAAAAAAAAAABEBFBYf/a"
        "AAgBAgEBPxCTlMFX/8QAGRABAQEBAQEAAAAAAAAAAAAAAQARITFB/9oACAEBAAE/EDO95LsWtWxNn195iYHh"
        "DE//2Q=="
    ),
}


@pytest.mark.parametrize(
    ("file", "method", "smooth", "ratio", "shape", "checksum"),
    [
        ("422", "", True, 1, (13, 19, 3), 2733272819),
        ("422", "INTEGER_FAST", False, 1, (13, 19, 3), 664215064),
        ("422", "INTEGER_ACCURATE", True, 1, (13, 19, 3), 2480741031),
        ("422", "", True, 2, (7, 10, 3), 2759946654),
        ("422", "", False, 2, (7, 10, 3), 1943944267),
        ("422", "", True, 4, (4, 5, 3), 93586907),
        ("420", "", True, 1, (13, 19, 3), 3943639813),
        ("420", "INTEGER_FAST", False, 1, (13, 19, 3), 3429632198),
        ("420", "INTEGER_ACCURATE", True, 1, (13, 19, 3), 2481468501),
        ("420", "", True, 2, (7, 10, 3), 762501880),
        ("420", "", False, 2, (7, 10, 3), 762501880),
        ("420", "", True, 4, (4, 5, 3), 19685659),
    ],
)
def test_pixels(file, method, smooth, ratio, shape, checksum):
    pixels = tf.io.decode_jpeg(
        base64.b64decode(FILES[file]), dct_method=method, fancy_upscaling=smooth, ratio=ratio
    ).numpy()
    assert pixels.shape == shape
    assert zlib.crc32(pixels.tobytes()) == checksum
