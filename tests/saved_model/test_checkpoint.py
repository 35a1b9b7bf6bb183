"""Checkpoints; names, files and messages are those of TensorFlow."""

from __future__ import annotations

import gc
import pathlib
import weakref
from typing import Any

import pytest

from intaglio import tf
from intaglio.base.errors import InvalidArgumentError, NotFoundError

MODELS = pathlib.Path(__file__).parent / "models"


def module(value: float = 1.0) -> tf.Module:
    """A module with variables in several attributes."""
    m = tf.Module()
    m.v = tf.Variable(value)
    m.list = [tf.Variable([1, 2])]
    m.names = {"a.b/c": tf.Variable("text")}
    return m


def test_saving_numbers_checkpoints_and_names_the_newest(tmp_path: pathlib.Path) -> None:
    c = tf.train.Checkpoint(m=module(), step=tf.Variable(5))
    first, second = c.save(tmp_path / "ck"), c.save(str(tmp_path / "ck"))
    assert [first, second] == [str(tmp_path / "ck-1"), str(tmp_path / "ck-2")]
    assert (tmp_path / "checkpoint").read_text() == (
        'model_checkpoint_path: "ck-2"\nall_model_checkpoint_paths: "ck-2"\n'
    )
    assert tf.train.latest_checkpoint(tmp_path) == second
    state = tf.train.get_checkpoint_state(tmp_path)
    assert list(state.all_model_checkpoint_paths) == [second]
    assert tf.train.list_variables(tmp_path) == [
        ("_CHECKPOINTABLE_OBJECT_GRAPH", []),
        ("m/list/0/.ATTRIBUTES/VARIABLE_VALUE", [2]),
        ("m/names/a..b.Sc/.ATTRIBUTES/VARIABLE_VALUE", []),
        ("m/v/.ATTRIBUTES/VARIABLE_VALUE", []),
        ("save_counter/.ATTRIBUTES/VARIABLE_VALUE", []),
        ("step/.ATTRIBUTES/VARIABLE_VALUE", []),
    ]
    assert tf.train.load_variable(tmp_path, "step/.ATTRIBUTES/VARIABLE_VALUE") == 5


def test_restoring_brings_back_all_values(tmp_path: pathlib.Path) -> None:
    m = module(3.0)
    path = tf.train.Checkpoint(m=m, step=tf.Variable(5)).save(tmp_path / "ck")
    other = tf.train.Checkpoint(m=module(0.0), step=tf.Variable(0))
    other.restore(path).assert_consumed().assert_nontrivial_match()
    assert float(other.m.v) == 3.0 and int(other.step) == 5
    assert other.m.names["a.b/c"].numpy() == b"text" and int(other.save_counter) == 1


def test_what_comes_later_is_restored_then(tmp_path: pathlib.Path) -> None:
    path = tf.train.Checkpoint(m=module(3.0)).save(tmp_path / "ck")
    c = tf.train.Checkpoint(m=tf.Module())
    status = c.restore(path)
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\)\."):
        status.assert_consumed()
    c.m.v = tf.Variable(0.0)
    assert float(c.m.v) == 3.0
    c.m.list, c.m.names = [tf.Variable([0, 0])], {"a.b/c": tf.Variable("")}
    status.assert_consumed()
    c.m.more = tf.Variable(1.0)
    with pytest.raises(AssertionError, match="Found 1 Python objects that were not bound"):
        status.assert_existing_objects_matched()


def test_waiting_for_values_keeps_nothing_alive(tmp_path: pathlib.Path) -> None:
    path = tf.train.Checkpoint(m=module()).save(tmp_path / "ck")
    m = tf.Module()
    tf.train.Checkpoint(m=m).restore(path)
    gone = weakref.ref(m)
    del m
    gc.collect()
    assert gone() is None


def test_a_root_is_saved_without_a_name(tmp_path: pathlib.Path) -> None:
    m = module(2.0)
    path = tf.train.Checkpoint(m).write(tmp_path / "w")
    assert tf.train.load_checkpoint(path).has_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
    m.v.assign(0.0)
    tf.train.Checkpoint(m).read(path).assert_consumed()
    assert float(m.v) == 2.0


def test_a_root_may_be_a_weak_reference(tmp_path: pathlib.Path) -> None:
    """A model of Keras 2 holds a checkpoint of itself."""
    model = tf.Module()
    model.v = tf.Variable(2.0)
    model.checkpoint = tf.train.Checkpoint(root=weakref.ref(model))
    path = model.checkpoint.write(str(tmp_path / "c"))
    model.v.assign(5.0)
    model.checkpoint.restore(path).expect_partial()
    assert model.v.numpy() == 2
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_values_of_a_saved_model_of_tensorflow() -> None:
    m = tf.Module()
    m.table = tf.Variable(tf.zeros([6], tf.float16), shape=tf.TensorShape([None]))
    m.layers = [tf.Module(), tf.Module()]
    m.layers[1].b = tf.Variable([9.0, 9.0])
    tf.train.Checkpoint(m).restore(MODELS / "tensorflow").expect_partial()
    assert m.table.numpy().tolist() == [0, 1, 2, 3, 4, 5]
    assert m.layers[1].b.numpy().tolist() == [0.0, 0.0]


def test_what_does_not_fit(tmp_path: pathlib.Path) -> None:
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "ck")
    with pytest.raises(ValueError, match=r"Received incompatible tensor with shape \(\)"):
        tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).restore(path)
    with pytest.raises(InvalidArgumentError, match="expected dtype int32 does not equal"):
        tf.train.Checkpoint(v=tf.Variable(1)).restore(path)
    with pytest.raises(NotFoundError, match="Error when restoring from checkpoint"):
        tf.train.Checkpoint(v=tf.Variable(1)).restore(tmp_path / "nothing")
    with pytest.raises(ValueError, match="expecting v to be a trackable object"):
        tf.train.Checkpoint(v=3)
    nothing = tf.train.Checkpoint().restore(None)
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        nothing.assert_consumed()


# -- managers ------------------------------------------------------------------------------


def test_a_manager_keeps_the_newest(tmp_path: pathlib.Path) -> None:
    c = tf.train.Checkpoint(v=tf.Variable(0.0))
    manager = tf.train.CheckpointManager(c, tmp_path, max_to_keep=2)
    for value in range(4):
        c.v.assign(float(value))
        manager.save()
    kept = [str(tmp_path / "ckpt-3"), str(tmp_path / "ckpt-4")]
    assert manager.checkpoints == kept and manager.latest_checkpoint == kept[-1]
    assert len(list(tmp_path.iterdir())) == 5
    fresh = tf.train.Checkpoint(v=tf.Variable(9.0))
    again = tf.train.CheckpointManager(fresh, tmp_path, max_to_keep=2)
    assert again.checkpoints == kept and again.restore_or_initialize() == kept[-1]
    assert float(fresh.v) == 3.0
    assert again.save(checkpoint_number=77) == str(tmp_path / "ckpt-77")
    assert again.checkpoints == [kept[-1], str(tmp_path / "ckpt-77")]


def test_a_manager_waits_for_its_interval(tmp_path: pathlib.Path) -> None:
    c = tf.train.Checkpoint(step=tf.Variable(5))
    manager = tf.train.CheckpointManager(
        c, tmp_path, max_to_keep=None, step_counter=c.step, checkpoint_interval=2
    )
    assert manager.save() is not None and manager.save() is None
    assert manager.save(check_interval=False) is None  # TensorFlow's answers
    c.step.assign_add(1)
    assert manager.save() is None and manager.save(check_interval=False) is not None
    assert manager.save(7, check_interval=False) is None
    c.step.assign_add(1)
    assert manager.save() is None
    c.step.assign_add(1)
    assert manager.save() is not None and len(manager.checkpoints) == 3


def test_a_manager_starts_from_nothing(tmp_path: pathlib.Path) -> None:
    called: list[bool] = []
    c = tf.train.Checkpoint(v=tf.Variable(0.0))
    manager = tf.train.CheckpointManager(c, tmp_path, 3, init_fn=lambda: called.append(True))
    assert manager.restore_or_initialize() is None and called == [True]
    with pytest.raises(ValueError, match="positive integer or `None` for `max_to_keep`"):
        tf.train.CheckpointManager(c, tmp_path, 0)


def test_generators_are_saved(tmp_path: pathlib.Path) -> None:
    generator = tf.random.Generator.from_seed(1)
    path = tf.train.Checkpoint(g=generator).save(tmp_path / "ck")
    first = generator.normal([3]).numpy().tolist()
    other = tf.random.Generator.from_seed(2)
    tf.train.Checkpoint(g=other).restore(path).assert_consumed()
    assert other.normal([3]).numpy().tolist() == first
    assert tf.train.list_variables(path)[1] == ("g/_state_var/.ATTRIBUTES/VARIABLE_VALUE", [3])


@pytest.mark.parametrize("strategy", [None, "mirrored"])
def test_what_a_function_makes_is_restored_before_it_runs(
    tmp_path: pathlib.Path, strategy: str | None
) -> None:
    class Late(tf.Module):
        def __call__(self) -> Any:
            if not hasattr(self, "w"):
                self.w = tf.Variable(0.0)
            return self.w + 1.0

    saved, late = Late(), Late()
    saved()
    saved.w.assign(5.0)
    prefix = tf.train.Checkpoint(part=saved).save(str(tmp_path / "late"))
    status = tf.train.Checkpoint(part=late).restore(prefix)
    run: Any = tf.distribute.MirroredStrategy().run if strategy else lambda f: f()
    assert tf.function(lambda: run(late))().numpy() == 6.0
    assert late.w.numpy() == 5.0
    status.assert_consumed()


class Delegating(tf.Variable):
    """A variable that passes everything on to another, as those of Keras 2 for mixed precision do."""

    def __init__(self, variable: Any) -> None:
        self._variable = variable

    def __getattr__(self, name: str) -> Any:
        return getattr(self._variable, name)

    def _should_act_as_resource_variable(self) -> None:
        """Libraries' variables declare themselves so."""

    def value(self) -> Any:
        """The value in another dtype."""
        return tf.cast(self._variable.value(), tf.float16)

    def assign(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Assigns the other variable's value."""
        return self._variable.assign(value, *args, **kwargs)


def test_a_variable_that_delegates_to_another_is_saved_as_that(tmp_path: pathlib.Path) -> None:
    variable = tf.Variable([1.0, 2.0])
    part, plain = tf.Module(), tf.Module()
    part.w = Delegating(variable)
    prefix = tf.train.Checkpoint(part=part).save(str(tmp_path / "d"))
    assert tf.train.load_variable(prefix, "part/w/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [1, 2]
    variable.assign([3.0, 4.0])
    tf.train.Checkpoint(part=part).restore(prefix).assert_consumed()
    assert variable.numpy().tolist() == [1.0, 2.0]
    plain.w = tf.Variable([0.0, 0.0])
    tf.train.Checkpoint(part=plain).restore(prefix).assert_consumed()
    assert plain.w.numpy().tolist() == [1.0, 2.0]
