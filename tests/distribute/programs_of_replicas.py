"""Compiled steps of replicas at the edges of what is one SPMD program: `... programs_of_replicas BACKEND`.

Prints lines of JSON: a name, the answer, and whether the step was a program of all replicas. Of two backends the
answers are the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import intaglio
from intaglio import tf

ON_READ = tf.VariableSynchronization.ON_READ
CASES: dict[str, Callable[[Cases], Any]] = {}


def case(function: Callable[[Cases], Any]) -> Callable[[Cases], Any]:
    """Registers a case: it returns the function of a replica, or a compiled function and its arguments."""
    CASES[function.__name__.replace("_", " ")] = function
    return function


def number() -> Any:
    """1 in the first replica, 2 in the second."""
    replica: Any = tf.distribute.get_replica_context()
    return tf.cast(replica.replica_id_in_sync_group, tf.float32) + 1


class Cases:
    """The variables of the cases, and how they are run."""

    def __init__(self) -> None:
        kind = tf.VariableAggregation
        self.strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        self.others = tf.distribute.MirroredStrategy(["/cpu:3", "/cpu:1"])
        with self.strategy.scope():
            self.weight = tf.Variable([1.0, 2.0])
            self.count = tf.Variable(0.0, synchronization=ON_READ, aggregation=kind.MEAN)
            self.steps = tf.Variable(0, aggregation=kind.ONLY_FIRST_REPLICA)
        with self.others.scope():
            self.other = tf.Variable(1.0)
        self.plain = tf.Variable(5.0)
        self.copies = self.weight.values
        self.made: list[Any] = []

    def of_each(self, *values: Any) -> Any:
        """A value with a part for each replica."""
        return self.strategy.experimental_distribute_values_from_function(
            lambda context: tf.constant(values[context.replica_id_in_sync_group])
        )

    def run(self, function: Any, *args: Any) -> Any:
        """`strategy.run` in a compiled function."""
        return tf.function(lambda *a: self.strategy.run(function, args=a), jit_compile=True), args

    def state(self) -> list[Any]:
        """All copies of all variables, in the order of the strategy."""
        variables = [self.weight, self.count, self.steps, self.other, *self.made]
        return [copy.numpy().tolist() for v in variables for copy in v.values] + [float(self.plain)]


@case
def all_kinds_of_variables(self: Cases) -> Any:
    def step(x: Any) -> Any:
        self.weight.assign_sub(0.1 * x * number())
        self.count.assign_add(number())
        self.steps.assign_add(1)
        return self.weight * x

    return self.run(step, self.of_each([1.0, 1.0], [2.0, 3.0]))


@case
def one_device_after_it(self: Cases) -> Any:
    return tf.function(lambda: self.weight * 2 + self.count, jit_compile=True), ()


@case
def a_copy_that_is_read(self: Cases) -> Any:
    return self.run(lambda x: self.copies[0] * x + self.weight * 0, self.of_each(1.0, 2.0))


@case
def a_copy_besides_the_variable(self: Cases) -> Any:
    def step(x: Any) -> Any:
        self.weight.assign_add([x, x])
        return self.copies[1] + self.weight

    return self.run(step, self.of_each(1.0, 2.0))


@case
def a_copy_outside_of_replicas(self: Cases) -> Any:
    def step(x: Any) -> Any:
        self.weight.assign_add([x, x])
        return self.weight + 0

    def run(x: Any) -> Any:
        first = self.strategy.run(step, args=(x,))
        self.copies[0].assign(self.copies[0] * 3)
        return first, self.strategy.run(step, args=(x,)), [copy + 0 for copy in self.copies]

    return tf.function(run, jit_compile=True), (self.of_each(1.0, 2.0),)


@case
def parts_of_unlike_shapes(self: Cases) -> Any:
    return self.run(lambda x: tf.reduce_sum(x) * number(), self.of_each([1.0, 2.0, 3.0], [4.0]))


@case
def shapes_that_depend_on_data(self: Cases) -> Any:
    return self.run(
        lambda x: tf.reduce_sum(x[x > 1.5]) * number(), self.of_each([1.0, 2.0], [4.0, 5.0])
    )


@case
def random_numbers(self: Cases) -> Any:
    tf.random.set_seed(3)
    return self.run(lambda: tf.random.uniform([2]))


@case
def random_numbers_with_a_seed(self: Cases) -> Any:
    return self.run(lambda: tf.random.stateless_uniform([2], [1, 2]) * number())


@case
def a_variable_of_no_strategy_that_is_written(self: Cases) -> Any:
    return self.run(lambda: self.plain.assign_add(number()) + 0)


@case
def a_variable_of_no_strategy_that_is_read(self: Cases) -> Any:
    return self.run(lambda: self.plain * number())


@case
def replicas_in_a_loop(self: Cases) -> Any:
    def step(x: Any) -> Any:
        self.weight.assign_add(0.01 * x)
        replica: Any = tf.distribute.get_replica_context()
        return replica.all_reduce("SUM", x) * number()

    def run(count: Any, x: Any) -> Any:
        total = tf.zeros([2])
        for _ in tf.range(count):
            total += self.strategy.reduce("SUM", self.strategy.run(step, args=(x,)), axis=None)
        return total

    return tf.function(run, jit_compile=True), (
        tf.constant(3),
        self.of_each([1.0, 1.0], [2.0, 3.0]),
    )


@case
def a_loop_in_replicas(self: Cases) -> Any:
    def step(x: Any) -> Any:
        y = x
        for _ in tf.range(3):
            y = y * tf.tanh(self.weight)
            self.count.assign_add(1.0)
        if tf.reduce_sum(y) > 1.0:
            y = y / number()
        return y

    return self.run(step, self.of_each([1.0, 1.0], [2.0, 3.0]))


@case
def devices_in_another_order(self: Cases) -> Any:
    def step() -> Any:
        self.other.assign_add(number())
        replica: Any = tf.distribute.get_replica_context()
        return self.other * 2, replica.all_gather(number()[None], axis=0)

    return tf.function(lambda: self.others.run(step), jit_compile=True), ()


@case
def two_strategies_in_a_function(self: Cases) -> Any:
    def run(x: Any) -> Any:
        first = self.strategy.run(lambda x: self.weight * x, args=(x,))
        return first, self.others.run(lambda: self.other * number())

    return tf.function(run, jit_compile=True), (self.of_each(1.0, 2.0),)


@case
def code_for_all_replicas(self: Cases) -> Any:
    def run(x: Any) -> Any:
        self.weight.assign(self.weight * 0 + 1.0)
        y = self.strategy.run(lambda x: self.weight * x, args=(x,))
        self.weight.assign_add([1.0, 1.0])
        again = self.strategy.run(lambda x: self.weight * x, args=(x,))
        mean = self.strategy.reduce("MEAN", y, axis=0)
        return again, mean, self.strategy.gather(y, axis=0), self.count.read_value()

    return tf.function(run, jit_compile=True), (self.of_each(1.0, 2.0),)


@case
def slices(self: Cases) -> Any:
    def step() -> Any:
        replica: Any = tf.distribute.get_replica_context()
        index = replica.replica_id_in_sync_group
        found = tf.IndexedSlices(tf.ones([1, 2]) * number(), [index], dense_shape=[3, 2])
        return tf.convert_to_tensor(replica.all_reduce("MEAN", found))

    return self.run(step)


@case
def a_variable_that_replicas_make(self: Cases) -> Any:
    def step(x: Any) -> Any:
        if not self.made:
            self.made.append(tf.Variable([3.0, 4.0]))
        self.made[0].assign_add([x, x])
        return self.made[0] + 0

    return self.run(step, self.of_each(1.0, 2.0))


@case
def python_code_that_knows_the_replica(self: Cases) -> Any:
    def step(x: Any) -> Any:
        replica: Any = tf.distribute.get_replica_context()
        return x * (10 if tf.get_static_value(replica.replica_id_in_sync_group) == 1 else 1)

    return self.run(step, self.of_each(1.0, 2.0))


@case
def a_shape_from_the_number_of_the_replica(self: Cases) -> Any:
    def step(x: Any) -> Any:
        replica: Any = tf.distribute.get_replica_context()
        return tf.reduce_sum(tf.ones([replica.replica_id_in_sync_group + 1])) * x

    return self.run(step, self.of_each(1.0, 2.0))


@case
def integers_and_halves(self: Cases) -> Any:
    def step() -> Any:
        replica: Any = tf.distribute.get_replica_context()
        index = replica.replica_id_in_sync_group
        half = tf.cast(number(), tf.float16)
        return replica.all_reduce("MEAN", index * 3), replica.all_reduce("SUM", half)

    return self.run(step)


@case
def a_result_of_a_merged_function(self: Cases) -> Any:
    def step(x: Any) -> Any:
        replica: Any = tf.distribute.get_replica_context()
        return replica.merge_call(lambda s, v: s.reduce("SUM", v, axis=None) + 1, args=(x,))

    return self.run(step, self.of_each(1.0, 2.0))


@case
def a_merged_function_that_gathers(self: Cases) -> Any:
    def step() -> Any:
        replica: Any = tf.distribute.get_replica_context()
        rows = tf.ones([2]) * number()
        return replica.merge_call(lambda s, v: s.gather(v, axis=0), args=(rows,))

    return self.run(step)


@case
def a_merged_function_that_looks_at_replicas(self: Cases) -> Any:
    def step() -> Any:
        replica: Any = tf.distribute.get_replica_context()
        return replica.merge_call(
            lambda s, v: tf.add_n(s.experimental_local_results(v)), args=(number(),)
        )

    return self.run(step)


@case
def results_that_replicas_get_again(self: Cases) -> Any:
    def run() -> Any:
        first = self.strategy.run(number)
        second = self.strategy.run(lambda v: v * 2 + number(), args=(first,))
        return self.strategy.reduce("MEAN", second, axis=None), second

    return tf.function(run, jit_compile=True), ()


@case
def a_shape_that_changes(self: Cases) -> Any:
    """A variable of open shape grows in each call; its copies get another program each time."""
    if not hasattr(self, "rows"):
        with self.strategy.scope():
            self.rows = tf.Variable(tf.ones([1, 2]), shape=tf.TensorShape([None, 2]))

    def step() -> Any:
        self.rows.assign(tf.concat([self.rows, self.rows * number()], 0))
        return tf.reduce_sum(self.rows)

    return self.run(step)


@case
def a_tensor_array_in_replicas(self: Cases) -> Any:
    def step() -> Any:
        values = tf.TensorArray(tf.float32, 3)
        for i in tf.range(3):
            values = values.write(i, number() * tf.cast(i, tf.float32))
        return values.stack()

    return self.run(step)


@case
def an_assertion_that_holds(self: Cases) -> Any:
    def step() -> Any:
        tf.debugging.assert_less(number(), 3.0)
        self.weight.assign_add([number(), 1.0])
        return self.weight * number()

    return self.run(step)


@case
def an_assertion_that_fails_in_a_replica(self: Cases) -> Any:
    def step() -> Any:
        x = tf.debugging.check_numerics(number(), "a number")
        tf.debugging.Assert(x < 2.0, ["the second", x])
        return x

    return self.run(step)


@case
def an_error_in_a_replica(self: Cases) -> Any:
    def step() -> Any:
        raise ValueError("boom")

    return self.run(step)


def plain(value: Any) -> Any:
    """Tensors and values of replicas as lists."""
    values = getattr(value, "values", None)
    if isinstance(values, tuple):
        return [np.asarray(v).tolist() for v in values]
    return np.asarray(value).tolist()


def _said(lines: list[str]) -> str:
    """The line of an error's message that says what failed: the node has another name in each replica's copy."""
    return next((line for line in lines if line.startswith("assertion failed")), lines[-1].strip())


def main(backend: str) -> None:
    """Prints the answers."""
    (cpu,) = tf.config.list_physical_devices("CPU")
    parts = [tf.config.LogicalDeviceConfiguration()] * 4
    tf.config.set_logical_device_configuration(cpu, parts)
    cases = Cases()
    with intaglio.backend(backend):
        for name, make in CASES.items():
            function, args = make(cases)
            try:
                answer = [tf.nest.map_structure(plain, function(*args)) for _ in range(2)]
            except Exception as e:
                answer = [f"{type(e).__name__}: {_said(str(e).splitlines())}"]
            is_program = "SPMD program of" in str(function.compile_report())
            print(json.dumps([name, [answer, cases.state()], is_program]))


if __name__ == "__main__":
    main(sys.argv[1])
