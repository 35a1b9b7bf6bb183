"""Variables that optimizers keep for others, in checkpoints. TensorFlow's keys and values were recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

train = tf.compat.v1.train
OPTIMIZERS = {
    "adam": (lambda: train.AdamOptimizer(0.1), ["m", "v"], ["beta1_power", "beta2_power"]),
    "momentum": (lambda: train.MomentumOptimizer(0.1, 0.9), ["momentum"], []),
    "adagrad": (lambda: train.AdagradOptimizer(0.1), ["accumulator"], []),
    "descent": (lambda: train.GradientDescentOptimizer(0.1), [], []),
}


def trained(make: Any) -> Any:
    w, b, optimizer = tf.Variable([1.0, 2.0]), tf.Variable(0.0), make()
    optimizer.minimize(lambda: tf.reduce_sum(w * w) + b * b)
    return tf.train.Checkpoint(w=w, b=b, o=optimizer)


def keys(path: str) -> list[str]:
    ending = "/.ATTRIBUTES/VARIABLE_VALUE"
    found = [name for name, _ in tf.train.list_variables(path)]
    return [n.removesuffix(ending) for n in found if n.endswith(ending)]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_keys_and_round_trip(name: str, tmp_path: Any) -> None:
    make, slots, own = OPTIMIZERS[name]
    before = trained(make)
    path = before.save(str(tmp_path / "c"))
    wanted = ["b", "w", "save_counter", *(f"o/{n}" for n in own)]
    wanted += [f"{v}/.OPTIMIZER_SLOT/o/{slot}" for v in "bw" for slot in slots]
    assert sorted(keys(path)) == sorted(wanted)
    after = tf.train.Checkpoint(w=tf.Variable([0.0, 0.0]), b=tf.Variable(0.0), o=make())
    status = after.restore(path)
    for slot in slots:  # they are there before the first step
        for variable in "bw":
            found = after.o.get_slot(getattr(after, variable), slot)
            expected = before.o.get_slot(getattr(before, variable), slot)
            np.testing.assert_array_equal(found, expected)
    if own:
        with pytest.raises(AssertionError, match="Unresolved object"):
            status.assert_consumed()
        status.expect_partial()
    for checkpoint in (before, after):
        checkpoint.o.minimize(lambda c=checkpoint: tf.reduce_sum(c.w * c.w) + c.b * c.b)
    np.testing.assert_array_equal(before.w, after.w)
    for one in own:
        found = after.o._get_non_slot_variable(one)
        np.testing.assert_array_equal(found, before.o._get_non_slot_variable(one))


def test_slots_left_out(tmp_path: Any) -> None:
    options = tf.train.CheckpointOptions(experimental_skip_slot_variables=True)
    path = trained(OPTIMIZERS["momentum"][0]).save(str(tmp_path / "c"), options)
    assert sorted(keys(path)) == ["b", "save_counter", "w"]


def test_a_slot_whose_variable_comes_later(tmp_path: Any) -> None:
    make = OPTIMIZERS["momentum"][0]
    path = trained(make).save(str(tmp_path / "c"))
    late = tf.train.Checkpoint(o=make())
    late.restore(path)
    late.w = tf.Variable([0.0, 0.0])
    np.testing.assert_allclose(late.o.get_slot(late.w, "momentum"), [2.0, 4.0])


def test_an_optimizer_that_keeps_positions(tmp_path: Any) -> None:
    """One that has no slot yet is given where its value is, and takes it when the slot is made."""
    make = OPTIMIZERS["momentum"][0]
    path = trained(make).save(str(tmp_path / "c"))

    class Lazy(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.waiting: Any = {}

        def get_slot_names(self) -> list[str]:
            return ["momentum"]

        def get_slot(self, var: Any, name: str) -> Any:
            raise KeyError(name)

        def _create_or_restore_slot_variable(
            self, slot_variable_position: Any, slot_name: str, variable: Any
        ) -> None:
            self.waiting[variable.ref()] = slot_variable_position

    w, optimizer = tf.Variable([0.0, 0.0]), Lazy()
    status = tf.train.Checkpoint(w=w, o=optimizer).restore(path)
    position = optimizer.waiting[w.ref()]
    assert position.is_simple_variable()
    assert position.value_shape().as_list() == [2]
    assert position.value().numpy().tolist() == [2.0, 4.0]
    slot = tf.Variable([0.0, 0.0])
    position.restore(slot)
    assert slot.numpy().tolist() == [2.0, 4.0]
    with pytest.raises(AssertionError):
        status.assert_consumed()  # that of `b` has not been taken
    status.expect_partial()
