"""Graphs to TensorFlow's protocol buffers and back.

The messages are declared on first use: most programs write none.
"""

from intaglio.opdef import raw

raw.expect(
    __name__,
    {
        "example_parsing": "ParseExampleV2",
        "sparse_strings": (
            "DeserializeManySparse DeserializeSparse SerializeManySparse SerializeSparse"
        ),
        "sequence_parsing": "ParseSequenceExampleV2",
        "json_examples": "DecodeJSONExample",
        "proto_fields": "DecodeProtoV2 EncodeProto",
        "tensor_strings": "ParseTensor SerializeTensor",
    },
)
