"""Examples written as JSON, as the bytes of their messages."""

from __future__ import annotations

from google.protobuf import json_format

from intaglio.base.errors import invalid_argument
from intaglio.graphdef.example_messages import Example
from intaglio.opdef.op import op
from intaglio.ops.text.strings import StringMap, mapped


@op
class DecodeJSONExample(StringMap):
    """Examples written as JSON, as the bytes of Example messages."""

    signature = "json_examples: string; -> binary_examples: string"
    called = {"input": "json_examples"}

    def kernel(self, json_examples):
        return mapped(_bytes, json_examples)


def _bytes(text: bytes) -> bytes:
    try:
        message = json_format.Parse(text, Example())
    except (json_format.ParseError, UnicodeDecodeError) as e:
        raise invalid_argument(f"Error while parsing JSON: {e}") from None
    return message.SerializeToString(deterministic=True)
