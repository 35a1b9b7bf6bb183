"""Iterators and loops over datasets, eagerly and in traced functions."""

from __future__ import annotations

import itertools

import pytest

from intaglio import tf

Dataset = tf.data.Dataset


def test_the_end_of_an_iterator():
    it = iter(Dataset.range(1))
    assert int(next(it)) == 0
    with pytest.raises(StopIteration):
        next(it)
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        it.get_next()
    assert not it.get_next_as_optional().has_value()
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        it.get_next_as_optional().get_value()


def test_optionals():
    optional = tf.data.experimental.Optional.from_value({"a": 1})
    assert int(optional.get_value()["a"]) == 1
    empty = tf.data.experimental.Optional.empty(tf.TensorSpec((), tf.int32))
    assert not empty.has_value()


def test_an_iterator_as_argument_goes_on():
    @tf.function
    def take(iterator):
        return next(iterator)

    it = iter(Dataset.range(3))
    assert [int(take(it)) for _ in range(3)] == [0, 1, 2]
    assert take.experimental_get_tracing_count() == 1
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        take(it)
    assert int(take(iter(Dataset.range(9, 10)))) == 9
    assert take.experimental_get_tracing_count() == 1


def test_a_captured_iterator_and_dataset():
    it = iter(Dataset.range(5))
    doubled = Dataset.range(3).map(lambda x: x * 2)

    @tf.function
    def f():
        total = tf.constant(0, tf.int64)
        for x in doubled:
            total += x
        return total, next(it)

    assert [int(v) for v in f()] == [6, 0]
    assert [int(v) for v in f()] == [6, 1]


@tf.function
def total_until(dataset, limit):
    total = tf.constant(0, tf.int64)
    seen = tf.constant(0)
    for x in dataset:
        if x > limit:
            break
        if x % 2 == 1:
            continue
        total += x
        seen += 1
    return total, seen


@pytest.mark.parametrize("limit", [-1, 3, 4, 100])
def test_a_loop_in_the_graph(limit):
    expected = [x for x in range(10) if x <= limit and x % 2 == 0]
    total, seen = total_until(Dataset.range(10), tf.constant(limit, tf.int64))
    assert (int(total), int(seen)) == (sum(expected), len(expected))


def test_the_graph_does_not_grow_with_the_data():
    limit = tf.constant(3, tf.int64)
    sizes = {
        len(total_until.get_concrete_function(Dataset.range(n), limit).graph.nodes)
        for n in (1, 1000)
    }
    assert len(sizes) == 1


def test_a_loop_over_an_iterator_takes_what_it_reads():
    @tf.function
    def first_over(iterator, limit):
        found = tf.constant(-1, tf.int64)
        for x in iterator:
            if x > limit:
                found = x
                break
        return found

    it = iter(Dataset.range(10))
    assert int(first_over(it, tf.constant(3, tf.int64))) == 4
    assert int(next(it)) == 5


def test_loop_shapes_are_relaxed():
    @tf.function
    def joined(dataset):
        parts = tf.zeros([0], tf.int64)
        for x in dataset:
            parts = tf.concat([parts, [x]], 0)
        return parts

    assert joined(Dataset.range(4)).numpy().tolist() == [0, 1, 2, 3]


def test_datasets_created_in_a_function():
    @tf.function
    def f(n):
        d = Dataset.range(n).map(lambda x: x + n).batch(2)
        total = tf.constant(0, tf.int64)
        for batch in d:
            total += tf.reduce_sum(batch)
        return total, d.cardinality(), d.reduce(0, lambda s, _: s + 1)

    assert [int(v) for v in f(tf.constant(5, tf.int64))] == [35, 3, 3]


def test_gradients_through_a_loop_over_a_dataset():
    w = tf.Variable(3.0)

    @tf.function
    def loss(dataset):
        total = tf.constant(0.0)
        for x in dataset:
            total += w * w * x
        return total

    data = Dataset.from_tensor_slices([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = loss(data)
    assert float(y) == 27.0
    assert float(tape.gradient(y, w)) == 18.0


def test_builtins_in_converted_code():
    @tf.function
    def f(d):
        total = tf.constant(0, tf.int64)
        for i, x in enumerate(d):
            total += i * x
        for x, y in zip(d, d):  # noqa: B905
            total += x * y
        large = map(lambda x: x > 2, d)  # noqa: C417
        return total, len(d), any(large), all(large)

    total, length, some, every = f(Dataset.range(4))
    assert (int(total), int(length), bool(some), bool(every)) == (28, 4, True, False)


def test_next_with_a_default():
    @tf.function
    def f(iterator):
        return next(iterator, tf.constant(-1, tf.int64))

    it = iter(Dataset.range(1))
    assert [int(f(it)), int(f(it))] == [0, -1]


def test_specs_as_signature():
    spec = tf.data.DatasetSpec(tf.TensorSpec((), tf.int64))

    @tf.function(input_signature=[spec])
    def f(dataset):
        return dataset.reduce(tf.constant(0, tf.int64), lambda s, x: s + x)

    assert int(f(Dataset.range(4))) == 6
    assert repr(spec) == (
        "DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))"
    )


def test_datasets_and_optionals_cross_the_border_of_functions():
    @tf.function
    def make(n):
        return Dataset.range(n), tf.experimental.Optional.from_value(n)

    dataset, optional = make(tf.constant(3, tf.int64))
    assert [int(x) for x in dataset] == [0, 1, 2]
    assert int(optional.get_value()) == 3


def test_loops_in_loops():
    @tf.function
    def f(n):
        total = tf.constant(0, tf.int64)
        for x in Dataset.range(n):
            for y in Dataset.range(x).map(lambda y: y + n):
                total += y
        return total

    results = [int(f(tf.constant(n, tf.int64))) for n in (3, 5) for _ in range(20)]
    assert results == [10] * 20 + [60] * 20


def test_variables_in_loops():
    total = tf.Variable(0.0)

    @tf.function
    def f(dataset):
        for x in dataset:
            total.assign_add(x)

    f(Dataset.from_tensor_slices([1.0, 2.0]))
    assert float(total) == 3.0


# -- Python's loops in graphs ------------------------------------------------------------
# TensorFlow 2.21 was asked: 32 elements are taken, the next is a ValueError. It goes on for ever
# where a comprehension or generator of a converted function takes them.


@pytest.mark.parametrize(
    "loop",
    [
        lambda ds: [x for x in ds],  # noqa: C416
        lambda ds: list(ds),
        lambda ds: list(itertools.islice(ds, 100)),
        lambda ds: tuple(ds),
        lambda ds: sum(x for x in ds),
        lambda ds: list(tf.distribute.get_strategy().experimental_distribute_dataset(ds)),
    ],
    ids=["comprehension", "list", "islice", "tuple", "generator", "distributed"],
)
@pytest.mark.parametrize("autograph", [False, True])
def test_a_python_loop_over_a_dataset_in_a_graph_is_refused(loop, autograph):
    dataset = tf.data.Dataset.range(3)

    def f():
        loops.append(loop(dataset))

    loops: list = []
    with pytest.raises(ValueError, match=r"unusually high number of `tf.data.Iterator.get_next"):
        tf.function(f, autograph=autograph)()
    assert not loops


def test_how_many_elements_python_takes_in_a_graph():
    dataset = tf.data.Dataset.range(200)

    def take(count, step):
        iterator = iter(dataset)

        def f():
            x = tf.constant(0, tf.int64)
            for _ in range(count):
                x = step(iterator)
            return x

        return f

    steps = (next, lambda i: i.get_next(), lambda i: i.next())
    for step in steps:
        assert int(tf.function(take(32, step), autograph=False)()) == 31
        with pytest.raises(ValueError, match="only supported when AutoGraph is enabled"):
            tf.function(take(33, step), autograph=False)()
        assert int(tf.function(take(60, step))()) == 59
        assert int(take(60, step)()) == 59


def test_next_of_a_distributed_iterator_in_converted_code():
    distributed = tf.distribute.get_strategy().experimental_distribute_dataset(
        tf.data.Dataset.range(60)
    )
    iterator = iter(distributed)

    @tf.function
    def f():
        x = tf.constant(0, tf.int64)
        for _ in range(40):
            x = x + next(iterator)
        return x

    assert int(f()) == sum(range(40))
