"""`tf.distribute` where there is one device. TensorFlow 2.21 was asked for every answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

DEFAULT = tf.distribute.get_strategy()


def where() -> tuple[bool, bool, bool]:
    """Has a strategy, runs for all replicas, runs in a replica."""
    return (
        tf.distribute.has_strategy(),
        tf.distribute.in_cross_replica_context(),
        tf.distribute.get_replica_context() is not None,
    )


def test_the_default_strategy_changes_nothing() -> None:
    strategy = tf.distribute.get_strategy()
    assert where() == (False, False, True)
    with strategy.scope():
        assert where() == (False, False, True)
    dataset = tf.data.Dataset.range(2)
    assert strategy.experimental_distribute_dataset(dataset) is dataset
    assert strategy.run(lambda x: x, args=(3,)) == 3
    assert strategy.num_replicas_in_sync == 1
    assert strategy.reduce("MEAN", tf.constant([1.0, 2.0]), axis=0).numpy() == 1.5
    assert strategy.reduce("SUM", [1.0, 2.0], axis=None) == [1.0, 2.0]
    with pytest.raises(ValueError, match="is not a valid ReduceOp"):
        strategy.reduce("FOO", 1.0, axis=None)


def test_a_mirrored_strategy_has_one_replica() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    seen: list[Any] = []

    def step(x: Any) -> Any:
        replica = tf.distribute.get_replica_context()
        assert replica is not None
        seen.append((where(), int(replica.replica_id_in_sync_group)))
        seen.append(replica.merge_call(lambda s, y: (s is strategy, where(), y), (4,)))
        total = replica.all_reduce(tf.distribute.ReduceOp.SUM, [x, x])
        return total[0] + 1

    with strategy.scope():
        assert where() == (True, True, False)
        assert tf.distribute.get_strategy() is strategy
        variable = tf.Variable(1.0)
        assert strategy.run(step, args=(tf.constant(2.0),)).numpy() == 3.0
        with pytest.raises(RuntimeError, match="Mixing different"):
            tf.distribute.MirroredStrategy().run(step, args=(2.0,))
        with pytest.raises(RuntimeError, match="Must not nest"):
            DEFAULT.scope().__enter__()
    assert seen == [((True, False, True), 0), (True, (True, True, False), 4)]
    assert strategy.extended.variable_created_in_scope(variable)
    assert where() == (False, False, True)


def test_distributed_datasets_give_whole_batches() -> None:
    strategy = tf.distribute.MirroredStrategy()
    dataset = tf.data.Dataset.range(4).batch(2)
    distributed = strategy.experimental_distribute_dataset(dataset)
    assert isinstance(distributed, tf.distribute.DistributedDataset)
    assert [x.numpy().tolist() for x in distributed] == [[0, 1], [2, 3]]
    assert distributed.element_spec == tf.TensorSpec((None,), tf.int64)
    iterator = iter(distributed)
    assert isinstance(iterator, tf.distribute.DistributedIterator)
    assert iterator.get_next().numpy().tolist() == [0, 1]


def test_what_needs_more_devices_raises() -> None:
    with pytest.raises(NotImplementedError, match=r"^tf\.distribute\.TPUStrategy"):
        tf.distribute.TPUStrategy()


def test_indexed_slices_stay_slices_in_all_reduce() -> None:
    slices = tf.IndexedSlices(tf.ones((3, 10)), (0, 2, 4), (5, 10))
    replica = tf.distribute.get_replica_context()
    assert replica is not None
    (reduced,) = replica.all_reduce(tf.distribute.ReduceOp.SUM, [slices])
    assert reduced is slices
    with pytest.raises(NotImplementedError, match="IndexedSlices"):
        replica.all_gather([slices], 0)


def test_values_of_one_replica_are_themselves() -> None:
    """TensorFlow, asked, gives a plain tensor too for a strategy of one device."""
    kinds = tf.types.experimental.distributed
    result = tf.distribute.OneDeviceStrategy("/cpu:0").run(lambda: tf.constant(1.0))
    for kind in (kinds.PerReplica, kinds.Mirrored):
        assert issubclass(kind, tf.distribute.DistributedValues)
        assert not isinstance(result, kind)


def test_datasets_of_a_function_have_an_old_name_too() -> None:
    def made(context: tf.distribute.InputContext) -> tf.data.Dataset:
        return tf.data.Dataset.range(4).batch(context.get_per_replica_batch_size(2))

    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    old = strategy.experimental_distribute_datasets_from_function(made)
    assert [x.numpy().tolist() for x in old] == [[0, 1], [2, 3]]


@pytest.mark.parametrize("op", ["SUM", "mean", tf.distribute.ReduceOp.SUM])
@pytest.mark.parametrize("value", [1.0, None, {"a": 1}, np.array([1, 2])], ids=repr)
def test_reduce_of_one_replica_is_the_value(op: Any, value: Any) -> None:
    """TensorFlow's answers: without an axis it is the same object, of whatever kind."""
    for strategy in (tf.distribute.get_strategy(), tf.distribute.OneDeviceStrategy("/cpu:0")):
        assert strategy.reduce(op, value, axis=None) is value


def test_reduce_along_an_axis() -> None:
    """TensorFlow's answers."""
    strategy = tf.distribute.get_strategy()
    assert int(strategy.reduce("SUM", [1, 2], axis=0)) == 3
    assert float(strategy.reduce("MEAN", tf.constant([1.0, 2.0]), axis=0)) == 1.5
    mirrored = tf.distribute.MirroredStrategy(["/cpu:0"])
    assert isinstance(mirrored.reduce("SUM", 1.0, axis=None), tf.Tensor)


@pytest.mark.parametrize("strategy", [DEFAULT, tf.distribute.OneDeviceStrategy("/cpu:0")])
def test_what_keras_2_asks_a_strategy(strategy: Any) -> None:
    extended = strategy.extended
    assert not strategy._should_use_with_coordinator
    assert extended._global_batch_size and not extended._in_multi_worker_mode()
    assert extended.should_checkpoint and extended.should_save_summary
    assert not extended.experimental_require_static_shapes
    assert extended._num_replicas_in_sync == 1 and extended._use_merge_call()
    found = extended.call_for_each_replica(lambda x, y: x + y, args=(1,), kwargs={"y": 2})
    assert strategy.experimental_local_results(found) == (3,)
    variable = tf.Variable(1.0)
    with tf.__internal__.distribute.variable_sync_on_read_context():
        assert variable.numpy() == 1


@pytest.mark.parametrize(
    "kind",
    [
        tf.distribute.experimental.ParameterServerStrategy,
        tf.distribute.experimental.coordinator.RemoteValue,
        tf.distribute.coordinator.ClusterCoordinator,
        tf.__internal__.distribute.ShardedVariable,
    ],
)
def test_what_needs_more_devices_is_there_for_isinstance(kind: Any) -> None:
    assert not isinstance(tf.Variable(1.0), kind)
    with pytest.raises(NotImplementedError, match="Intaglio runs"):
        kind(None)
