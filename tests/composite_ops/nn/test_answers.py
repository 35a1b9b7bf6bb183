"""tf.nn and tf.linalg give TensorFlow's answers, eagerly and in graphs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from intaglio import tf
from intaglio.runtime import interpreter
from intaglio.trace.graph import record
from tests.composite_ops.nn.calls import CALLS, arrays

ANSWERS = json.loads(Path(__file__).with_name("answers.json").read_text())
ROUGH = {"sparse loss half": 2e-3}


def compare(name, got):
    wanted = [np.asarray(a) for a in ANSWERS[name]]
    assert [a.shape for a in got] == [a.shape for a in wanted]
    for mine, theirs in zip(got, wanted, strict=True):
        tol = ROUGH.get(name, 1e-5)
        np.testing.assert_allclose(mine, theirs, rtol=tol, atol=tol)


@pytest.mark.parametrize("name", CALLS)
def test_eagerly(name):
    compare(name, arrays(CALLS[name](tf)))


@pytest.mark.parametrize("name", CALLS)
def test_in_a_graph(name):
    graph, result = record(lambda: CALLS[name](tf), "call", [])
    many = result if isinstance(result, (list, tuple)) else [result]
    graph.outputs.extend(t for t in many)
    made = interpreter.run_graph(graph.freeze_function(), [])
    for value, tensor in zip(made, many, strict=True):
        assert tensor.shape.is_compatible_with(np.shape(value))
    compare(name, [np.asarray(a, np.float64) for a in made])


def error(kind, phrase, call):
    with pytest.raises(kind) as caught:
        call()
    assert phrase in str(caught.value)


ONES = np.ones((2, 3), np.float32)


def test_errors_are_tensorflows():
    invalid = tf.errors.InvalidArgumentError
    error(ValueError, "in the range [0, 1)", lambda: tf.nn.dropout(ONES, 1.5))
    error(ValueError, "floating point tensor", lambda: tf.nn.dropout([1, 2], 0.5))
    error(
        ValueError,
        "`labels.shape.rank` must equal `logits.shape.rank - 1`",
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([[1]], ONES),
    )
    error(
        invalid,
        "outside the valid range of [0, 3).  Label values: 5 0",
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([5, 0], ONES),
    )
    error(invalid, "must be in the range [-2, 2)", lambda: tf.nn.softmax(ONES, axis=4))
    error(
        ValueError,
        "must be of the form `N...C` or `NC...`",
        lambda: tf.nn.bias_add(ONES, [1.0], data_format="FOO"),
    )
    error(
        ValueError,
        "Only one of `transpose_a` and `adjoint_a` can be True",
        lambda: tf.matmul(ONES, ONES, transpose_a=True, adjoint_a=True),
    )
    error(
        ValueError,
        "`labels` must have the same shape, received ((2, 3) vs (3,))",
        lambda: tf.nn.sigmoid_cross_entropy_with_logits([1.0, 2, 3], ONES),
    )
    error(ValueError, "expecting 2", lambda: tf.einsum("ij,jk", ONES))
    error(ValueError, "label k not present", lambda: tf.einsum("ij->k", ONES))
    error(ValueError, "supported matrix norm", lambda: tf.norm(ONES, ord=3, axis=[0, 1]))


def test_matmul_refuses_sizes_eagerly_and_in_graphs():
    a, b = np.ones((2, 2), np.float32), np.ones((3, 3), np.float32)
    text = "Matrix size-incompatible: In[0]: [2,2], In[1]: [3,3]"
    error(tf.errors.InvalidArgumentError, text, lambda: tf.matmul(a, b))
    graph = "Dimensions must be equal, but are 2 and 3 for"
    error(ValueError, graph, lambda: record(lambda: tf.matmul(a, b), "f", []))


def test_matmul_chooses_the_op():
    def types(*args, **kwargs):
        graph, _ = record(lambda: tf.matmul(*args, **kwargs), "f", [])
        return [n.op.name for n in graph.get_operations() if n.op.name != "Const"]

    assert types(ONES, ONES.T) == ["MatMul"]
    assert types(ONES[None], ONES.T) == ["BatchMatMulV2"]
    small = np.ones((2, 2), np.int8)
    assert types(small, small, output_type=tf.int32) == ["BatchMatMulV3"]
    rotated = np.ones((2, 2), np.complex64)
    assert types(rotated, rotated, adjoint_a=True) == ["Conj", "MatMul"]


def test_dropout_keeps_about_as_many_as_requested():
    kept = np.count_nonzero(tf.nn.dropout(np.ones(10000, np.float32), 0.3))
    assert 6700 < kept < 7300


def test_the_operator_is_matmul():
    a = tf.raw_ops.Identity(input=ONES)
    wanted = np.full((2, 2), 3, np.float32)
    for product in (a @ ONES.T, ONES @ tf.raw_ops.Identity(input=ONES.T)):
        np.testing.assert_array_equal(product.numpy(), wanted)
    batch = tf.raw_ops.Identity(input=ONES[None])
    assert (batch @ ONES.T).shape == (1, 2, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="size-incompatible"):
        a @ a
