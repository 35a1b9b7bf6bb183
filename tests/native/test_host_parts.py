"""Graphs with ops of the host: their numeric cores become machine code, the rest is interpreted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.options import OPTIONS
from intaglio.native import tiers
from intaglio.native.host_parts import HostParts
from intaglio.native.tiers import AheadOfTime, Counted, Shapes
from intaglio.opdef import raw

from . import background


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training steps change over at their third call."""
    background.at_once(monkeypatch)
    monkeypatch.setattr(tiers, "MIN_CALLS", 1)
    monkeypatch.setattr(tiers, "MAX_CALLS", 1)
    monkeypatch.setattr(tiers, "MIN_INTERPRETED_SECONDS", 0.0)


ROWS = np.random.default_rng(0).normal(size=(24, 6)).astype(np.float32)
TARGETS = np.random.default_rng(1).normal(size=(24, 3)).astype(np.float32)


class Model:
    """A layer that is trained by momentum."""

    def __init__(self) -> None:
        self.w = tf.Variable(np.linspace(-1, 1, 18, dtype=np.float32).reshape(6, 3))
        self.m = tf.Variable(tf.zeros([6, 3]), trainable=False)
        self.count = tf.Variable(0, trainable=False)

    def train(self, x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(x @ self.w) - y) ** 2)
        self.m.assign(self.m * 0.9 + tape.gradient(loss, self.w))
        self.w.assign_sub(self.m * 0.1)
        self.count.assign_add(1)
        return loss

    @property
    def state(self) -> list[Any]:
        return [v.numpy() for v in (self.w, self.m, self.count)]


def run_of(function: Any, *arguments: Any) -> Any:
    return function.get_concrete_function(*arguments).optimized_run()


def bodies(run: HostParts) -> list[list[str]]:
    """The ops of each core in the order of the graph."""
    return [
        [n.op.name for n in node.attrs["body"].nodes]
        for graph in run._outlined.values()
        for node in graph.nodes
        if node.op is raw._Program
    ]


def dataset(batch: int = 6) -> Any:
    return tf.data.Dataset.from_tensor_slices((ROWS, TARGETS)).batch(batch)


def close(a: list[Any], b: list[Any]) -> None:
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


# What a step does before and after the arithmetic: the ops of the host, and what follows from the loss.
ENDS: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda loss: loss,
    "optional": tf.experimental.Optional.from_value,
    "string": tf.strings.as_string,
    "python": lambda loss: tf.py_function(lambda x: x * 2.0, [loss], tf.float32),
    "print": lambda loss: (tf.print("loss", loss, output_stream="file:///dev/null"), loss)[1],
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("drop", [True, False], ids=["known", "open"])
def test_a_step_from_an_iterator_is_one_core(end: str, drop: bool) -> None:
    model, eager = Model(), Model()

    @tf.function
    def step(iterator: Any) -> Any:
        x, y = next(iterator)
        return ENDS[end](model.train(x, y))

    def epoch() -> Any:
        data = tf.data.Dataset.from_tensor_slices((ROWS, TARGETS)).batch(6, drop_remainder=drop)
        return data.repeat()

    one, other = iter(epoch()), iter(epoch())
    for _ in range(7):
        step(one)
        eager.train(*next(other))
        close(model.state, eager.state)
    run = run_of(step, one)
    assert isinstance(run, HostParts)
    (body,) = bodies(run)
    assert "MatMul" in body and "AssignSubVariableOp" in body
    (core,) = run.cores
    assert isinstance(core, Counted if drop else Shapes)
    assert run.native and "ops of the host: compiled" in step.compile_report()


def test_host_ops_in_the_middle_divide_the_step_in_two_cores() -> None:
    model, eager, seen = Model(), Model(), []

    @tf.function
    def step(x: Any, y: Any) -> Any:
        hidden = tf.tanh(x * 2.0 + 1.0) * tf.exp(-x) + x
        tf.py_function(lambda h: seen.append(h.numpy().sum()), [hidden], [])
        return model.train(hidden, y)

    x, y = tf.constant(ROWS), tf.constant(TARGETS)
    for n in range(6):
        step(x, y)
        hidden = tf.tanh(x * 2.0 + 1.0) * tf.exp(-x) + x
        eager.train(hidden, y)
        close(model.state, eager.state)
        close([seen[n]], [hidden.numpy().sum()])
    assert len(bodies(run_of(step, x, y))) == 2


def test_what_no_host_op_needs_is_part_of_the_core_after_them() -> None:
    model = Model()

    @tf.function
    def step(x: Any, iterator: Any) -> Any:
        scale = tf.reduce_mean(tf.exp(-x)) + tf.reduce_max(tf.tanh(x))
        rows, y = next(iterator)
        return model.train(rows * scale, y)

    x, data = tf.constant(ROWS), dataset().repeat()
    step(x, iter(data))
    step(x, iter(data))
    (body,) = bodies(run_of(step, x, iter(data)))
    assert "Tanh" in body and "MatMul" in body


@pytest.mark.parametrize("form", ["dataset", "iterator", "lists"])
def test_the_body_of_a_loop_over_a_dataset_is_a_core(form: str) -> None:
    model, eager = Model(), Model()

    @tf.function
    def train(source: Any) -> Any:
        total = tf.constant(0.0)
        losses = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
        for x, y in source:
            loss = model.train(x, y)
            total += loss
            if form == "lists":
                losses = losses.write(losses.size(), loss)
        return total, losses.stack()

    def source() -> Any:
        return iter(dataset()) if form == "iterator" else dataset()

    for _ in range(4):
        total, losses = train(source())
        wanted = [eager.train(x, y).numpy() for x, y in dataset()]
        close([total.numpy()], [np.sum(wanted)])
        if form == "lists":
            close([losses.numpy()], [np.array(wanted)])
        close(model.state, eager.state)
    run = run_of(train, source())
    assert any("MatMul" in body for body in bodies(run)) and run.native


def test_functions_that_do_not_train_give_the_same_bits_at_every_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tiers, "MAX_BREAK_EVEN_CALLS", float("inf"))
    w = tf.Variable(np.linspace(-1, 1, 18, dtype=np.float32).reshape(6, 3))

    @tf.function
    def evaluate(iterator: Any) -> Any:
        x, y = next(iterator)
        return tf.experimental.Optional.from_value(
            tf.reduce_sum(tf.exp(tf.nn.log_softmax(tf.tanh(x @ w))) * y, -1)
        )

    data = tf.data.Dataset.from_tensor_slices((ROWS, TARGETS)).batch(6, drop_remainder=True)
    first = [evaluate(it).get_value().numpy() for it in [iter(data)] for _ in range(4)]
    run = run_of(evaluate, iter(data))
    assert isinstance(run.cores[0], AheadOfTime) and run.native
    for _ in range(3):
        again = [evaluate(it).get_value().numpy() for it in [iter(data)] for _ in range(4)]
        np.testing.assert_array_equal(again, first)


def test_steps_that_must_repeat_have_no_code_of_other_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OPTIONS, "deterministic", True)
    model = Model()

    @tf.function
    def step(iterator: Any) -> Any:
        return tf.strings.as_string(model.train(*next(iterator)))

    for _ in range(4):
        step(iter(dataset()))
    assert not any(isinstance(c, (Counted, Shapes)) for c in run_of(step, iter(dataset())).cores)


def test_functions_with_one_large_call_are_inlined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("intaglio.optimize.inline.MAX_INLINED_NODES", 8)
    model, eager = Model(), Model()
    inner = tf.function(model.train, jit_compile=False)

    @tf.function
    def step(iterator: Any) -> Any:
        return tf.experimental.Optional.from_value(inner(*next(iterator)))

    one = iter(dataset().repeat())
    for x, y in dataset():
        step(one)
        eager.train(x, y)
        close(model.state, eager.state)
    (body,) = bodies(run_of(step, one))
    assert "StatefulPartitionedCall" in body
    (core,) = run_of(step, one).cores
    (counted,) = core.counted
    assert counted.native and "Tanh" in str(counted.code.program.graph.nodes)


def test_errors_in_a_core_name_the_op_and_leave_the_variables() -> None:
    v = tf.Variable(tf.zeros([3]))

    @tf.function
    def step(iterator: Any) -> Any:
        at = next(iterator)
        x = tf.exp(v) * 2.0 + tf.tanh(v)
        v.assign_add(tf.gather(x, [at, at, at]))
        return tf.strings.as_string(v)

    good = tf.data.Dataset.from_tensors(1).repeat()
    bad = tf.data.Dataset.from_tensors(7)
    for _ in range(5):
        step(iter(good))
        before = v.numpy()
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 7 is not in \[0, 3\)"):
            step(iter(bad))
        np.testing.assert_array_equal(v, before)
    with pytest.raises(tf.errors.OutOfRangeError):
        for it in [iter(bad.take(0))]:
            step(it)


def test_gradients_flow_through_functions_with_host_ops() -> None:
    seen = []

    @tf.function
    def f(x: Any) -> Any:
        y = tf.tanh(x * 2.0) * tf.exp(-x) + x * x
        tf.py_function(lambda a: seen.append(a.numpy()), [y], [])
        return tf.reduce_sum(tf.sin(y) * y + tf.sqrt(x * x + 1.0))

    x = tf.constant(ROWS)
    found = []
    for _ in range(5):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        found.append(tape.gradient(y, x).numpy())
    for gradient in found:
        np.testing.assert_allclose(gradient, found[0], rtol=1e-6)
    assert len(seen) == 5


@pytest.mark.parametrize("trains", [True, False])
@pytest.mark.parametrize("nested", [True, False])
def test_a_variable_found_by_name_is_written_once_by_each_call(trains: bool, nested: bool) -> None:
    """The check of code runs it on copies of variables: of those that the graph is called with."""
    w = tf.Variable(tf.ones([4, 4]), trainable=trains)

    def counter() -> Any:
        name = f"counter of {trains} {nested}"
        return tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[4, 4], shared_name=name)

    def add(y: Any) -> None:
        tf.raw_ops.AssignAddVariableOp(resource=counter(), value=tf.ones([4, 4]) + y * 0.0)

    @tf.function
    def step(x: Any) -> Any:
        y = x
        for _ in range(4):
            y = tf.tanh(y @ w) + tf.exp(-y)
        if not nested or x[0, 0] > 0.0:
            add(y)
        w.assign_add(y * 0.01)
        return y

    tf.raw_ops.AssignVariableOp(resource=counter(), value=tf.zeros([4, 4]))
    for calls in range(1, 8):
        step(tf.ones([4, 4]))
        found = tf.raw_ops.ReadVariableOp(resource=counter(), dtype=tf.float32)
        np.testing.assert_array_equal(found, np.full([4, 4], calls))
    assert run_of(step, tf.ones([4, 4])).native or not trains


def test_a_queue_takes_one_element_of_each_call() -> None:
    queue, w = tf.queue.FIFOQueue(100, [tf.float32], [[]]), tf.Variable(tf.ones([4, 4]))

    @tf.function
    def step(x: Any) -> None:
        y = x
        for _ in range(4):
            y = tf.tanh(y @ w) + tf.exp(-y)
        queue.enqueue(tf.reduce_sum(y))
        w.assign_add(y * 0.01)

    for calls in range(1, 8):
        step(tf.ones([4, 4]))
        assert int(queue.size()) == calls
    assert run_of(step, tf.ones([4, 4])).native
