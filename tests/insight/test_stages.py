"""Stages ahead of time: traced, optimized, compiled; costs; what another process gets."""

import pickle

import pytest

from intaglio import tf


def model(x, w):
    for _ in tf.range(3):
        x = tf.tanh(x @ w)
    return {"out": x, "sum": tf.reduce_sum(x)}


def stages():
    spec = tf.TensorSpec([4, 4])
    traced = tf.function(model).trace(spec, spec)
    return traced, traced.optimize(), traced.optimize().compile()


@pytest.mark.parametrize("index", range(3))
def test_stages_compute_what_the_function_does(index: int) -> None:
    stage, x = stages()[index], tf.eye(4) * 0.5
    found, expected = stage(x, x), model(x, x)
    assert found.keys() == expected.keys()
    for name in expected:
        tf.debugging.assert_near(found[name], expected[name])
    again = pickle.loads(pickle.dumps(stage))
    assert again.state == stage.state
    assert [t.shape for t in again(x, x)] == [(4, 4), ()]


def test_order_of_stages() -> None:
    traced, optimized, compiled = stages()
    assert str(traced).startswith("# traced\ngraph ")
    assert "machine code" in compiled.compile_report()
    with pytest.raises(ValueError, match="compile\\(\\) comes first"):
        optimized.compile_report()
    with pytest.raises(ValueError, match="follows trace"):
        compiled.optimize()


def test_arguments_are_checked() -> None:
    traced, *_ = stages()
    with pytest.raises(TypeError, match="takes 2 tensors, not 1"):
        traced(tf.eye(4))
    with pytest.raises(ValueError, match="has shape \\(4, 4\\)"):
        traced(tf.eye(4), tf.eye(3))


def test_variables_cannot_be_pickled() -> None:
    v = tf.Variable(2.0)
    stage = tf.function(lambda x: x * v).trace(tf.TensorSpec([]))
    assert float(stage(3.0)) == 6.0
    with pytest.raises(TypeError, match="captures variables"):
        pickle.dumps(stage)


def test_cost_of_products_loops_and_branches() -> None:
    @tf.function
    def f(x, w, flag):
        y = x @ w
        if flag:
            y = tf.exp(y)
        for _ in tf.range(10):
            y = y + 1.0
        return y

    specs = tf.TensorSpec([8, 16]), tf.TensorSpec([16, 4]), tf.TensorSpec([], tf.bool)
    cost = f.trace(*specs).optimize().cost()
    assert cost.flops == pytest.approx(2 * 8 * 16 * 4 + 32 + 10 * 32, rel=0.1)
    assert cost.peak_bytes >= 4 * (8 * 16 + 16 * 4 + 8 * 4)
    assert cost.open == 0
    assert f.trace(tf.TensorSpec([None, 16]), *specs[1:]).cost().open > 0
