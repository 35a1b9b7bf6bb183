"""Strings in other alphabets: base 64, Unicode encodings, hashes."""

from __future__ import annotations

import base64
import re
import struct
from typing import Any

import numpy as np

from intaglio.base.dtypes import int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.op.op import Op, op
from intaglio.op.spec import Spec
from intaglio.ops.strings import StringMap, mapped, one_of

_BASE64 = re.compile(rb"[-_0-9A-Za-z]*={0,2}\Z")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_OUTPUTS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
_MASK = (1 << 64) - 1


@op
class EncodeBase64(StringMap):
    """Web-safe base 64, without padding unless asked for."""

    signature = "input: string; pad: bool = False -> output: string"

    def kernel(self, input, pad):
        def encode(text: bytes) -> bytes:
            made = base64.urlsafe_b64encode(text)
            return made if pad else made.rstrip(b"=")

        return mapped(encode, input)


@op
class DecodeBase64(StringMap):
    """The strings that web-safe base 64 stands for."""

    def kernel(self, input):
        return mapped(_decoded, input)


def _decoded(text: bytes) -> bytes:
    bare = text.rstrip(b"=")
    if not _BASE64.match(text) or (text != bare and len(text) % 4):
        raise invalid_argument("Invalid character found in base64.")
    if len(bare) % 4 == 1:
        raise invalid_argument("Base64 string length cannot be 1 modulo 4.")
    return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))


@op
class UnicodeTranscode(StringMap):
    """Text from one encoding to another."""

    signature = (
        "input: string; input_encoding: str, output_encoding: str, errors: str = 'replace',"
        " replacement_char: int = 65533, replace_control_characters: bool = False"
        " -> output: string"
    )

    def kernel(
        self,
        input,
        input_encoding,
        output_encoding,
        errors,
        replacement_char,
        replace_control_characters,
    ):
        one_of(output_encoding, tuple(_OUTPUTS), "output_encoding")
        one_of(errors, ("strict", "replace", "ignore"), "errors")
        target = _OUTPUTS[output_encoding]
        instead = chr(replacement_char)

        def transcode(text: bytes) -> bytes:
            try:
                read = text.decode(input_encoding, errors)
            except LookupError:
                raise invalid_argument(
                    f"Could not create converter for input encoding: {input_encoding}"
                ) from None
            except UnicodeDecodeError:
                raise invalid_argument("Invalid formatting on input string") from None
            if replacement_char != 0xFFFD and errors == "replace":
                read = read.replace("\ufffd", instead)
            if replace_control_characters:
                read = _CONTROL.sub(instead, read)
            return read.encode(target, "replace")

        return mapped(transcode, input)


# -- hashes --------------------------------------------------------------------------


def _rotated(x: int, by: int) -> int:
    return (x << by | x >> 64 - by) & _MASK


def _round(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    v0 = (v0 + v1) & _MASK
    v2 = (v2 + v3) & _MASK
    v1, v3 = _rotated(v1, 13) ^ v0, _rotated(v3, 16) ^ v2
    v0 = (_rotated(v0, 32) + v3) & _MASK
    v2 = (v2 + v1) & _MASK
    v3, v1 = _rotated(v3, 21) ^ v0, _rotated(v1, 17) ^ v2
    return v0, v1, _rotated(v2, 32), v3


def siphash(key: tuple[int, int], text: bytes) -> int:
    """SipHash-2-4 of Aumasson and Bernstein (2012)."""
    k0, k1 = key[0] & _MASK, key[1] & _MASK
    state = (
        k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573,
    )  # fmt: skip
    whole = len(text) // 8 * 8
    words = list(struct.unpack(f"<{whole // 8}Q", text[:whole]))
    words.append(int.from_bytes(text[whole:], "little") | (len(text) & 0xFF) << 56)
    for word in words:
        v0, v1, v2, v3 = state
        v0, v1, v2, v3 = _round(*_round(v0, v1, v2, v3 ^ word))
        state = (v0 ^ word, v1, v2, v3)
    v0, v1, v2, v3 = state
    v2 ^= 0xFF
    for _ in range(4):
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


@op
class StringToHashBucketStrong(Op):
    """A keyed hash modulo the number of buckets: inputs cannot be made to collide."""

    signature = "input: string; num_buckets: int, key: list(int) -> output: int64"
    differentiable = False

    def infer(self, input: Spec, key: Any) -> Spec:
        if len(key) != 2:
            raise ShapeError("Key must have 2 elements")
        return Spec(int64, input.shape)

    def kernel(self, input, num_buckets, key):
        if num_buckets < 1:
            raise invalid_argument(
                f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 1"
            )
        if len(key) != 2:
            raise invalid_argument("Key must have 2 elements")
        hashed = [siphash(key, v) % num_buckets for v in np.asarray(input).reshape(-1)]
        return np.array(hashed, np.int64).reshape(np.shape(input))
