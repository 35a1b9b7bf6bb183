"""Signatures that return ragged and sparse tensors. TensorFlow 2.21 loads what is written here, and calls it."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf
from intaglio.graphdef.saved_messages import SavedModel


class Words(tf.Module):
    """Returns composite values beside tensors, by name, in lists and alone."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def named(self, x: Any) -> Any:
        return {"words": tf.strings.split(x), "count": tf.size(x)}

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
    def twice(self, x: Any) -> Any:
        return x * 2.0

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def several(self, x: Any) -> Any:
        return tf.sparse.from_dense(x), x + 1


def _saved(folder: pathlib.Path) -> Any:
    model = Words()
    signatures = {"named": model.named, "twice": model.twice, "several": model.several}
    tf.saved_model.save(model, str(folder), signatures=signatures)
    return tf.saved_model.load(str(folder)).signatures


def test_signatures_return_composite_values(tmp_path: pathlib.Path) -> None:
    signatures = _saved(tmp_path)
    found = signatures["named"](x=tf.constant(["a b", "c"]))
    assert found["words"].to_list() == [[b"a", b"b"], [b"c"]]
    assert int(found["count"]) == 2
    several = signatures["several"](x=tf.constant([[0, 5], [0, 0]]))
    assert tf.sparse.to_dense(several["output_0"]).numpy().tolist() == [[0, 5], [0, 0]]
    assert several["output_1"].numpy().tolist() == [[1, 6], [1, 1]]
    spec = signatures["named"].structured_outputs["words"]
    assert spec == tf.RaggedTensorSpec([None, None], tf.string, 1, tf.int64)


def test_outputs_are_written_with_their_specs(tmp_path: pathlib.Path) -> None:
    _saved(tmp_path)
    message: Any = SavedModel()
    message.ParseFromString((tmp_path / "saved_model.pb").read_bytes())
    outputs = message.meta_graphs[0].signature_def["named"].outputs
    assert outputs["count"].name.endswith(":0")
    whole = outputs["words"].composite_tensor
    assert whole.type_spec.type_spec_class_name == "RaggedTensorSpec"
    assert [c.name.rpartition(":")[2] for c in whole.components] == ["1", "2"]
    kinds = [tf.as_dtype(c.dtype) for c in whole.components]
    assert kinds == [tf.string, tf.int64]


@given(st.lists(st.lists(st.floats(-9, 9, width=16), max_size=4), min_size=1, max_size=5))
def test_arguments_are_components_and_results_are_composite_values(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[float]]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "composite"
    signatures = (
        _saved(folder) if not folder.exists() else tf.saved_model.load(str(folder)).signatures
    )
    twice = signatures["twice"]
    ragged = tf.ragged.constant(rows, dtype=tf.float32, ragged_rank=1)
    first, second = sorted(twice.structured_input_signature[1])
    found = twice(**{first: ragged.values, second: ragged.row_splits})["output_0"]
    assert found.to_list() == [[2 * x for x in row] for row in rows]


def test_a_session_runs_the_components(tmp_path: pathlib.Path) -> None:
    _saved(tmp_path)
    v1: Any = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        model = v1.saved_model.load(session, ["serve"], str(tmp_path))
        signature = model.signature_def["named"]
        fetches = [c.name for c in signature.outputs["words"].composite_tensor.components]
        words, splits = session.run(fetches, {signature.inputs["x"].name: ["a b", "c"]})
    assert (words.tolist(), splits.tolist()) == ([b"a", b"b", b"c"], [0, 2, 3])


def test_other_values_are_refused(tmp_path: pathlib.Path) -> None:
    class Nothing(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([])])
        def f(self, x: Any) -> Any:
            return {"x": x, "none": None}

    model = Nothing()
    with pytest.raises(ValueError, match="Got a non-Tensor value None for key 'none'"):
        tf.saved_model.save(model, str(tmp_path), signatures=model.f)
