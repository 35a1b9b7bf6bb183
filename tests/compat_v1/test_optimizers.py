"""Optimizers of TensorFlow 1: names of what they keep, steps of rows, subclasses. TensorFlow 2.21 was asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

v1: Any = tf.compat.v1

KINDS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "GradientDescent": ({}, []),
    "Momentum": ({"momentum": 0.9}, ["w/Momentum"]),
    "Adam": ({}, ["beta1_power", "beta2_power", "w/Adam", "w/Adam_1"]),
    "Adagrad": ({}, ["w/Adagrad"]),
    "RMSProp": ({"centered": True}, ["w/RMSProp", "w/RMSProp_1", "w/RMSProp_2"]),
    "Adadelta": ({}, ["w/Adadelta", "w/Adadelta_1"]),
    "Ftrl": ({"accum_name": "sums"}, ["w/Ftrl", "w/sums"]),
    "ProximalAdagrad": ({}, ["w/ProximalAdagrad"]),
    "ProximalGradientDescent": ({}, []),
}


@pytest.mark.parametrize("name", KINDS)
def test_variables_have_the_names_of_tensorflows_checkpoints(name: str) -> None:
    options, names = KINDS[name]
    with tf.Graph().as_default() as graph:
        w = v1.get_variable("w", initializer=[1.0, 2.0])
        optimizer = getattr(v1.train, f"{name}Optimizer")(0.1, **options)
        step = v1.train.get_or_create_global_step()
        with tf.name_scope("train"):
            train = optimizer.minimize(tf.reduce_sum(w * w), global_step=step)
        own = [v.op.name.removeprefix("train/") for v in optimizer.variables()]
        assert own == names
        assert (train.name, train.type) == (f"train/{name}", "AssignAddVariableOp")
        assert graph.get_collection(v1.GraphKeys.TRAIN_OP) == [train]


@pytest.mark.parametrize("name", ["Momentum", "RMSProp", "Adadelta"])
def test_rows_without_gradients_do_not_move(name: str) -> None:
    """The momentum of a row is used when the row has a gradient, and only then."""
    options = {"momentum": 0.9} if name != "Adadelta" else {}
    w = tf.Variable([[1.0], [2.0], [3.0]], name="w")
    optimizer = getattr(v1.train, f"{name}Optimizer")(0.1, **options)
    rows = tf.Variable([0, 1, 1])
    before = []
    for _ in range(2):
        optimizer.minimize(lambda: tf.reduce_sum(tf.gather(w, rows) ** 2), var_list=[w])
        before.append(w.numpy())
        rows.assign([0, 0, 0])
    assert before[0][1] != 2.0
    assert before[1][1] == before[0][1]
    assert before[1][0] != before[0][0]
    assert before[1][2] == 3.0


def test_adam_moves_all_rows_of_a_sparse_gradient() -> None:
    losses = {}
    for sparse in (True, False):
        w = tf.Variable(np.arange(6, dtype="f").reshape(3, 2))
        optimizer = v1.train.AdamOptimizer(0.1)
        for rows in ([0, 1, 1], [2, 0, 0]):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.gather(w, rows) ** 2)
            gradient = tape.gradient(loss, w)
            assert isinstance(gradient, tf.IndexedSlices)
            given = gradient if sparse else tf.convert_to_tensor(gradient)
            optimizer.apply_gradients([(given, w)])
        losses[sparse] = w.numpy()
    np.testing.assert_allclose(losses[True], losses[False], rtol=1e-6)


def test_a_subclass_says_how_variables_change() -> None:
    class Own(v1.train.Optimizer):
        def __init__(self) -> None:
            super().__init__(False, "Own")

        def _create_slots(self, var_list: Any) -> None:
            for v in var_list:
                self._zeros_slot(v, "sum", self._name)

        def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
            grown = self.get_slot(handle, "sum").assign_add(grad)
            with tf.control_dependencies([grown]):
                return handle.assign_sub(0.5 * grown)

        def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
            return handle.scatter_sub(tf.IndexedSlices(grad, indices))

    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=np.ones([3, 1], "f"))
        b = v1.get_variable("b", initializer=2.0)
        train = Own().minimize(tf.reduce_sum(tf.gather(w, [1, 1])) + b * b)
        assert [v.op.name for v in v1.global_variables()] == ["w", "b", "w/Own", "b/Own"]
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(train)
            assert session.run(w).ravel().tolist() == [1.0, -1.0, 1.0]
            assert session.run(b) == 0.0


@pytest.mark.parametrize(
    ("call", "phrase"),
    [
        (lambda o, w: o.apply_gradients([]), "No variables provided"),
        (lambda o, w: o.apply_gradients([(None, w)]), "No gradients provided for any variable: "),
        (lambda o, w: o.minimize(tf.constant(1.0)), "check your graph for ops"),
        (lambda o, w: o.minimize(w * w, var_list=[]), "No variables to optimize"),
        (lambda o, w: v1.train.FtrlOptimizer(0.1, learning_rate_power=1.0), "negative or zero"),
    ],
)
def test_errors(call: Any, phrase: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=phrase):
        call(v1.train.AdamOptimizer(), v1.get_variable("w", initializer=1.0))
