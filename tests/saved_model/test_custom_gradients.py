"""Custom gradients of a model that TensorFlow saved: `record` says how it and the answers were made."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.errors import UnsupportedFileError
from intaglio.graphdef.declarations import MalformedError
from intaglio.saved_model import reader
from tests.saved_model import custom_gradients

FOLDER = pathlib.Path(__file__).parent
MODEL = FOLDER / "models/tensorflow_gradients"
ANSWERS: dict[str, Any] = json.loads((FOLDER / "answers.json").read_text())["gradients"]


def close(found: Any, wanted: Any) -> None:
    for one, two in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6)


@pytest.mark.parametrize("name", custom_gradients.NAMES)
def test_gradients_are_those_that_were_saved(name: str) -> None:
    model = tf.saved_model.load(str(MODEL))
    for _ in range(3):
        close(custom_gradients.slopes(tf, model, name), ANSWERS[name])


@pytest.mark.parametrize("name", custom_gradients.NAMES)
def test_gradients_in_a_function_that_calls_the_model(name: str) -> None:
    model = tf.saved_model.load(str(MODEL))

    @tf.function
    def slopes(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(model, name)(x * 1.0)
        return y, *tape.gradient(y, [x, model.scale])

    found = [np.ravel(t) for t in slopes(tf.constant(custom_gradients.INPUT))]
    close(found, ANSWERS[name])


def test_a_second_derivative() -> None:
    # TensorFlow 2.21 was asked.
    model = tf.saved_model.load(str(MODEL))
    x = tf.constant(custom_gradients.INPUT)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = model.silu(x)
        slope = inner.gradient(y, x)
    np.testing.assert_allclose(outer.gradient(slope, x), [0.6047322, 0.10012432], rtol=1e-5)


def _changed(tmp_path: pathlib.Path, change: Any) -> Any:
    """The model, its message changed by `change(meta_graph)`, loaded."""
    folder = tmp_path / "model"
    for path in MODEL.rglob("*"):
        if path.is_file():
            target = folder / path.relative_to(MODEL)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    message = reader.read_message(str(folder))
    change(message.meta_graphs[0])
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())
    return tf.saved_model.load(str(folder))


def test_a_model_without_the_functions_says_which_is_missing(tmp_path: pathlib.Path) -> None:
    def change(meta_graph: Any) -> None:
        del meta_graph.graph_def.library.registered_gradients[:]

    model = _changed(tmp_path, change)
    assert model.silu(tf.constant([0.0])).numpy() == [0.0]
    with pytest.raises(LookupError, match="no entry for: CustomGradient-"):
        custom_gradients.slopes(tf, model, "silu")


def test_damaged_gradient_functions_are_refused(tmp_path: pathlib.Path) -> None:
    def numbers(meta_graph: Any) -> None:
        for pair in meta_graph.graph_def.library.registered_gradients:
            saved = meta_graph.object_graph_def.concrete_functions[pair.gradient_func]
            saved.bound_inputs.append(10**6)

    with pytest.raises(MalformedError, match="there is no object 1000000"):
        custom_gradients.slopes(tf, _changed(tmp_path, numbers), "silu")

    def capture(meta_graph: Any) -> None:
        for node in meta_graph.object_graph_def.nodes:
            if node.WhichOneof("kind") == "captured_tensor":
                node.captured_tensor.name = "elsewhere:0"

    with pytest.raises(
        UnsupportedFileError, match="needs 'elsewhere:0', which is not in the function"
    ):
        custom_gradients.slopes(tf, _changed(tmp_path, capture), "silu")
