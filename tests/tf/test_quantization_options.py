"""What is said of models that are to be quantised; the bytes are those that TensorFlow 2.21 writes."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

from intaglio import tf

q = tf.quantization.experimental


def test_options_have_tensorflows_bytes() -> None:
    spec = q.QuantizationComponentSpec
    options = q.QuantizationOptions(
        signature_keys=["key"],
        tags=["serve"],
        op_set=4,
        freeze_all_variables=False,
        quantization_method=q.QuantizationMethod(
            preset_method=q.QuantizationMethod.METHOD_DYNAMIC_RANGE_INT8,
            quantization_component_specs=[
                spec(
                    quantization_component=spec.COMPONENT_ACTIVATION,
                    tensor_type=spec.TENSORTYPE_INT_8,
                )
            ],
        ),
        min_num_elements_for_weights=1024,
        unit_wise_quantization_specs=[
            q.UnitWiseQuantizationSpec(
                unit=[q.UnitWiseQuantizationSpec.QuantizationUnit(op_type="Conv2D")]
            )
        ],
    )
    options.representative_datasets["key"].tfrecord_file_path = "f"
    options.calibration_options.calibration_parameters.num_bins = 256
    options.debugger_config.log_dir_path = "d"
    assert options.SerializeToString(deterministic=True).hex() == WANTED


def _records(path: pathlib.Path) -> list[bytes]:
    return [r.numpy() for r in tf.data.TFRecordDataset(str(path))]  # type: ignore[attr-defined]


def test_samples_are_records(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "samples"
    saver = q.TfRecordRepresentativeDatasetSaver({"serving_default": path})
    sample = {"input": tf.constant([[1.0, 2.0]])}
    files = saver.save({"serving_default": [sample, {"input": np.array([[1, 2]], np.float32)}]})
    assert files["serving_default"].tfrecord_file_path == str(path)
    wanted = b'\x12\x1f\n\x05input\x12\x16\x08\x01\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02"\x08\x00\x00\x80?\x00\x00\x00@'
    assert _records(path) == [wanted, wanted]
    options = q.QuantizationOptions(representative_datasets=files)
    assert options.representative_datasets["serving_default"].tfrecord_file_path


@pytest.mark.parametrize(
    ("keys", "given", "error", "words"),
    [
        (None, {"b": []}, ValueError, "provided path_map: b"),
        ({"a": ["x"]}, {"a": [{"y": 1.0}]}, KeyError, "expects input keys of"),
        ({"b": ["x"]}, {}, KeyError, "the same set of keys"),
    ],
)
def test_wrong_samples(
    keys: Any, given: Any, error: Any, words: str, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(error, match=words):
        q.TfRecordRepresentativeDatasetSaver({"a": tmp_path / "a"}, keys).save(given)


WANTED = (
    "0a081a0408011002200310042a05736572766532036b65793a0a0a036b657912030a01664080"
    "0848007a0512030880028201031a01648a010a2a080a06436f6e763244"
)
