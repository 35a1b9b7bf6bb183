"""`tensorflow.python.eager.backprop` and what tests of Keras 2 call; asked of TensorFlow 2.21."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.tensorflow_name.gradient_functions import (
    gradients_function,
    implicit_grad,
    implicit_val_and_grad,
    make_vjp,
    val_and_grad_function,
)
from intaglio.tensorflow_name.internals import add_variable
from tests.tensorflow_name.process import printed_by


def test_gradients_by_what_a_function_reads() -> None:
    x = tf.Variable([1.0, 2.0])

    def f(a: Any) -> Any:
        return tf.reduce_sum(x * x * a)

    value, [(gradient, variable)] = implicit_val_and_grad(f)(3.0)
    assert float(value) == 15.0
    assert gradient.numpy().tolist() == [6.0, 12.0]
    assert variable is x
    [(again, _)] = implicit_grad(f)(3.0)
    assert again.numpy().tolist() == [6.0, 12.0]
    with pytest.raises(ValueError, match="No trainable variables were accessed"):
        implicit_grad(lambda a: a)(3.0)
    with pytest.raises(ValueError, match="a function that returns None"):
        implicit_grad(lambda a: None)(3.0)


def test_gradients_by_parameters() -> None:
    def f(a: Any, c: Any) -> Any:
        return a * a * c

    assert [float(g) for g in gradients_function(f)(3.0, 2.0)] == [12.0, 9.0]
    assert [float(g) for g in gradients_function(f, params=[1])(3.0, 2.0)] == [9.0]
    value, gradients = val_and_grad_function(f, params=["a"])(3.0, 2.0)
    assert (float(value), [float(g) for g in gradients]) == (18.0, [12.0])
    _, backward = make_vjp(f)(3.0, 2.0)
    assert [float(g) for g in backward(tf.constant(10.0))] == [120.0, 90.0]
    with pytest.raises(ValueError, match="positional arguments"):
        make_vjp(f)(3.0, c=2.0)


def test_variables_are_parts_of_objects() -> None:
    module = tf.Module()
    made = add_variable(module, "w", shape=[2])
    assert made.shape == [2]
    assert module._trackable_children() == {"w": made}
    with pytest.raises(ValueError, match="already declared as a dependency"):
        add_variable(module, "w", shape=[2])


class _Parts(tf.train.Checkpoint):
    def __init__(self) -> None:  # TensorFlow's needs no call of its `__init__` either
        self.part = tf.Variable(1.0)


def test_a_checkpoint_without_init_has_parts(tmp_path: pathlib.Path) -> None:
    parts = _Parts()
    assert parts._trackable_children() == {"part": parts.part}
    path = tf.train.Checkpoint(model=parts).write(str(tmp_path / "c"))
    parts.part.assign(5.0)
    tf.train.Checkpoint(model=parts).read(path).assert_consumed()
    assert parts.part.numpy() == 1.0


def test_graphs_know_the_creators_of_variables() -> None:
    seen: list[Any] = []

    def creator(following: Any, **kwargs: Any) -> Any:
        seen.append(kwargs.get("per_worker_variable"))
        return following(**kwargs)

    graph: Any = tf.Graph()
    # Optimizers keep variables by a graph's key when it is gone; the next graph often is in its memory.
    assert len({tf.Graph()._graph_key for _ in range(50)}) == 50  # type: ignore[attr-defined]
    assert graph._variable_creator_stack == []
    with tf.variable_creator_scope(creator):
        assert [c for _, c in graph._variable_creator_stack] == [creator]
        options: dict[str, Any] = {"per_worker_variable": True}
        assert tf.Variable(2.0, **options).numpy() == 2.0
        kept = graph._variable_creator_stack
        graph._variable_creator_stack = []
        tf.Variable(3.0)
        graph._variable_creator_stack = kept
    assert seen == [True]
    assert not tf.Variable(1.0)._in_graph_mode
    with graph.as_default():
        assert tf.Variable(1.0)._in_graph_mode
    with pytest.raises(TypeError):
        tf.Variable(1.0, foo=True)  # type: ignore[call-arg]  # there is none


def test_powers_of_adam() -> None:
    v1: Any = tf.compat.v1
    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=[1.0, 2.0])
        optimizer = v1.train.AdamOptimizer(0.1)
        step = optimizer.minimize(tf.reduce_sum(w * w), var_list=[w])
        first, second = optimizer._get_beta_accumulators()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(step)
            np.testing.assert_allclose(session.run([first, second]), [0.81, 0.998001], rtol=1e-6)


def test_names_of_private_modules() -> None:
    assert printed_by(
        """
        import intaglio
        intaglio.install_as_tensorflow()
        import tensorflow as tf
        from tensorflow.python.autograph.impl.api import StagingError
        from tensorflow.python.ops import summary_ops_v2
        from tensorflow.python.ops.init_ops_v2 import _compute_fans
        from tensorflow.python.profiler.internal import flops_registry
        from tensorflow.python.framework import graph_util, ops
        print(_compute_fans([3, 3, 2, 4]), issubclass(StagingError, Exception))
        with summary_ops_v2.always_record_summaries():
            print(bool(summary_ops_v2.scalar("a", 1.0, family="f", step=1)))
        graph = tf.Graph()
        with graph.as_default():
            x = tf.compat.v1.placeholder(tf.float32, [3, 5], name="x")
            node = tf.reduce_max(x, 1, name="top").op.node_def
        print(graph_util.tensor_shape_from_node_def_name(graph, node.input[0]))
        print(flops_registry._reduction_op_flops(graph, node, reduce_flops=1, finalize_flops=2).value)
        """
    ) == ["(18, 36) True", "False", "(3, 5)", "18"]
