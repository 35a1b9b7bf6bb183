"""Graphs with recurrent layers that run on GPUs only: shapes, gradients, files. TensorFlow's shapes were recorded."""

from __future__ import annotations

from typing import Any

import pytest

from intaglio import tf

SPECS = [tf.TensorSpec(s) for s in ([None, 2, 4], [1, None, 5], [1, 2, 5], [None])]
UNKNOWN = None


def ops(name: str, *given: Any, **attrs: Any) -> Any:
    x, h, c, p = given
    lengths = {"sequence_lengths": tf.constant([3, 3])} if name == "CudnnRNNV3" else {}
    return getattr(tf.raw_ops, name)(input=x, input_h=h, input_c=c, params=p, **lengths, **attrs)


def shapes(result: Any) -> list[Any]:
    return [t.shape.as_list() if t.shape.rank is not None else UNKNOWN for t in result]


@pytest.mark.parametrize(
    ("name", "attrs", "wanted"),
    [
        ("CudnnRNN", {}, [[None, 2, 5], [1, None, 5], [1, None, 5], None]),
        ("CudnnRNN", {"rnn_mode": "gru"}, [[None, 2, 5], [1, None, 5], [], None]),
        ("CudnnRNNV2", {}, [[None, 2, 5], [1, None, 5], [1, None, 5], None, None]),
        ("CudnnRNNV3", {}, [[None, 2, 5], [1, None, 5], [1, 2, 5], None, None]),
        (
            "CudnnRNNV3",
            {"direction": "bidirectional"},
            [[None, 2, 10], [1, None, 5], [1, 2, 5], None, None],
        ),
    ],
)
def test_shapes(name: str, attrs: Any, wanted: Any) -> None:
    traced = tf.function(lambda *given: ops(name, *given, **attrs)).get_concrete_function(*SPECS)
    assert shapes(traced.structured_outputs) == wanted


@pytest.mark.parametrize("name", ["CudnnRNN", "CudnnRNNV2", "CudnnRNNV3"])
def test_gradients_are_traced(name: str) -> None:
    def gradients(*given: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(given)
            y = tf.reduce_sum(ops(name, *given)[0])
        return tape.gradient(y, given)

    traced = tf.function(gradients).get_concrete_function(*SPECS)
    assert [g.shape.as_list() for g in traced.structured_outputs] == [
        s.shape.as_list() for s in SPECS
    ]


def test_a_function_for_gpus_beside_another(tmp_path: Any) -> None:
    """As Keras 2 traces its LSTM: the one for GPUs is saved, and never called."""

    class Layer(tf.Module):
        @tf.function(input_signature=SPECS)
        def __call__(self, x: Any, h: Any, c: Any, p: Any) -> Any:
            on_gpus = tf.function(lambda *given: ops("CudnnRNNV3", *given)[0])
            on_gpus.get_concrete_function(x, h, c, p).add_to_graph()
            return tf.reduce_sum(x) + tf.reduce_sum(p)

    given = [tf.ones([2 if d is None else d for d in s.shape]) for s in SPECS]
    tf.saved_model.save(Layer(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert float(loaded(*given)) == float(Layer()(*given)) == 18.0


def test_wrong_rank() -> None:
    x, h, c, p = (tf.zeros([3, 4]), tf.zeros([1, 2, 5]), tf.zeros([1, 2, 5]), tf.zeros([9]))
    with pytest.raises(ValueError, match="rank 3"):
        tf.function(lambda: ops("CudnnRNNV2", x, h, c, p)).get_concrete_function()
