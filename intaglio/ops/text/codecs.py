"""Strings in other alphabets: base 64 and the encodings of Unicode."""

from __future__ import annotations

import binascii
import re

import numpy as np

from intaglio.base.errors import invalid_argument
from intaglio.opdef.op import op
from intaglio.ops.text import joined, native_strings
from intaglio.ops.text.strings import StringMap, filled, mapped

_BASE64 = re.compile(rb"[-_0-9A-Za-z]*={0,2}\Z")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_OUTPUTS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}


@op
class EncodeBase64(StringMap):
    """Web-safe base 64, optionally with padding."""

    signature = "input: string; pad: bool = False -> output: string"
    batching = "leading"

    def kernel(self, input, pad):
        found = native_strings.base64(input, _ALPHABET, pad)
        if found is not None:
            return found.reshape(np.shape(input))

        def encode(text: bytes) -> bytes:
            encoded = binascii.b2a_base64(text, newline=False)
            return encoded if pad else encoded.rstrip(b"=")

        texts = list(map(encode, np.asarray(input).reshape(-1).tolist()))
        return filled(joined.mapped(_web_safe, texts), np.shape(input))


_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_VALUES = np.full(256, 255, np.uint8)
_VALUES[np.frombuffer(_ALPHABET, np.uint8)] = np.arange(64)
_WEB_SAFE = bytes.maketrans(b"+/", b"-_")
_PLAIN = bytes.maketrans(b"-_", b"+/")


def _web_safe(text: bytes) -> bytes:
    return text.translate(_WEB_SAFE)


@op
class DecodeBase64(StringMap):
    """The strings decoded from web-safe base 64."""

    batching = "leading"

    def kernel(self, input):
        found = native_strings.from_base64(input, _VALUES)
        return mapped(_decoded, input) if found is None else found.reshape(np.shape(input))


_PADDING = (b"", b"=", b"==", b"===")


def _decoded(text: bytes) -> bytes:
    bare = text.rstrip(b"=")
    if not _BASE64.match(text) or (text != bare and len(text) % 4):
        raise invalid_argument("Invalid character found in base64.")
    if len(bare) % 4 == 1:
        raise invalid_argument("Base64 string length cannot be 1 modulo 4.")
    return binascii.a2b_base64(bare.translate(_PLAIN) + _PADDING[-len(bare) % 4])


@op
class UnicodeTranscode(StringMap):
    """Text from one encoding to another."""

    signature = (
        "input: string; input_encoding: str, output_encoding: str, errors: str = 'replace',"
        " replacement_char: int = 65533, replace_control_characters: bool = False"
        " -> output: string"
    )
    output_encoding = tuple(_OUTPUTS)
    errors = ("strict", "replace", "ignore")
    batching = "leading"

    def kernel(
        self,
        input,
        input_encoding,
        output_encoding,
        errors,
        replacement_char,
        replace_control_characters,
    ):
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
