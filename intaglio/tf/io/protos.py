"""Fields of serialized protocol buffers: `tf.io.decode_proto` and `tf.io.encode_proto`.

Follows https://www.tensorflow.org/api_docs/python/tf/io/decode_proto.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base.dtypes import as_dtype
from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def decode_proto(
    bytes: Any,
    message_type: str,
    field_names: Sequence[str],
    output_types: Sequence[Any],
    descriptor_source: Any = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> Any:
    """(sizes, values): how often each field occurs in serialized messages, and its values.

    `bytes` are messages of the type `message_type`, of any shape; sizes are int32 [..., field],
    and there is a tensor [..., most] for each of `field_names`, filled up with the field's default.
    `output_types` are those of the fields; int32, uint32 and float fields may be the 64-bit ones
    too, enums are int32, messages within messages strings. The types of messages come from
    `descriptor_source`: "local://" has TensorFlow's own; otherwise it is the path of a file with a
    serialized FileDescriptorSet, or "bytes://" followed by one. `message_format` is "binary" or
    "text"; `sanitize` changes nothing here. Raises InvalidArgumentError for unknown messages and
    fields and for types that do not fit, DataLossError for bytes that are no such message.

    https://www.tensorflow.org/api_docs/python/tf/io/decode_proto

    >>> shapes = ["dim { size: 2 } dim { size: 3 }", "unknown_rank: true"]
    >>> sizes, (dims, unknown) = tf.io.decode_proto(
    ...     shapes, "tensorflow.TensorShapeProto", ["dim", "unknown_rank"],
    ...     [tf.string, tf.bool], message_format="text",
    ... )
    >>> print(sizes.numpy().tolist(), unknown.numpy().tolist())
    [[2, 0], [0, 1]] [[False], [True]]
    """
    return raw.DecodeProtoV2(
        bytes,
        message_type=message_type,
        field_names=list(field_names),
        output_types=[as_dtype(t) for t in output_types],
        descriptor_source=descriptor_source,
        message_format=message_format,
        sanitize=sanitize,
        name=name,
    )


@dispatchable
def encode_proto(
    sizes: Any,
    values: Sequence[Any],
    field_names: Sequence[str],
    message_type: str,
    descriptor_source: Any = "local://",
    name: str | None = None,
) -> Tensor:
    """Serialized messages with fields of these values.

    `values` has a tensor [..., most] for each of `field_names`, of which each message gets as many
    as `sizes`, int32 [..., field], has; types and `descriptor_source` are as for
    `tf.io.decode_proto`. The result is strings [...]. Raises InvalidArgumentError for unknown
    messages and fields, and for types and shapes that do not fit.

    https://www.tensorflow.org/api_docs/python/tf/io/encode_proto

    >>> messages = tf.io.encode_proto(
    ...     [[2]], [tf.constant([[5, 7]])], ["int_val"], "tensorflow.TensorProto"
    ... )
    >>> sizes, (values,) = tf.io.decode_proto(
    ...     messages, "tensorflow.TensorProto", ["int_val"], [tf.int32]
    ... )
    >>> print(values.numpy())
    [[5 7]]
    """
    return raw.EncodeProto(
        sizes,
        list(values),
        field_names=list(field_names),
        message_type=message_type,
        descriptor_source=descriptor_source,
        name=name,
    )


__all__ = ["decode_proto", "encode_proto"]
