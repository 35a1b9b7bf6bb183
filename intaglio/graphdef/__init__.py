"""Graphs to TensorFlow's protocol buffers and back.

The messages are declared when the first of them is asked for: most programs write none.
"""

from __future__ import annotations

from typing import Any

from intaglio.base import later
from intaglio.base.messages import Form, install_forms
from intaglio.base.shapes import Dims, install_writer
from intaglio.ir.graph import Exporter, install_exporter
from intaglio.opdef import raw


def _exporter() -> Exporter:
    return later.named("intaglio.graphdef.exporter:EXPORTER")


def _shape(dims: Dims) -> Any:
    return later.named("intaglio.graphdef.tensors:shape_proto")(dims)


def _written() -> dict[str, Form]:
    return later.named("intaglio.graphdef.written:FORMS")


install_exporter(_exporter)
install_writer(_shape)
install_forms(_written)
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
