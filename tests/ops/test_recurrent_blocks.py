"""Gradients of recurrent layers that are one op, against those of the layer composed of ops."""

from typing import Any

import numpy as np
import pytest

import intaglio.tf as tf
from intaglio.opdef import raw

RNG = np.random.RandomState(0)
X, H, C = (RNG.randn(*shape).astype(np.float32) for shape in ((4, 2, 3), (2, 2), (2, 2)))
W, B = RNG.randn(5, 8).astype(np.float32), RNG.randn(8).astype(np.float32)
PEEPHOLES = [RNG.randn(2).astype(np.float32) for _ in range(3)]


def _composed(steps, x, cs, h, w, wci, wcf, wco, b, order, forget_bias):
    """The outputs of the layer's steps."""
    outputs = []
    for step in range(steps):
        columns = tf.concat([x[step], h], 1) @ w + b
        gates = dict(zip(order, tf.split(columns, 4, axis=1), strict=True))
        i = tf.sigmoid(gates["i"] + cs * wci)
        f = tf.sigmoid(gates["f"] + forget_bias + cs * wcf)
        cs = tf.tanh(gates["c"]) * i + cs * f
        h = tf.tanh(cs) * tf.sigmoid(gates["o"] + cs * wco)
        outputs.append(h)
    return tf.stack(outputs)


def _gradients(function, inputs):
    tensors = [tf.constant(value) for value in inputs]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        loss = tf.reduce_sum(tf.sin(function(*tensors)))
    return tape.gradient(loss, tensors)


@pytest.mark.parametrize("peephole", (0, 1))
@pytest.mark.parametrize("steps", (4, 2))
@pytest.mark.parametrize("op", ("BlockLSTM", "BlockLSTMV2"))
def test_the_gradient_of_a_layer_is_that_of_its_ops(op, steps, peephole):
    inputs = [X, C, H, W, *(peephole * p for p in PEEPHOLES), B]
    attrs = {"forget_bias": 0.5} if op == "BlockLSTM" else {}

    def layer(*tensors):
        kind = raw.find(op)
        gates = kind(
            np.int64(steps), *tensors, cell_clip=-1.0, use_peephole=bool(peephole), **attrs
        )
        return gates[6][:steps]

    def composed(*tensors):
        order = "icfo" if op == "BlockLSTM" else "ifco"
        return _composed(steps, *tensors, order, attrs.get("forget_bias", 0.0))

    pairs = zip(_gradients(layer, inputs), _gradients(composed, inputs), strict=True)
    for number, (got, expected) in enumerate(pairs):
        if peephole or number not in (4, 5, 6):
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
        else:
            assert not np.any(got)


def _few(*shape):
    return tf.constant(RNG.randn(*shape).astype(np.float32))


STATE = {"cs_prev": _few(2, 4), "h_prev": _few(2, 4)}
WEIGHTS = {"w": _few(7, 16), "wci": _few(4), "wcf": _few(4), "wco": _few(4), "b": _few(16)}
GATES = ("i", "cs", "f", "o", "ci", "co")
GRU = {
    "x": _few(2, 3),
    "h_prev": _few(2, 4),
    "w_ru": _few(7, 8),
    "w_c": _few(7, 4),
    "b_ru": _few(8),
    "b_c": _few(4),
}
CALLS = {
    "LSTMBlockCell": {"x": _few(2, 3), **STATE, **WEIGHTS},
    "BlockLSTM": {"x": _few(3, 2, 3), **STATE, **WEIGHTS},
    "LSTMBlockCellGrad": {
        **{name: _few(2, 4) for name in (*GATES, "cs_grad", "h_grad")},
        "x": _few(2, 3),
        **STATE,
        **WEIGHTS,
    },
    "BlockLSTMGrad": {
        **{name: _few(3, 2, 4) for name in (*GATES, "h", "cs_grad", "h_grad")},
        "x": _few(3, 2, 3),
        **STATE,
        **WEIGHTS,
    },
    "GRUBlockCell": GRU,
    "GRUBlockCellGrad": {**GRU, **{name: _few(2, 4) for name in ("r", "u", "c", "d_h")}},
}


@pytest.mark.parametrize(
    ("op", "name"), [(op, name) for op, given in CALLS.items() for name in given]
)
def test_an_input_of_another_shape_is_an_error(op: str, name: str) -> None:
    # As in TensorFlow, but for shapes with which that reads beyond an array.
    run: Any = raw.find(op)
    given: dict[str, Any] = dict(CALLS[op])
    if not op.startswith("GRU"):
        given["use_peephole"] = True
    if op.startswith("BlockLSTM"):
        given["seq_len_max"] = np.int64(3)
    function = tf.function(lambda **tensors: run(**tensors), reduce_retracing=True)
    run(**given)
    for other in (given[name][:1], given[name][None]):
        for call in (run, function):
            with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
                call(**{**given, name: other})


@pytest.mark.parametrize("name", ("wci", "wcf", "wco"))
@pytest.mark.parametrize("op", ("LSTMBlockCell", "LSTMBlockCellGrad"))
def test_unused_peepholes_are_vectors(op: str, name: str) -> None:
    # TensorFlow, which was asked, takes vectors of other lengths; given another rank the cell
    # raises, and its gradient ends the process.
    run: Any = raw.find(op)
    given: dict[str, Any] = {**CALLS[op], "use_peephole": False}
    results = [np.asarray(r) for r in run(**given)]
    for other, expected in zip(run(**{**given, name: _few(5)})[:2], results, strict=False):
        np.testing.assert_array_equal(other, expected)
    for wrong in (given[name][0], given[name][None]):
        with pytest.raises(tf.errors.InvalidArgumentError, match=name):
            run(**{**given, name: wrong})
