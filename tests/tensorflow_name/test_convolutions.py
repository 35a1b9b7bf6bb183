"""`nn_ops.Convolution`, and batches of several dimensions. TensorFlow 2.21 was asked for every answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.tensorflow_name.convolutions import Convolution, squeeze_batch_dims
from tests.tensorflow_name.process import printed_by

SHAPE = tf.TensorShape


@settings(max_examples=20, deadline=None)
@given(
    spatial=st.integers(1, 3),
    padding=st.sampled_from(["SAME", "VALID"]),
    strides=st.integers(1, 2),
    dilation=st.integers(1, 2),
    is_known=st.booleans(),
    dtype=st.sampled_from([tf.float32, tf.float64]),
)
def test_it_is_a_convolution(
    spatial: int, padding: str, strides: int, dilation: int, is_known: bool, dtype: Any
) -> None:
    if strides > 1:
        dilation = 1
    x = tf.random.stateless_normal([2, *[5] * spatial, 3], [1, 2], dtype=dtype)
    w = tf.random.stateless_normal([*[2] * spatial, 3, 4], [3, 4], dtype=dtype)
    options: dict[str, Any] = {
        "padding": padding,
        "strides": [strides] * spatial,
        "dilation_rate": [dilation] * spatial,
    }
    call = Convolution(x.shape if is_known else SHAPE(None), w.shape, **options)
    assert call.num_spatial_dims == spatial
    wanted = tf.nn.convolution(x, w, options["strides"], padding, None, options["dilation_rate"])
    np.testing.assert_array_equal(call(x, w), wanted)
    np.testing.assert_allclose(tf.function(call)(x, w), wanted, 1e-4, 1e-5)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (([2, 5, 6, 7], [2, 2, 3, 4]), "channels is not divisible"),
        (([2, 5, 6], [2, 2, 3, 4]), "must be >= than"),
        ((None, None), "Rank of convolution must be known"),
    ],
)
def test_shapes_that_do_not_fit(shapes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Convolution(*map(SHAPE, shapes), padding="SAME")


def test_channels_may_be_groups_or_come_first() -> None:
    assert Convolution(SHAPE([2, 5, 6, 6]), SHAPE([2, 2, 3, 4]), "SAME").input_shape[-1] == 6
    first = Convolution(SHAPE([2, 3, 5, 5]), SHAPE([2, 2, 3, 4]), "SAME", data_format="NCHW")
    assert first.data_format == "NCHW"


def test_libraries_find_it() -> None:
    assert printed_by(
        """
        import intaglio
        intaglio.install_as_tensorflow()
        from tensorflow.python.ops import nn_ops
        print(nn_ops.Convolution.__name__, nn_ops.relu([-1.0]).numpy())
        """
    ) == ["Convolution [0.]"]


@pytest.mark.parametrize("batch", [[], [4], [2, 3], [2, 0, 3]])
@pytest.mark.parametrize("known", ["shape", "rank", "nothing"])
def test_batch_dimensions_are_one_for_an_op(batch: list[int], known: str) -> None:
    x = tf.random.stateless_normal([*batch, 5, 2], [1, 2])
    seen: list[Any] = []

    def halves(rows: Any) -> Any:
        seen.append(rows.shape)
        return rows[:, ::2, :1]

    def call(values: Any) -> Any:
        return squeeze_batch_dims(values, halves, 2)

    wanted = x[..., ::2, :1]
    assert call(x).shape == wanted.shape
    np.testing.assert_array_equal(call(x), wanted)
    assert seen[0] == [np.prod(batch, dtype=int), 5, 2]
    of_graph = {"shape": x.shape, "rank": [None] * len(x.shape), "nothing": None}[known]
    traced = tf.function(call, input_signature=[tf.TensorSpec(of_graph)])
    np.testing.assert_array_equal(traced(x), wanted)
    shape = traced.get_concrete_function().output_shapes
    if known == "shape":
        assert shape == wanted.shape
    elif known == "rank":
        assert shape.as_list() == [None] * (len(batch) + 2)
