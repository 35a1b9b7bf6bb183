"""Iterators and steps of strategies as programs of TensorFlow 1 have them. TensorFlow 2.21 was asked for every answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from tests.tensorflow_name.process import printed_by

v1: Any = tf.compat.v1
STRATEGIES: dict[str, Callable[[], Any]] = {
    "default": tf.distribute.get_strategy,
    "one device": lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
    "mirrored": lambda: tf.distribute.MirroredStrategy(["/cpu:0"]),
}


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest) -> Any:
    """A strategy with one replica."""
    return STRATEGIES[request.param]()


def test_an_iterator_goes_on_and_begins_again(strategy: Any) -> None:
    iterator = strategy.make_dataset_iterator(tf.data.Dataset.range(8).batch(4))
    assert iterator.get_next().numpy().tolist() == [0, 1, 2, 3]
    assert iterator.initialize() is None
    assert iterator.initializer is None
    assert iterator.get_next().numpy().tolist() == [0, 1, 2, 3]
    assert iterator.get_next().numpy().tolist() == [4, 5, 6, 7]
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()


def test_an_input_function_gets_the_context_of_the_pipeline(strategy: Any) -> None:
    seen: list[Any] = []

    def input_fn(context: Any) -> Any:
        seen.append((context.num_input_pipelines, context.num_replicas_in_sync))
        return tf.data.Dataset.range(4).batch(2)

    iterator = strategy.make_input_fn_iterator(input_fn)
    assert seen == [(1, 1)]
    assert iterator.get_next().numpy().tolist() == [0, 1]
    with pytest.raises(ValueError, match="Input replication mode not supported"):
        strategy.make_input_fn_iterator(input_fn, tf.distribute.InputReplicationMode.PER_REPLICA)


def test_a_session_begins_an_iterator_by_its_initializer(strategy: Any) -> None:
    with tf.Graph().as_default(), strategy.scope(), v1.Session() as session:
        rows = strategy.experimental_make_numpy_dataset(np.arange(8.0))
        iterator = strategy.make_dataset_iterator(rows.batch(4))
        result = strategy.experimental_run(lambda x: x + 1.0, iterator)
        for _ in range(2):
            session.run(iterator.initializer)
            assert session.run(result).tolist() == [1.0, 2.0, 3.0, 4.0]
        assert session.run(result).tolist() == [5.0, 6.0, 7.0, 8.0]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(result)


def _stepped(strategy: Any, numbers: list[float], iterations: int) -> tuple[Any, Any]:
    """A context after steps that sum numbers into a variable, and the iterator."""
    total = v1.get_variable("total", initializer=0.0, use_resource=True)
    dataset = tf.data.Dataset.from_tensor_slices(np.array(numbers, np.float32))
    iterator = strategy.make_input_fn_iterator(lambda _: dataset)

    def step(context: Any, x: Any) -> Any:
        added = strategy.extended.call_for_each_replica(total.assign_add, args=(x,))
        context.set_last_step_output("sum", added, tf.distribute.ReduceOp.SUM)
        context.set_non_tensor_output("names", ("x",))
        return strategy.group(added)

    start = {"sum": tf.constant(0.0)}
    context = strategy.extended.experimental_run_steps_on_iterator(
        step, iterator, iterations, initial_loop_values=start
    )
    assert context.non_tensor_outputs == {"names": ("x",)}
    return context, iterator


@settings(max_examples=10, deadline=None)
@given(
    numbers=st.lists(st.integers(-50, 50), min_size=4, max_size=8).map(
        lambda n: [float(v) for v in n]
    ),
    iterations=st.integers(1, 2),
    name=st.sampled_from(list(STRATEGIES)),
)
def test_steps_go_through_the_elements_eagerly_and_in_sessions(
    numbers: list[float], iterations: int, name: str
) -> None:
    strategy = STRATEGIES[name]()
    with tf.Graph().as_default(), strategy.scope(), v1.Session() as session:
        context, iterator = _stepped(strategy, numbers, iterations)
        session.run([v1.global_variables_initializer(), iterator.initializer])
        for done in (iterations, 2 * iterations):
            assert session.run(context.last_step_outputs["sum"]) == sum(numbers[:done])
    with strategy.scope(), v1.variable_scope("eager", reuse=False):
        context, _ = _stepped(strategy, numbers, iterations)
        assert context.last_step_outputs["sum"].numpy() == sum(numbers[:iterations])
        assert context.run_op is None


def test_an_optimizer_of_tensorflow_1_trains_in_steps(strategy: Any) -> None:
    with tf.Graph().as_default(), strategy.scope(), v1.Session() as session:
        weight = v1.get_variable("weight", initializer=1.0, use_resource=True)
        optimizer = v1.train.GradientDescentOptimizer(0.25)
        iterator = strategy.make_input_fn_iterator(lambda _: tf.data.Dataset.range(6))

        def step(_: Any, x: Any) -> Any:
            target = tf.cast(x, tf.float32)
            return strategy.extended.call_for_each_replica(
                lambda: optimizer.minimize((weight - target) ** 2)
            )

        run = strategy.extended.experimental_run_steps_on_iterator(step, iterator, 3).run_op
        session.run([v1.global_variables_initializer(), iterator.initializer])
        session.run(run)
        # w <- (w + x) / 2 for x = 0, 1, 2
        assert session.run(weight) == 1.375


def test_values_that_belong_to_no_variable_are_updated(strategy: Any) -> None:
    extended = strategy.extended
    with strategy.scope():
        variable = tf.Variable(3.0)
    where = extended.non_slot_devices([variable])
    assert extended.read_var(variable).numpy() == 3.0
    add = extended.update_non_slot(where, lambda x: x + 1.0, (tf.constant(1.0),))
    assert add.numpy() == 2.0
    (one,) = extended.update_non_slot(where, lambda: tf.constant(5.0), group=False)
    assert one.numpy() == 5.0
    assert strategy.group(tf.constant(1.0)).numpy() == 1.0
    assert strategy.configure(None) is None


def test_two_replicas_get_a_batch_each() -> None:
    assert printed_by(
        """
        import numpy as np
        from intaglio import tf
        v1 = tf.compat.v1
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        def numbers(value):
            return [v.numpy().tolist() for v in strategy.experimental_local_results(value)]
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.range(8).batch(4))
        print(numbers(iterator.get_next()))
        iterator = strategy.make_input_fn_iterator(lambda c: tf.data.Dataset.range(8).batch(2))
        print(numbers(iterator.get_next()))
        def steps():
            dataset = tf.data.Dataset.range(1, 9).map(lambda x: tf.cast(x, tf.float32))
            iterator = strategy.make_input_fn_iterator(lambda _: dataset)
            def step(context, x):
                found = strategy.extended.call_for_each_replica(lambda y: y * 10.0, args=(x,))
                context.set_last_step_output("sum", found, tf.distribute.ReduceOp.SUM)
                context.set_last_step_output("each", found)
                return strategy.group(found)
            start = {"each": (tf.constant(0.0),) * 2, "sum": tf.constant(0.0)}
            return iterator, strategy.extended.experimental_run_steps_on_iterator(
                step, iterator, 2, initial_loop_values=start).last_step_outputs
        with strategy.scope():
            found = steps()[1]
            print(found["sum"].numpy(), numbers(found["each"]))
        with tf.Graph().as_default(), strategy.scope(), v1.Session() as session:
            iterator, found = steps()
            session.run(iterator.initializer)
            print(session.run(found["sum"]))
            print([v.tolist() for v in session.run(strategy.experimental_local_results(found["each"]))])
        """
    ) == ["[[0, 1], [2, 3]]", "[[0, 1], [2, 3]]", "70.0 [30.0, 40.0]", "70.0", "[70.0, 80.0]"]
