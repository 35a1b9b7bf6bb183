"""Strings as the bytes of numbers, and compressed strings."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from intaglio.base.dtypes import (
    DType,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
)
from intaglio.base.errors import DataLossError, invalid_argument
from intaglio.base.limits import check_decoded
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.text.strings import StringMap, all_joined, lengths, mapped, shape_text

_REAL = (float16, float32, float64, int32, uint16, uint8, int16, int8, int64, bfloat16)


def _numbers(octets: np.ndarray, dtype: DType, little_endian: bool) -> np.ndarray:
    """Rows of bytes as rows of numbers."""
    if dtype is bool_:
        return octets != 0
    numbers = octets.view(dtype.numpy)
    if little_endian or dtype.size == 1:
        return numbers
    if dtype.is_complex:  # each part is byte-swapped by itself
        return numbers.view(dtype.real_dtype.numpy).byteswap().view(dtype.numpy)
    return numbers.byteswap()


@op
class DecodeRaw(Op):
    """The numbers that strings of one length are the bytes of: one dimension more."""

    signature = "bytes: string; out_type: type, little_endian: bool = True -> output: out_type"
    out_type = (*_REAL, complex64, complex128, bool_)
    differentiable = False
    batching = "leading"

    def infer(self, bytes: Spec, out_type: DType) -> Spec:
        return Spec(out_type, None if bytes.shape is None else (*bytes.shape, None))

    def kernel(self, bytes, out_type: DType, little_endian: bool):
        texts = np.asarray(bytes, object).ravel()
        sizes = lengths(texts)
        size = int(sizes[0]) if sizes.size else 0
        if (sizes != size).any():
            wrong = int(np.argmax(sizes != size))
            raise invalid_argument(
                "DecodeRaw requires input strings to all be the same size, but element "
                f"{wrong} has size {size} != {sizes[wrong]}"
            )
        if size % out_type.size:
            raise invalid_argument(
                f"Input to DecodeRaw has length {size} that is not a multiple of "
                f"{out_type.size}, the size of {out_type.name}"
            )
        octets = np.frombuffer(all_joined(texts), np.uint8).copy()
        numbers = _numbers(octets, out_type, little_endian)
        return numbers.reshape(*np.shape(bytes), size // out_type.size)


@op
class DecodePaddedRaw(Op):
    """As DecodeRaw; strings are cut to one length, or filled up with zeros."""

    signature = (
        "input_bytes: string, fixed_length: int32; out_type: type, little_endian: bool = True"
        " -> output: out_type"
    )
    out_type = _REAL
    differentiable = False

    def infer(self, input_bytes: Spec, fixed_length: Spec, out_type: DType) -> Spec:
        if input_bytes.shape is None:
            return Spec(out_type, None)
        known = fixed_length.value
        width = None if known is None or np.ndim(known) else int(known) // out_type.size
        return Spec(out_type, (*input_bytes.shape, width))

    def kernel(self, input_bytes, fixed_length, out_type: DType, little_endian: bool):
        if np.ndim(fixed_length):
            raise invalid_argument(
                f"k must be scalar, got shape {shape_text(np.shape(fixed_length))}"
            )
        width = int(fixed_length)
        if width <= 0:
            raise invalid_argument(f"fixed_length ({width}) must be greater than zero.")
        if width % out_type.size:
            raise invalid_argument(
                f"fixed_length ({width}) must be a multiple of the size of out_type "
                f"({out_type.size})"
            )
        texts: list[bytes] = np.asarray(input_bytes, object).ravel().tolist()
        check_decoded(len(texts) * width, "DecodePaddedRaw")
        whole = b"".join([t[:width].ljust(width, b"\0") for t in texts])
        octets = np.frombuffer(bytearray(whole), np.uint8)
        numbers = _numbers(octets, out_type, little_endian)
        return numbers.reshape(*np.shape(input_bytes), width // out_type.size)


# Bytes that are decompressed before their number is looked at.
INFLATED_AT_ONCE = 1 << 20
# The `wbits` of zlib for each header format.
_WINDOWS = {"ZLIB": 15, "GZIP": 31}


def _inflated(text: bytes, window: int) -> bytes:
    """The decompressed members; of a truncated one as much as there is."""
    found: list[bytes] = []
    size = 0
    while text:
        reader = zlib.decompressobj(window)
        while text and not reader.eof:
            found.append(reader.decompress(text, INFLATED_AT_ONCE))
            size += len(found[-1])
            check_decoded(size, "DecodeCompressed")
            text = reader.unconsumed_tail
        text = reader.unused_data
    return b"".join(found)


@op
class DecodeCompressed(StringMap):
    """What compressed strings hold."""

    signature = "bytes: string; compression_type: str = '' -> output: string"
    called = {"input": "bytes"}

    def kernel(self, bytes, compression_type: str) -> Any:
        if compression_type == "":
            return bytes
        window = _WINDOWS.get(compression_type)
        if window is None:
            raise invalid_argument(
                "Only ZLIB, ZSTD, GZIP or NONE are supported compressions"
                f": {compression_type!r} is none, and ZSTD needs a library that Python lacks"
            )
        try:
            return mapped(lambda text: _inflated(text, window), bytes)
        except zlib.error as e:
            reason = str(e).replace("Error", "error").replace(" while decompressing data", "")
            raise DataLossError(None, None, f"inflate() failed with {reason}") from None
