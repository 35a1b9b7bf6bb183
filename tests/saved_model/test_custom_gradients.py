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


@pytest.mark.parametrize("name", custom_gradients.NAMES)
def test_gradients_are_written(name: str, tmp_path: pathlib.Path) -> None:
    """TensorFlow 2.21 reads these files, and gives the recorded answers."""
    custom_gradients.save(tf, str(tmp_path / "once"))
    model = tf.saved_model.load(str(tmp_path / "once"))
    close(custom_gradients.slopes(tf, model, name), ANSWERS[name])
    tf.saved_model.save(model, str(tmp_path / "again"))
    model = tf.saved_model.load(str(tmp_path / "again"))
    close(custom_gradients.slopes(tf, model, name), ANSWERS[name])


def _loaded(f: Any, tmp_path: pathlib.Path, **attributes: Any) -> Any:
    module = tf.Module()
    for name, value in attributes.items():
        setattr(module, name, value)
    module.f = tf.function(f, input_signature=[tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(module, str(tmp_path / "model"))
    return tf.saved_model.load(str(tmp_path / "model"))


def _slope(model: Any, at: float) -> float:
    x = tf.constant(at)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = model.f(x)
    return float(tape.gradient(y, x))


def test_a_gradient_uses_values_that_the_function_leaves_out(tmp_path: pathlib.Path) -> None:
    weights = tf.constant([0.5, 2.5])

    @tf.custom_gradient
    def f(x: Any) -> Any:
        unused = tf.exp(x) * 3.0
        return x * 2.0, lambda dy: dy * unused * tf.reduce_sum(weights)

    model = _loaded(lambda x: f(x) + 1.0, tmp_path)
    np.testing.assert_allclose(_slope(model, 1.0), 9.0 * np.e, rtol=1e-6)


def test_gradients_inside_of_branches_and_called_functions(tmp_path: pathlib.Path) -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        return x * 2.0, lambda dy: dy * x * 100.0

    @tf.function
    def called(x: Any) -> Any:
        return f(x)

    model = _loaded(lambda x: tf.cond(x > 0.0, lambda: f(x * 1.0), lambda: called(-x)), tmp_path)
    assert [_slope(model, x) for x in (3.0, -4.0)] == [300.0, -400.0]


def test_a_gradient_of_a_variable_and_one_that_is_none(tmp_path: pathlib.Path) -> None:
    scale = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x: Any, y: Any) -> Any:
        def gradient(dy: Any, variables: Any) -> Any:
            return (dy * scale * 10.0, None), [dy * 7.0]

        return x * scale + y, gradient

    model = _loaded(lambda x: f(x, x * 2.0), tmp_path, scale=scale)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = model.f(x)
    assert [float(g) for g in tape.gradient(y, [x, model.scale])] == [30.0, 7.0]


def test_a_gradient_that_cannot_be_traced_is_refused(tmp_path: pathlib.Path) -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        return x * 1.0, lambda dy: dy * float(dy.numpy())

    with pytest.raises(ValueError, match="Error when tracing gradients for SavedModel"):
        _loaded(f, tmp_path)
    with pytest.raises(OSError, match="does not exist"):
        tf.saved_model.load(str(tmp_path / "model"))
