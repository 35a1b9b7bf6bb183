"""Tensors as strings and strings as tensors, of `tf.io`.

Follows https://www.tensorflow.org/api_docs/python/tf/io.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import as_dtype, string
from intaglio.composite_ops.decoding import decode_csv, decode_raw
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Web-safe base 64 of each string, without padding unless `pad`.

    >>> tf.io.encode_base64("hello").numpy()
    b'aGVsbG8'
    """
    return raw.EncodeBase64(input, pad=pad, name=name)


@dispatchable
def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """The strings decoded from web-safe base 64, padded or not.

    Raises InvalidArgumentError for text that is no base 64.

    >>> tf.io.decode_base64("aGVsbG8").numpy()
    b'hello'
    """
    return raw.DecodeBase64(input, name=name)


@dispatchable
def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Tensor:
    """What strings compressed by "ZLIB" or "GZIP" hold; "" leaves them as they are.

    Raises DataLossError for damaged data, InvalidArgumentError for another compression.

    `compression_type` is "" (none), "ZLIB" or "GZIP".

    >>> import zlib
    >>> tf.io.decode_compressed([zlib.compress(b"text")], "ZLIB").numpy()
    array([b'text'], dtype=object)
    """
    return raw.DecodeCompressed(bytes, compression_type=compression_type, name=name)


def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """Examples written as JSON, as the bytes of Example messages, for `parse_example`.

    Raises InvalidArgumentError for text that is no such JSON.

    >>> tf.io.decode_json_example('{"features": {}}').numpy()
    b'\\n\\x00'
    """
    return raw.DecodeJSONExample(json_examples, name=name)


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """A tensor as a string, the bytes of a TensorProto message.

    >>> tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32).numpy()
    array([1, 2], dtype=int32)
    """
    return raw.SerializeTensor(convert.to_tensor(tensor), name=name)


@dispatchable
def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor that `serialize_tensor` serialized.

    Raises InvalidArgumentError for another string, and for a tensor of another dtype.

    >>> tf.io.parse_tensor(tf.io.serialize_tensor("text"), tf.string).numpy()
    b'text'
    """
    tensor = convert.to_tensor(serialized, string)
    return raw.ParseTensor(tensor, out_type=as_dtype(out_type), name=name)


__all__ = [
    "decode_base64",
    "decode_compressed",
    "decode_csv",
    "decode_json_example",
    "decode_raw",
    "encode_base64",
    "parse_tensor",
    "serialize_tensor",
]
