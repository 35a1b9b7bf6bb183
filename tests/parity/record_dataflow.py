"""Graphs with control flow by dataflow (Switch, Merge, Enter, Exit), written and run by real TensorFlow.

Runs where TensorFlow is installed, and nowhere else:

    python tests/parity/record_dataflow.py

writes `dataflow/NAME.pb` for each program, its feeds and answers into `dataflow/answers.json`.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
FOLDER = pathlib.Path(__file__).parent / "dataflow"
VECTORS = [[1.0, 2.0, 3.0], [-1.0, 0.5, -4.0]]
PROGRAMS: dict[str, tuple[Callable[..., Any], list[tuple[Any, list[Any]]]]] = {}


def program(*inputs: tuple[Any, list[Any]]) -> Callable[[Any], Any]:
    """Records a function of placeholders; for each there are a dtype and the values of the calls."""

    def keep(function: Any) -> Any:
        PROGRAMS[function.__name__] = function, list(inputs)
        return function

    return keep


@program((tf.float32, VECTORS), (tf.bool, [True, False]))
def branch(x: Any, p: Any) -> Any:
    return tf.cond(p, lambda: x * 2.0, lambda: x - 1.0)


@program((tf.float32, VECTORS), (tf.bool, [True, False]))
def several_results(x: Any, p: Any) -> Any:
    """A value that passes through, a constant, an integer."""
    k = tf.reduce_sum(x)
    a, b, c = tf.cond(
        p, lambda: (x, tf.constant(1.0), tf.size(x)), lambda: (x / k, k, tf.constant(7))
    )
    return a * b, c


@program((tf.float32, [*VECTORS, [3.0, 3.0, 3.0]]), (tf.float32, [1.0, 5.0, -3.0]))
def nested_branches(x: Any, y: Any) -> Any:
    def inner() -> Any:
        z = x + y
        return tf.cond(tf.reduce_sum(z) > 8.0, lambda: z * y, lambda: tf.exp(-z))

    return tf.cond(y > 0.0, inner, lambda: x - 1.0)


@program((tf.float32, VECTORS), (tf.bool, [True, False]))
def one_predicate_many_branches(x: Any, training: Any) -> Any:
    """As normalisation and dropout have it: later branches take what the former gave."""
    for i in range(4):
        mean = tf.cond(training, lambda x=x: tf.reduce_mean(x), lambda i=i: tf.constant(0.5 * i))
        x = x - mean
        x = tf.cond(training, lambda x=x: tf.tanh(x), lambda x=x: x)
    return x


@program((tf.float32, [0.5, 2.5, 30.0]))
def cases(x: Any) -> Any:
    return v1.case(
        [(x < 1.0, lambda: x * 10.0), (x < 10.0, lambda: x + 100.0)],
        default=lambda: -x,
        exclusive=False,
    )


@program((tf.float32, [2.0, 3.0]), (tf.int32, [5, 0]))
def loop(x: Any, n: Any) -> Any:
    return v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), [0, tf.ones([])])


@program((tf.float32, VECTORS), (tf.int32, [3, 4]))
def nested_loops(x: Any, n: Any) -> Any:
    def outer(i: Any, total: Any) -> Any:
        def inner(j: Any, part: Any) -> Any:
            return j + 1, part + x * tf.cast(i * j, tf.float32) + total[0]

        _, part = v1.while_loop(lambda j, _: j < i, inner, [0, tf.zeros_like(x)])
        return i + 1, total + part

    return v1.while_loop(lambda i, _: i < n, outer, [0, x])[1]


@program((tf.float32, VECTORS), (tf.int32, [6, 7]))
def branch_in_loop(x: Any, n: Any) -> Any:
    def body(i: Any, y: Any) -> Any:
        odd = tf.equal(i % 2, 1)
        return i + 1, tf.cond(
            odd, lambda: y + x, lambda: tf.cond(i > 3, lambda: y * 0.5, lambda: y)
        )

    return v1.while_loop(lambda i, _: i < n, body, [0, tf.zeros_like(x)])[1]


@program((tf.float32, VECTORS), (tf.bool, [True, False]))
def loop_in_branch(x: Any, p: Any) -> Any:
    def grown() -> Any:
        return v1.while_loop(
            lambda y: tf.reduce_sum(tf.abs(y)) < 100.0, lambda y: y * 2.0, [x * 1.5]
        )

    return tf.cond(p, grown, lambda: x)


@program((tf.float32, VECTORS), (tf.bool, [True, False]))
def gradients_of_random_numbers(x: Any, p: Any) -> Any:
    """Gradients take the numbers that the branch has drawn: what is left of each element is 0."""

    def dropped() -> Any:
        mask = tf.random.uniform([3]) < 0.5
        return tf.where(mask, tf.zeros([3]), tf.cond(x[0] > 0.0, lambda: x * 2.0, lambda: x * 4.0))

    y = tf.cond(p, dropped, lambda: x)
    for _ in range(3):
        y = tf.cond(p, lambda y=y: y * tf.random.uniform([3]), lambda y=y: y)
    return y - x * tf.gradients(y, x)[0]


@program((tf.float32, VECTORS), (tf.bool, [True, False]))
def trained_with_normalisation(x: Any, training: Any) -> Any:
    """Conditionals with several results, one after another."""
    y = x
    for i in range(3):
        mean, variance = tf.cond(
            training,
            lambda y=y: tf.nn.moments(y, [0]),
            lambda i=i: (tf.constant(0.25 * i), tf.constant(2.0)),
        )
        y = tf.tanh((y - mean) * tf.math.rsqrt(variance + 0.1))
    return y, tf.gradients(y, x)[0]


@program((tf.float32, VECTORS), (tf.bool, [True, False]))
def gradients_of_a_branch(x: Any, p: Any) -> Any:
    y = tf.cond(
        p, lambda: tf.exp(x) * x, lambda: tf.cond(x[0] > 0.0, lambda: x**2, lambda: 2.0 * x)
    )
    return y, tf.gradients(y, x)[0]


@program((tf.int32, [0, 10, 27]))
def loop_with_conditions(n: Any) -> Any:
    """Steps of the Collatz sequence, with the largest number seen."""

    def body(k: Any, steps: Any, most: Any) -> Any:
        k = tf.cond(tf.equal(k % 2, 0), lambda: k // 2, lambda: 3 * k + 1)
        return k, steps + 1, tf.maximum(most, k)

    return v1.while_loop(lambda k, *_: k > 1, body, [n, 0, n])


@program((tf.float32, [np.arange(6.0).reshape(3, 2), np.ones([1, 2])]))
def mapped(x: Any) -> Any:
    """A loop over TensorArrays."""
    return tf.map_fn(lambda row: tf.reduce_sum(row) * row, x)


@program((tf.float32, [np.arange(6.0).reshape(3, 2), np.ones([1, 2])]))
def scanned(x: Any) -> Any:
    return tf.scan(lambda total, row: total * 0.5 + row, x, initializer=tf.zeros([2]))


@program(
    (tf.float32, [np.linspace(-1, 1, 24).reshape(2, 4, 3), np.ones([1, 2, 3])]),
    (tf.int32, [[4, 2], [1]]),
)
def recurrent(x: Any, lengths: Any) -> Any:
    """A recurrent cell with lengths, as `dynamic_rnn` writes it."""
    w = tf.constant(np.sin(np.arange(35.0)).reshape(7, 5), tf.float32)[:, :4]
    steps = tf.transpose(x, [1, 0, 2])
    count, batch = tf.shape(steps)[0], tf.shape(steps)[1]
    inputs = tf.TensorArray(tf.float32, count).unstack(steps)
    outputs = tf.TensorArray(tf.float32, count, element_shape=[None, 4])

    def body(t: Any, state: Any, outputs: Any) -> Any:
        new = tf.tanh(tf.matmul(tf.concat([inputs.read(t), state], 1), w))
        done = tf.reshape(t >= lengths, [-1, 1])
        state = tf.where(tf.tile(done, [1, 4]), state, new)
        return t + 1, state, outputs.write(t, state)

    _, state, outputs = v1.while_loop(
        lambda t, *_: t < count, body, [0, tf.zeros([batch, 4]), outputs]
    )
    return state, tf.transpose(outputs.stack(), [1, 0, 2])


@program((tf.int32, [3, 5]))
def growing_array(n: Any) -> Any:
    """An array that grows, with parts of several lengths, read again and joined."""
    array = tf.TensorArray(
        tf.int32, 0, dynamic_size=True, infer_shape=False, clear_after_read=False
    )
    _, array = v1.while_loop(
        lambda i, _: i < n, lambda i, a: (i + 1, a.write(i, tf.range(i + 1))), [0, array]
    )
    return array.concat(), array.read(n - 1), array.size()


@program((tf.float32, [np.arange(5.0), np.arange(4.0)]))
def split_array(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [3, tf.size(x) - 3])
    return tf.reduce_sum(array.read(0)), array.read(1)


@program((tf.string, [[b"a", b"bc"], [b"x"]]), (tf.bool, [True, False]))
def strings(x: Any, p: Any) -> Any:
    return tf.cond(p, lambda: tf.strings.join([x, "!"]), lambda: x)


@program((tf.float32, [0.3, 0.7]))
def asserted(x: Any) -> Any:
    with tf.control_dependencies([v1.assert_less(x, 1.0, message="too large")]):
        return x * 2.0


class Random:
    """Random nests of branches, loops and arrays on vectors of three floats."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def __call__(self, x: Any, y: Any) -> Any:
        values = [x, y]
        for _ in range(4):
            values += self.statement(values, 2)
        return values[-3:]

    def some(self, values: list[Any]) -> Any:
        return values[self.random.integers(len(values))]

    def expression(self, values: list[Any]) -> Any:
        a, b = self.some(values), self.some(values)
        kind = self.random.integers(6)
        if kind == 0:
            return tf.tanh(a) + b
        if kind == 1:
            return tf.minimum(a, b) * 0.5
        if kind == 2:
            return tf.constant(self.random.uniform(-2, 2, 3), tf.float32)
        return [a - b, tf.reverse(a, [0]) * 0.75, tf.sin(a)][kind - 3]

    def predicate(self, values: list[Any]) -> Any:
        return tf.reduce_sum(self.some(values)) > self.random.uniform(-1, 1)

    def statement(self, values: list[Any], depth: int) -> list[Any]:
        kind = self.random.integers(5) if depth else 0
        if kind < 2:
            return [self.expression(values)]
        if kind == 2:
            count = self.random.integers(1, 3)
            state = self.random.bit_generator.state

            def branch(part: int) -> Any:
                self.random.bit_generator.state = state
                self.random.uniform(size=part)
                return self.block(values, depth - 1)[-count:]

            return tf.nest.flatten(
                tf.cond(self.predicate(values), lambda: branch(1), lambda: branch(2))
            )
        if kind == 3:
            return self.loop(values, depth)
        rows = tf.stack([self.some(values), self.some(values)])
        return [
            tf.reduce_sum(tf.map_fn(lambda r: self.block([*values, r], depth - 1)[-1], rows), 0)
        ]

    def block(self, values: list[Any], depth: int) -> list[Any]:
        values = list(values)
        for _ in range(2):
            values += self.statement(values, depth)
        return values

    def loop(self, values: list[Any], depth: int) -> list[Any]:
        limit, early = int(self.random.integers(0, 4)), self.random.uniform(5, 50)

        def goes_on(i: Any, a: Any, _: Any) -> Any:
            return tf.logical_and(i < limit, tf.reduce_sum(tf.abs(a)) < early)

        def body(i: Any, a: Any, b: Any) -> Any:
            inner = self.block([*values, a, b, tf.fill([3], tf.cast(i, tf.float32))], depth - 1)
            return i + 1, inner[-1], inner[-2]

        return v1.while_loop(goes_on, body, [0, self.some(values), self.some(values)])[1:]


for _seed in range(16):
    PROGRAMS[f"random_{_seed}"] = (
        Random(_seed),
        [(tf.float32, VECTORS), (tf.float32, VECTORS[::-1])],
    )


def run(name: str) -> list[list[dict[str, Any]]]:
    """Writes the graph of a program; the results of its calls."""
    function, inputs = PROGRAMS[name]
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        placeholders = []
        for i, (dtype, values) in enumerate(inputs):
            shape = [None] * np.ndim(values[0])
            placeholders.append(v1.placeholder(dtype, shape, name=f"input{i}"))
        results = [
            tf.identity(r, name=f"result{i}")
            for i, r in enumerate(tf.nest.flatten(function(*placeholders)))
        ]
        used = {op.type for op in graph.get_operations()}
        if not used & {"Switch", "Enter", "TensorArrayV3"}:
            raise ValueError(f"{name} has no control flow, only {sorted(used)}")
        (FOLDER / f"{name}.pb").write_bytes(graph.as_graph_def().SerializeToString())
        calls = zip(*[values for _, values in inputs], strict=True)
        return [
            [
                _described(r)
                for r in session.run(results, dict(zip(placeholders, call, strict=True)))
            ]
            for call in calls
        ]


def _described(array: Any) -> dict[str, Any]:
    array = np.asarray(array)
    values = [v.decode() if isinstance(v, bytes) else v for v in array.reshape(-1).tolist()]
    dtype = "string" if array.dtype == object else str(array.dtype)
    return {"dtype": dtype, "shape": list(array.shape), "values": values}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return (
        [v.decode() for v in value]
        if isinstance(value, list) and isinstance(value[0], bytes)
        else value
    )


def main() -> None:
    """Writes all graphs and answers.json."""
    v1.disable_v2_behavior()
    answers: dict[str, Any] = {"tensorflow": tf.__version__, "programs": {}}
    for name, (_, inputs) in PROGRAMS.items():
        feeds = [[_plain(v) for v in values] for _, values in inputs]
        try:
            answers["programs"][name] = {"feeds": feeds, "answers": run(name)}
        except ValueError as e:
            print(e)
    (FOLDER / "answers.json").write_text(json.dumps(answers) + "\n", encoding="utf-8")
    print(f"{len(PROGRAMS)} programs ran in TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
