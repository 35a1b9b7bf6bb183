"""Files of samples that calibrate a converter to a model's range of values.

Follows
https://www.tensorflow.org/api_docs/python/tf/quantization/experimental/TfRecordRepresentativeDatasetSaver.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from intaglio.data.record_writer import TFRecordWriter
from intaglio.graphdef.quantization_messages import (
    RepresentativeDataSample,
    RepresentativeDatasetFile,
)
from intaglio.graphdef.tensor_protos import make_tensor_proto


class TfRecordRepresentativeDatasetSaver:
    """Writes samples for each signature of a model to a TFRecord file.

    `path_map` has the paths by the signatures' keys, and `expected_input_key_map` the inputs that
    each sample has. Raises KeyError where the two have not the same signatures.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = {"serving_default": folder + "/samples"}
    ...     saver = tf.quantization.experimental.TfRecordRepresentativeDatasetSaver(paths)
    ...     files = saver.save({"serving_default": [{"x": tf.constant([1.0, 2.0])}]})
    ...     sorted(files)
    ['serving_default']
    """

    def __init__(
        self,
        path_map: Mapping[str, os.PathLike[str] | str],
        expected_input_key_map: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self.path_map = path_map
        self.expected_input_key_map = expected_input_key_map or {}
        if expected_input_key_map and set(path_map) != set(expected_input_key_map):
            raise KeyError(
                "The `path_map` and `expected_input_key_map` should have the same set of keys."
            )

    def save(
        self, representative_dataset: Mapping[str, Iterable[Mapping[str, Any]]]
    ) -> Mapping[str, Any]:
        """Writes the samples; gives a `RepresentativeDatasetFile` message for each signature.

        Raises ValueError for a signature without a path, KeyError for a sample with other inputs.
        """
        files: dict[str, Any] = {}
        for key, samples in representative_dataset.items():
            if key not in self.path_map:
                raise ValueError(f"SignatureDef key does not exist in the provided path_map: {key}")
            path = os.fspath(self.path_map[key])
            wanted = set(self.expected_input_key_map.get(key, ()))
            with TFRecordWriter(path) as writer:
                for sample in samples:
                    writer.write(_serialized(sample, wanted))
            files[key] = RepresentativeDatasetFile(tfrecord_file_path=path)
        return files


def _serialized(sample: Mapping[str, Any], wanted: set[str]) -> bytes:
    if wanted and set(sample) != wanted:
        raise KeyError(
            "Invalid input keys for representative sample. The function expects input keys of: "
            f"{wanted}. Got: {set(sample)}. Please provide correct input keys for representative samples."
        )
    message = RepresentativeDataSample()
    for name, value in sample.items():
        array = value.numpy() if hasattr(value, "numpy") else value
        proto = make_tensor_proto(np.asarray(array))
        message.tensor_proto_inputs[name].CopyFrom(proto)
    return message.SerializeToString(deterministic=True)


__all__ = ["TfRecordRepresentativeDatasetSaver"]
