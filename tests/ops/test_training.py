"""Optimizer steps: TensorFlow's answers, recorded, and steps that fail."""

import json
import pathlib
import threading

import numpy as np
import pytest

from intaglio import tf

CASES = [
    case
    for name in ("training_steps.json", "training_rows.json")
    for case in json.loads(pathlib.Path(__file__).with_name(name).read_text())["cases"]
]


def carry_out(case):
    """The variables after the step."""
    variables = {k: tf.Variable(np.float32(v)) for k, v in case["slots"].items()}
    inputs = {k: v.handle for k, v in variables.items()}
    inputs |= {
        k: tf.constant(v, tf.int64 if k == "global_step" else tf.float32)
        for k, v in case["scalars"].items()
    }
    name, gradient = case["grad"]
    inputs[name] = tf.constant(gradient, tf.float32)
    if case["indices"]:
        inputs["indices"] = tf.constant(case["indices"])
    getattr(tf.raw_ops, case["op"])(**inputs, **case["attrs"])
    return list(variables.values())


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["op"])
def test_as_tensorflow(case):
    # Ftrl divides the difference of two powers by the learning rate: the last bit of one, in
    # which versions of NumPy differ, is worth ten times as much in the result.
    atol = 5e-6 if "Ftrl" in case["op"] else 1e-6
    for variable, answer in zip(carry_out(case), case["answers"], strict=True):
        np.testing.assert_allclose(variable.numpy(), answer, rtol=2e-6, atol=atol)


def test_in_a_function():
    var = tf.Variable([1.0, 2.0])

    @tf.function
    def step():
        tf.raw_ops.ResourceApplyGradientDescent(var=var.handle, alpha=1.0, delta=[1.0, 1.0])
        return var.read_value()

    assert step().numpy().tolist() == [0.0, 1.0]
    assert step().numpy().tolist() == [-1.0, 0.0]


def test_a_failing_step_changes_nothing():
    var, accum = tf.Variable([1.0, 2.0]), tf.Variable([0.1, 0.1])
    for gradient, lr in (([1.0, 2.0, 3.0], 0.1), ([1.0, 2.0], [0.1, 0.1])):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape|scalar"):
            tf.raw_ops.ResourceApplyAdagrad(
                var=var.handle, accum=accum.handle, lr=lr, grad=gradient
            )
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        tf.raw_ops.ResourceSparseApplyMomentum(
            var=var.handle,
            accum=accum.handle,
            lr=0.1,
            grad=[1.0, 1.0],
            indices=[0, 2],
            momentum=0.9,
        )
    assert var.numpy().tolist() == [1.0, 2.0]
    assert accum.numpy().tolist() == [np.float32(0.1)] * 2


def test_threads():
    var, accum = tf.Variable([0.0]), tf.Variable([0.0])

    def work():
        for _ in range(200):
            tf.raw_ops.ResourceApplyMomentum(
                var=var.handle, accum=accum.handle, lr=1.0, grad=[1.0], momentum=1.0
            )

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert accum.numpy()[0] == 800
    assert var.numpy()[0] == -sum(range(801))
