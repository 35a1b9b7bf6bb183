"""Samples of strings as the bytes of numbers, and of compressed strings."""

import gzip
import zlib

from tests.ops.samples import i32, s, sample

WRONG = "InvalidArgumentError"
TYPES = (
    "float16",
    "float32",
    "float64",
    "int32",
    "uint16",
    "uint8",
    "int16",
    "int8",
    "int64",
    "bfloat16",
)
TEXTS = [b"abcdefgh", b"01234567"]

for out_type in (*TYPES, "complex64", "bool"):
    sample("DecodeRaw", bytes=s(TEXTS), out_type=out_type)
for out_type in ("int16", "float32", "complex64", "uint8", "bfloat16"):
    sample("DecodeRaw", bytes=s([TEXTS]), out_type=out_type, little_endian=False)
sample("DecodeRaw", bytes=s.of("abcd"), out_type="uint8")
sample("DecodeRaw", bytes=s([]), out_type="int16")
sample("DecodeRaw", bytes=s(["", ""]), out_type="int16")
sample(
    "DecodeRaw",
    bytes=s(["abcd", "ef"]),
    out_type="int16",
    error=(WRONG, "but element 1 has size 4 != 2"),
)
sample(
    "DecodeRaw",
    bytes=s(["abc"]),
    out_type="int16",
    error=(WRONG, "has length 3 that is not a multiple of 2"),
)
sample(
    "DecodeRaw",
    bytes=s(["abcd"]),
    out_type="uint32",
    error=(WRONG, "not in the list of allowed values"),
)

for out_type in TYPES[1:]:
    sample(
        "DecodePaddedRaw",
        input_bytes=s([b"abc", b"0123456789abcdefghi", b""]),
        fixed_length=i32.of(16),
        out_type=out_type,
    )
sample(
    "DecodePaddedRaw",
    input_bytes=s([["abcd"], ["e"]]),
    fixed_length=i32.of(4),
    out_type="int16",
    little_endian=False,
)
sample("DecodePaddedRaw", input_bytes=s([]), fixed_length=i32.of(4), out_type="int16")
for length, phrase in (
    (i32.of(5), "must be a multiple of the size of out_type (2)"),
    (i32.of(0), "fixed_length (0) must be greater than zero"),
    (i32([4]), "must be scalar, got shape [1]"),
):
    sample(
        "DecodePaddedRaw",
        input_bytes=s(["abc"]),
        fixed_length=length,
        out_type="int16",
        error=(WRONG, phrase),
    )


def _gzip(data: bytes) -> bytes:
    """Compressed; the byte that names the system, which Pythons write differently, says Unix."""
    packed = gzip.compress(data, mtime=0)
    return packed[:9] + b"\x03" + packed[10:]


sample("DecodeCompressed", bytes=s(["x", "yy"]))
sample(
    "DecodeCompressed",
    bytes=s([[zlib.compress(b"x" * 50), zlib.compress(b"")]]),
    compression_type="ZLIB",
)
sample("DecodeCompressed", bytes=s([_gzip(b"hello"), b""]), compression_type="GZIP")
sample("DecodeCompressed", bytes=s.of(_gzip(b"hello") + _gzip(b"2")), compression_type="GZIP")
sample(
    "DecodeCompressed",
    bytes=s.of("bad"),
    compression_type="ZLIB",
    error=("DataLossError", "incorrect header check"),
)
sample(
    "DecodeCompressed",
    bytes=s.of("x"),
    compression_type="FOO",
    error=(WRONG, "Only ZLIB, ZSTD, GZIP or NONE are supported compressions"),
)
