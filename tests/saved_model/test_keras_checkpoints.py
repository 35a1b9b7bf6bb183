"""Checkpoints of Keras' models have TensorFlow's objects and keys; `keras_models.py` recorded them."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from tests.saved_model import keras_models

RECORDED: dict[str, Any] = json.loads(keras_models.ANSWERS.read_text())


@pytest.fixture
def keras() -> Any:
    intaglio.install_as_tensorflow()
    found = pytest.importorskip("keras")
    found.utils.clear_session()
    found.utils.set_random_seed(1)
    return found


@pytest.mark.parametrize("name", keras_models.NAMES)
def test_objects_and_keys_are_tensorflows(name: str, keras: Any, tmp_path: pathlib.Path) -> None:
    found = keras_models.graphs(tf, keras, name, str(tmp_path))
    assert json.loads(json.dumps(found)) == RECORDED[name]


@pytest.mark.parametrize("built", [True, False])
def test_a_checkpoint_of_tensorflow_is_restored(built: bool, keras: Any) -> None:
    """Also before the model and its optimizer have any variables, as in TensorFlow."""
    model = keras_models._sequential(tf, keras, built)
    model.compile(keras.optimizers.Adam(0.5), "mse")
    status = tf.train.Checkpoint(model=model, optimizer=model.optimizer).restore(
        f"{keras_models.PREFIX}-1"
    )
    model.build((None, 3))
    model.optimizer.build(model.trainable_variables)
    found = keras_models.weights(model)
    for one, two in zip(found, RECORDED["weights"], strict=True):
        np.testing.assert_array_equal(np.float32(one), np.float32(two))
    status.expect_partial()


def test_ours_is_restored_before_it_is_built(keras: Any, tmp_path: pathlib.Path) -> None:
    wanted = keras_models.written(tf, keras, str(tmp_path / "c"))
    model = keras_models._sequential(tf, keras, built=False)
    model.compile(keras.optimizers.Adam(0.5), "mse")
    tf.train.Checkpoint(model=model, optimizer=model.optimizer).restore(str(tmp_path / "c-1"))
    x = tf.zeros((1, 3))
    model(x)
    model.optimizer.build(model.trainable_variables)
    assert keras_models.weights(model) == wanted
