"""Datasets eagerly: elements, types, order, printing. Answers were asked of TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf

Dataset = tf.data.Dataset


def values(dataset):
    """The elements as Python values."""
    return [
        tf.nest.map_structure(lambda a: np.asarray(a).tolist(), e)
        for e in dataset.as_numpy_iterator()
    ]


def test_sources():
    assert values(Dataset.range(1, 8, 3)) == [1, 4, 7]
    assert values(Dataset.range(2, output_type=tf.float32)) == [0.0, 1.0]
    assert values(Dataset.from_tensors([1, 2])) == [[1, 2]]
    slices = Dataset.from_tensor_slices({"a": [1, 2], "b": ([3.0, 4.0], ["x", "y"])})
    assert values(slices) == [{"a": 1, "b": (3.0, b"x")}, {"a": 2, "b": (4.0, b"y")}]
    assert values(Dataset.counter(5, 2).take(3)) == [5, 7, 9]
    with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
        Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))
    with pytest.raises(ValueError, match="rank >= 1"):
        Dataset.from_tensor_slices(3)
    with pytest.raises(ValueError, match="between 1 and 3 but was 0"):
        Dataset.range()


@pytest.mark.parametrize(
    ("make", "printed", "size"),
    [
        (lambda d: d, "_RangeDataset", 3),
        (lambda d: d.map(lambda x: x), "_MapDataset", 3),
        (lambda d: d.map(lambda x: x, 2), "_ParallelMapDataset", 3),
        (lambda d: d.shuffle(2), "_ShuffleDataset", 3),
        (lambda d: d.repeat(2), "_RepeatDataset", 6),
        (lambda d: d.repeat(), "_RepeatDataset", -1),
        (lambda d: d.take(2), "_TakeDataset", 2),
        (lambda d: d.skip(2), "_SkipDataset", 1),
        (lambda d: d.filter(lambda x: x > 0), "_FilterDataset", -2),
        (lambda d: d.prefetch(2), "_PrefetchDataset", 3),
        (lambda d: d.concatenate(d), "_ConcatenateDataset", 6),
        (lambda d: d.cache(), "CacheDataset", 3),
        (lambda d: d.shard(2, 0), "_ShardDataset", 2),
        (lambda d: d.flat_map(Dataset.range), "_FlatMapDataset", -2),
        (lambda d: d.take_while(lambda x: x < 2), "_TakeWhileDataset", -2),
        (lambda d: d.with_options(tf.data.Options()), "_OptionsDataset", 3),
    ],
)
def test_printing_and_cardinality(make, printed, size):
    dataset = make(Dataset.range(3))
    spec = "TensorSpec(shape=(), dtype=tf.int64, name=None)"
    assert repr(dataset) == f"<{printed} element_spec={spec}>"
    assert int(dataset.cardinality()) == size


def test_length():
    assert len(Dataset.range(7).batch(2)) == 4
    assert len(Dataset.range(7).batch(2, drop_remainder=True)) == 3
    with pytest.raises(TypeError, match="The dataset is infinite"):
        len(Dataset.range(3).repeat())
    with pytest.raises(TypeError, match="The dataset length is unknown"):
        len(Dataset.range(3).filter(lambda x: x > 1))


def test_functions_of_elements():
    d = Dataset.range(5)
    assert values(d.map(lambda x: {"a": x, "b": (x, [1, 2])}))[1] == {"a": 1, "b": (1, [1, 2])}
    assert values(Dataset.zip(d, d).map(lambda x, y: x + 2 * y)) == [0, 3, 6, 9, 12]
    assert values(d.filter(lambda x: x % 2 == 0)) == [0, 2, 4]
    zero = tf.constant(0, tf.int64)
    assert values(d.scan(zero, lambda s, x: (s + x, s + x))) == [0, 1, 3, 6, 10]
    assert int(d.reduce(zero, lambda s, x: s + x)) == 10
    assert values(d.take_while(lambda x: x < 3)) == [0, 1, 2]
    assert values(d.flat_map(Dataset.range)) == [0, 0, 1, 0, 1, 2, 0, 1, 2, 3]


def test_python_control_flow_in_functions():
    def f(x):
        if x > 2:
            return x * 10
        return x

    assert values(Dataset.range(5).map(f)) == [0, 1, 2, 30, 40]


def test_map_traces_once_and_sees_variables():
    traces, scale = [], tf.Variable(2, dtype=tf.int64)

    def f(x):
        traces.append(1)
        return x * scale

    d = Dataset.range(3).map(f)
    assert values(d) == [0, 2, 4]
    scale.assign(5)
    assert values(d) == [0, 5, 10]
    assert len(traces) == 1


def test_interleave_and_choice():
    d = Dataset.range(4)
    three = d.interleave(
        lambda x: Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2
    )
    assert values(three) == [0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 3]
    choice = Dataset.range(2).repeat(3)
    both = [d, d.map(lambda x: x + 100)]
    chosen = Dataset.choose_from_datasets(both, choice)
    assert values(chosen) == [0, 100, 1, 101, 2, 102]
    assert values(d.concatenate(d.map(lambda x: -x)))[-1] == -3
    with pytest.raises(TypeError, match="Incompatible dataset elements"):
        d.concatenate(Dataset.from_tensors(1))
    with pytest.raises(TypeError, match="structures of `tf"):
        Dataset.zip(d, 3)


def test_batches():
    d = Dataset.range(5)
    assert values(d.batch(2)) == [[0, 1], [2, 3], [4]]
    assert values(d.batch(2, drop_remainder=True)) == [[0, 1], [2, 3]]
    assert d.batch(2).element_spec == tf.TensorSpec((None,), tf.int64)
    assert d.batch(2, True).element_spec == tf.TensorSpec((2,), tf.int64)
    assert values(d.batch(2).unbatch()) == [0, 1, 2, 3, 4]
    words = Dataset.from_tensor_slices(["a", "b"]).batch(2)
    assert values(words) == [[b"a", b"b"]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
        d.batch(0)
    ragged = Dataset.from_tensor_slices([1, 3]).map(lambda n: tf.zeros([n]))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"Shapes are: \[tensor\]: \[3\], \[batch\]: \[1\]"
    ):
        list(ragged.batch(2))
    for other in (ragged.take(2), ragged.filter(lambda x: True), ragged.enumerate()):
        component = len(other.element_spec) - 1 if isinstance(other.element_spec, tuple) else 0
        with pytest.raises(  # TensorFlow's words where batching does not follow a map at once
            tf.errors.InvalidArgumentError,
            match=rf"in component {component}. First element had shape \[1\] and element 1 had shape \[3\]",
        ):
            list(other.batch(2))
    assert values(ragged.padded_batch(2)) == [[[0, 0, 0], [0, 0, 0]]]
    for shape in ([2], [3, 1], []):  # at once where the shape of elements is known
        with pytest.raises(ValueError, match=r"not compatible with the shape \(3,\) of the corr"):
            Dataset.from_tensors([1, 2, 3]).padded_batch(2, padded_shapes=shape)
    assert values(Dataset.from_tensors([1, 2]).padded_batch(2, [3])) == [[[1, 2, 0]]]
    with pytest.raises(tf.errors.DataLossError, match="smaller size"):
        list(ragged.padded_batch(2, padded_shapes=[2]))
    padded = ragged.padded_batch(2, padded_shapes=[4], padding_values=-1.0)
    assert values(padded) == [[[0, -1, -1, -1], [0, 0, 0, -1]]]
    with pytest.raises(ValueError, match="Cannot unbatch"):
        d.unbatch()


def test_windows():
    windows = Dataset.range(7).window(3, shift=1, stride=2)
    nested = [values(w) for w in windows]
    assert nested == [[0, 2, 4], [1, 3, 5], [2, 4, 6], [3, 5], [4, 6], [5], [6]]
    flat = Dataset.range(6).window(3).flat_map(lambda w: w.batch(3))
    assert values(flat) == [[0, 1, 2], [3, 4, 5]]


def test_groups_and_buckets():
    d = Dataset.range(6)
    grouped = d.group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2)
    assert values(grouped) == [[0, 2], [1, 3], [4], [5]]
    lengths = Dataset.from_tensor_slices([1, 5, 2, 6]).map(lambda n: tf.ones([n]))
    buckets = lengths.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [4], [2, 2])
    assert [np.shape(b) for b in values(buckets)] == [(2, 2), (2, 6)]


def test_order_of_shuffling_is_tensorflows():
    tf.random.set_seed(7)
    d = Dataset.range(10).shuffle(10, seed=1)
    assert [values(d) for _ in range(2)] == [
        [5, 3, 1, 7, 8, 9, 6, 0, 4, 2],
        [4, 1, 7, 2, 6, 0, 3, 5, 9, 8],
    ]
    tf.random.set_seed(7)
    fixed = Dataset.range(10).shuffle(10, seed=1, reshuffle_each_iteration=False)
    assert [values(fixed) for _ in range(2)] == [[8, 1, 5, 7, 2, 0, 6, 9, 4, 3]] * 2
    tf.random.set_seed(7)
    small = Dataset.range(20).shuffle(5, seed=1)
    assert values(small)[:8] == [0, 3, 2, 4, 6, 9, 10, 8]
    tf.random.set_seed(7)
    sampled = [Dataset.range(5), Dataset.range(100, 105)]
    assert values(Dataset.sample_from_datasets(sampled, seed=3)) == [
        100,
        0,
        101,
        102,
        103,
        104,
        1,
        2,
        3,
        4,
    ]


def test_seeded_functions_give_every_iterator_the_same_numbers():
    tf.random.set_seed(7)
    d = Dataset.range(3).map(lambda x: tf.random.uniform([], seed=1)).repeat(2)
    first = [float(x) for x in d]
    assert [float(x) for x in d] == first
    assert len(set(first)) == 6  # a repetition goes on with the stream


def test_errors_surface_at_the_element():
    d = Dataset.range(4).map(
        lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x - 2, tf.float32), "bad")
    )
    it = iter(d)
    assert [float(next(it)), float(next(it))] == [-0.5, -1.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad : Tensor had Inf"):
        next(it)
    assert float(next(it)) == 1.0  # and goes on behind it
    assert values(d.ignore_errors()) == [-0.5, -1.0, 1.0]
    counted = Dataset.range(4).apply(tf.data.experimental.assert_cardinality(3))
    with pytest.raises(tf.errors.FailedPreconditionError, match="at least 4 elements"):
        list(counted)


def test_messages_about_functions():
    d = Dataset.range(3)
    with pytest.raises(TypeError, match=r"passed to Dataset.map\(\)"):
        d.map(lambda x: object())
    with pytest.raises(ValueError, match="scalar tensor, but its return type"):
        d.filter(lambda x: x)
    with pytest.raises(TypeError, match="must return a `Dataset` object"):
        d.flat_map(lambda x: x)
    with pytest.raises(TypeError, match="element types for the new state"):
        d.scan(0, lambda s, x: (x, x))


def test_single_element():
    assert int(Dataset.from_tensors(3).get_single_element()) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="Dataset was empty"):
        Dataset.range(0).get_single_element()
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than one element"):
        Dataset.range(2).get_single_element()


def test_cache_computes_once():
    calls = []

    def count(x):
        calls.append(1)
        return x

    d = Dataset.range(3).map(lambda x: tf.py_function(count, [x], tf.int64)).cache()
    assert values(d) == values(d) == [0, 1, 2]
    assert len(calls) == 3


def test_options():
    options = tf.data.Options()
    options.deterministic = False
    options.threading.private_threadpool_size = 3
    merged = Dataset.range(1).with_options(options).options()
    assert merged.deterministic is False
    assert merged.threading.private_threadpool_size == 3
    with pytest.raises(AttributeError, match="Cannot set the property nonsense"):
        options.nonsense = 1


def test_errors_of_functions_name_the_users_line():
    def divided(x):
        y = x - 1
        return 6 // y

    with pytest.raises(tf.errors.InvalidArgumentError, match="by zero") as caught:
        list(Dataset.range(3).map(divided))
    (note,) = caught.value.__notes__
    assert "test_dataset.py" in note
    assert "in divided" in note
    files = [e.path for e in caught.traceback]
    assert not any("functional.py" in str(f) for f in files)
