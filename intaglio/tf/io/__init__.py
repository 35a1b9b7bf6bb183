"""Files, and tensors as strings: `tf.io`.

Follows https://www.tensorflow.org/api_docs/python/tf/io. All is imported on first
access.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.base import later

if TYPE_CHECKING:
    from intaglio.composite_ops.decoding import decode_csv as decode_csv
    from intaglio.composite_ops.decoding import decode_raw as decode_raw
    from intaglio.composite_ops.image.files import decode_and_crop_jpeg as decode_and_crop_jpeg
    from intaglio.composite_ops.image.files import decode_bmp as decode_bmp
    from intaglio.composite_ops.image.files import decode_gif as decode_gif
    from intaglio.composite_ops.image.files import decode_image as decode_image
    from intaglio.composite_ops.image.files import decode_jpeg as decode_jpeg
    from intaglio.composite_ops.image.files import decode_jxl as decode_jxl
    from intaglio.composite_ops.image.files import decode_png as decode_png
    from intaglio.composite_ops.image.files import decode_webp as decode_webp
    from intaglio.composite_ops.image.files import encode_jpeg as encode_jpeg
    from intaglio.composite_ops.image.files import encode_png as encode_png
    from intaglio.composite_ops.image.files import extract_jpeg_shape as extract_jpeg_shape
    from intaglio.composite_ops.image.files import is_jpeg as is_jpeg
    from intaglio.data.record_writer import TFRecordOptions as TFRecordOptions
    from intaglio.data.record_writer import TFRecordWriter as TFRecordWriter
    from intaglio.example_parsing.examples import parse_example as parse_example
    from intaglio.example_parsing.examples import parse_single_example as parse_single_example
    from intaglio.example_parsing.features import FixedLenFeature as FixedLenFeature
    from intaglio.example_parsing.features import FixedLenSequenceFeature as FixedLenSequenceFeature
    from intaglio.example_parsing.features import RaggedFeature as RaggedFeature
    from intaglio.example_parsing.features import SparseFeature as SparseFeature
    from intaglio.example_parsing.features import VarLenFeature as VarLenFeature
    from intaglio.example_parsing.sequence_examples import (
        parse_sequence_example as parse_sequence_example,
    )
    from intaglio.example_parsing.sequence_examples import (
        parse_single_sequence_example as parse_single_sequence_example,
    )
    from intaglio.graphdef.graph_files import write_graph as write_graph
    from intaglio.sparse.serialization import deserialize_many_sparse as deserialize_many_sparse
    from intaglio.sparse.serialization import serialize_many_sparse as serialize_many_sparse
    from intaglio.sparse.serialization import serialize_sparse as serialize_sparse
    from intaglio.tf.io import gfile as gfile
    from intaglio.tf.io.codecs import decode_base64 as decode_base64
    from intaglio.tf.io.codecs import decode_compressed as decode_compressed
    from intaglio.tf.io.codecs import decode_json_example as decode_json_example
    from intaglio.tf.io.codecs import encode_base64 as encode_base64
    from intaglio.tf.io.codecs import parse_tensor as parse_tensor
    from intaglio.tf.io.codecs import serialize_tensor as serialize_tensor
    from intaglio.tf.io.contents import match_filenames_once as match_filenames_once
    from intaglio.tf.io.contents import matching_files as matching_files
    from intaglio.tf.io.contents import read_file as read_file
    from intaglio.tf.io.contents import write_file as write_file
    from intaglio.tf.io.protos import decode_proto as decode_proto
    from intaglio.tf.io.protos import encode_proto as encode_proto

_HOMES = {
    "intaglio.tf.io.codecs": """
        decode_base64 decode_compressed decode_csv decode_json_example decode_raw encode_base64 parse_tensor serialize_tensor
    """,
    "intaglio.tf.io.contents": """
        match_filenames_once matching_files read_file write_file write_graph
    """,
    "intaglio.example_parsing.examples": """
        parse_example parse_single_example
    """,
    "intaglio.tf.io.protos": """
        decode_proto encode_proto
    """,
    "intaglio.example_parsing.sequence_examples": """
        parse_sequence_example parse_single_sequence_example
    """,
    "intaglio.sparse.serialization": """
        deserialize_many_sparse serialize_many_sparse serialize_sparse
    """,
    "intaglio.example_parsing.features": """
        FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature
    """,
    "intaglio.data.record_writer": """
        TFRecordOptions TFRecordWriter
    """,
    "intaglio.composite_ops.image.files": """
        decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_jxl decode_png decode_webp encode_jpeg encode_png extract_jpeg_shape is_jpeg
    """,
}
LATER = {
    "gfile": "intaglio.tf.io.gfile",
    **{name: f"{home}:{name}" for home, names in _HOMES.items() for name in names.split()},
}
__all__ = [*LATER]  # pyright: ignore[reportUnsupportedDunderAll]  # named in the table

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(__name__, LATER)
