"""`experimental_enable_numpy_behavior`: what it gives, and what is as before without it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from intaglio import tf
from intaglio.numpy_api import np_config

tnp = tf.experimental.numpy


def test_without() -> None:
    x = tf.constant([[1, 2]])
    with pytest.raises(AttributeError, match="experimental_enable_numpy_behavior"):
        _ = x.T
    with pytest.raises(tf.errors.InvalidArgumentError, match="AddV2"):
        _ = x + tf.constant(1.5)
    with pytest.raises(TypeError, match="Only integers, slices"):
        _ = x[:, [0]]


def test_and_back() -> None:
    tnp.experimental_enable_numpy_behavior()
    assert (tf.constant(1) + 1.5).dtype is tf.float64
    np_config.disable_numpy_behavior()
    test_without()


@pytest.mark.usefixtures("numpy_behavior")
def test_in_a_function() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def program(x):
        y = x.T.reshape(-1).astype(tf.float32).clip(0, 3)
        if y.max() > 2:
            y = y / 2
        return y[[0, -1]], (x + 0.5).mean(), x.size, +x, round(y * 1.25, 1)

    ends, mean, size, same, rounded = program(np.array([[1, 2], [3, 4]], np.int32))
    assert ends.numpy().tolist() == [0.5, 1.5]
    assert mean.numpy() == 3.0 and mean.dtype is tf.float64
    assert int(size) == 4
    assert same.numpy().tolist() == [[1, 2], [3, 4]]
    assert rounded.numpy().tolist() == pytest.approx([0.6, 1.9, 1.2, 1.9])


@pytest.mark.usefixtures("numpy_behavior")
def test_variables_and_strings() -> None:
    assert (tf.Variable([1, 2]) + 1.5).numpy().tolist() == [2.5, 3.5]
    assert (tf.constant("a") + "b").numpy() == b"ab"
    assert bool(tf.constant("a") == "a")
    assert (1.5 - tf.constant(1)).numpy() == 0.5


def test_modes() -> None:
    with pytest.raises(ValueError, match="promotion mode foo does not exist"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="foo")
    tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="off")
    try:
        assert tf.constant([[1, 2]]).T.shape == (2, 1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="AddV2"):
            _ = tf.constant(1) + tf.constant(1.5)
    finally:
        np_config.disable_numpy_behavior()


def test_preferring_float32() -> None:
    """Asked of TensorFlow: integers still become float64, and `tnp.zeros` is float64."""
    tnp.experimental_enable_numpy_behavior(prefer_float32=True)
    try:
        assert tnp.array(1.5).dtype is tf.float32
        assert tnp.linspace(0, 1, 3).dtype is tf.float32
        assert tnp.sin(1).dtype is tf.float64
        assert tnp.zeros(2).dtype is tf.float64
        assert tnp.array(1).dtype is tf.int64
    finally:
        np_config.disable_numpy_behavior()


def test_where_it_differs() -> None:
    """What NumPy documents and TensorFlow 2.21 gets wrong is NumPy's answer here."""
    assert tnp.around([15, 25], -1).numpy().tolist() == [20, 20]
    assert tnp.isclose([np.inf, 1], [np.inf, np.inf]).numpy().tolist() == [True, False]
    assert tnp.var([1, 2], ddof=1).numpy() == 0.5
    assert np.isnan(tnp.heaviside(np.nan, 2.0))
    assert tnp.flip([[1, 2], [3, 4]], axis=(0, 1)).numpy().tolist() == [[4, 3], [2, 1]]
    assert tnp.concatenate([[[1]], [[2]]], axis=None).numpy().tolist() == [1, 2]
    assert tnp.rad2deg([np.pi]).numpy().tolist() == [180.0]


def test_random_numbers_are_tensorflows() -> None:
    """Recorded from TensorFlow: seed(1), then these calls."""
    tnp.random.seed(1)
    np.testing.assert_allclose(tnp.random.rand(3), [0.32104743, 0.04779355, 0.33551271], rtol=1e-6)
    np.testing.assert_allclose(tnp.random.rand(), 0.08085636504652305)
    np.testing.assert_allclose(tnp.random.randn(2), [0.64368884, 0.70454497], rtol=1e-6)
    with pytest.raises(ValueError, match="dtype"):
        tnp.random.randint(5, dtype=np.int8)


def test_imported_late() -> None:
    code = (
        "import sys; from intaglio import tf; "
        "assert 'intaglio.numpy_api' not in sys.modules; "
        "tf.experimental.numpy; assert 'intaglio.numpy_api' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_as_the_guides_import_it() -> None:
    code = (
        "import intaglio; intaglio.install_as_tensorflow()\n"
        "import tensorflow as tf\n"
        "import tensorflow.experimental.numpy as tnp\n"
        "from tensorflow.python.ops.numpy_ops import np_config\n"
        "np_config.enable_numpy_behavior(dtype_conversion_mode='legacy')\n"
        "assert (tnp.array([1, 2]).reshape(2, 1) + .5).dtype is tf.float64\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
