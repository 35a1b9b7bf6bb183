"""SavedModels of sessions with control flow by dataflow: TensorFlow was asked (record_control_flow_models.py)."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from intaglio import tf

FOLDER = pathlib.Path(__file__).with_name("control_flow_models")
ANSWERS = json.loads((FOLDER / "answers.json").read_text())


def check(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", ANSWERS)
def test_signatures_compute_what_sessions_compute(name: str) -> None:
    function = tf.saved_model.load(str(FOLDER / name)).signatures["serving_default"]
    _, dtypes = function.structured_input_signature
    for call, expected in zip(ANSWERS[name]["calls"], ANSWERS[name]["answers"], strict=True):
        check(function(**{n: tf.constant(v, dtypes[n].dtype) for n, v in call.items()}), expected)


@pytest.mark.parametrize("name", ANSWERS)
def test_sessions_run_models(name: str) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        meta_graph = v1.saved_model.load(session, ["serve"], str(FOLDER / name))
        signature = meta_graph.signature_def["serving_default"]
        inputs = {n: graph.get_tensor_by_name(i.name) for n, i in signature.inputs.items()}
        outputs = {n: graph.get_tensor_by_name(o.name) for n, o in signature.outputs.items()}
        for call, expected in zip(ANSWERS[name]["calls"], ANSWERS[name]["answers"], strict=True):
            feed = {inputs[n]: value for n, value in call.items()}
            check(session.run(outputs, feed), expected)


def test_gradients_of_loops_are_left_out(caplog: Any) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        with caplog.at_level("WARNING"):
            v1.saved_model.load(session, ["serve"], str(FOLDER / "recurrent"))
        (record,) = caplog.records
        assert "Gradients of loops" in record.getMessage()
        assert "'GradientDescent'" in record.getMessage()
        assert not v1.get_collection(v1.GraphKeys.TRAIN_OP)
        with pytest.raises(KeyError, match="GradientDescent"):
            graph.get_operation_by_name("GradientDescent")
