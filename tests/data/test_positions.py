"""Positions: iterators are saved, restored, kept in checkpoints, and pickled."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from intaglio import tf

Dataset = tf.data.Dataset

PIPELINES: dict[str, Any] = {
    "range": lambda: Dataset.range(20),
    "slices": lambda: Dataset.from_tensor_slices(
        {"a": np.arange(20), "b": [str(i) for i in range(20)]}
    ),
    "ragged": lambda: (
        Dataset.range(20)
        .map(lambda x: tf.RaggedTensor.from_row_lengths([x, x], [1, 1]))
        .shuffle(4, seed=2)
        .batch(3)
        .unbatch()
    ),
    "sparse": lambda: Dataset.from_tensor_slices(tf.sparse.from_dense(np.eye(20))).shuffle(
        4, seed=2
    ),
    "list": lambda: tf.data.experimental.from_list([*range(20)]),
    "map": lambda: Dataset.range(20).map(lambda x: x * 2),
    "parallel map": lambda: Dataset.range(20).map(lambda x: x * 2, 3),
    "prefetch": lambda: Dataset.range(20).map(lambda x: x + 1).prefetch(4),
    "prefetches": lambda: Dataset.range(20).prefetch(2).map(lambda x: x, 2).prefetch(3),
    "shuffle": lambda: Dataset.range(20).shuffle(5, seed=3),
    "shuffle and repeat": lambda: Dataset.range(10).shuffle(20, seed=3).repeat(3),
    "repeat": lambda: Dataset.range(7).repeat(4),
    "take": lambda: Dataset.range(30).skip(3).take(20),
    "shard": lambda: Dataset.range(60).shard(3, 1),
    "batch": lambda: Dataset.range(60).batch(3),
    "rebatch": lambda: Dataset.range(60).batch(5).rebatch([3, 4]),
    "unbatch": lambda: Dataset.range(40).batch(7).unbatch(),
    "window": lambda: Dataset.range(40).window(4, shift=2),
    "windows flat": lambda: Dataset.range(40).window(4, shift=2).flat_map(lambda w: w.batch(3)),
    "windows shuffled": lambda: Dataset.range(40).window(4, shift=2).shuffle(5, seed=1),
    "flat_map": lambda: Dataset.range(10).flat_map(Dataset.range),
    "interleave": lambda: Dataset.range(10).interleave(
        lambda x: Dataset.range(x * 10, x * 10 + 5), cycle_length=3, block_length=2
    ),
    "parallel interleave": lambda: Dataset.range(10).interleave(
        lambda x: Dataset.range(x * 10, x * 10 + 5), 3, 2, num_parallel_calls=2
    ),
    "concatenate": lambda: Dataset.range(5).concatenate(Dataset.range(100, 115)),
    "zip": lambda: Dataset.zip(Dataset.range(20), Dataset.range(20).shuffle(5, seed=2)),
    "cache": lambda: Dataset.range(20).cache(),
    "cache and repeat": lambda: Dataset.range(8).cache().repeat(3),
    "filter": lambda: Dataset.range(60).filter(lambda x: x % 3 == 0),
    "take_while": lambda: Dataset.range(60).take_while(lambda x: x < 15),
    "scan": lambda: Dataset.range(20).scan(np.int64(0), lambda s, x: (s + x, s)),
    "group_by_window": lambda: Dataset.range(60).group_by_window(
        lambda x: x % 4, lambda k, w: w.batch(3), 6
    ),
    "group_by_reducer": lambda: Dataset.range(60).apply(
        tf.data.experimental.group_by_reducer(
            lambda x: x % 9,
            tf.data.experimental.Reducer(lambda k: np.int64(0), lambda s, x: s + x, lambda s: s),
        )
    ),
    "sample": lambda: Dataset.sample_from_datasets(
        [Dataset.range(10), Dataset.range(100, 110)], seed=4
    ),
    "choose": lambda: Dataset.choose_from_datasets(
        [Dataset.range(10), Dataset.range(100, 110)], Dataset.range(2).repeat()
    ),
    "random": lambda: Dataset.random(seed=4).take(20),
    "unique": lambda: Dataset.range(60).map(lambda x: x // 2).unique(),
    "enumerate": lambda: Dataset.range(20).enumerate(),
    "counter": lambda: Dataset.counter(3, 2).take(15),
    "padded": lambda: Dataset.range(20).map(tf.range).padded_batch(3),
    "counted": lambda: Dataset.range(20).apply(tf.data.experimental.assert_cardinality(20)),
}


def plain(element):
    """An element as Python values, datasets in it as lists."""

    def value(t):
        if isinstance(t, Dataset):
            return [plain(e) for e in t]
        if isinstance(t, tf.SparseTensor):
            t = tf.sparse.to_dense(t)
        return t.to_list() if hasattr(t, "to_list") else np.asarray(t).tolist()

    return tf.nest.map_structure(value, element)


def rest(iterator):
    """The elements that an iterator has left."""
    return [plain(e) for e in iterator]


def at(make, number):
    """A new iterator behind `number` elements, or at the end."""
    tf.random.set_seed(5)
    iterator = iter(make())
    for _ in range(number):
        next(iterator, None)
    return iterator


@pytest.mark.parametrize("number", [0, 1, 6, 100])
@pytest.mark.parametrize("name", PIPELINES)
def test_a_position_is_restored(name, number):
    make = PIPELINES[name]
    iterator = at(make, number)
    state = iterator._save()
    left = rest(iterator)
    iterator._restore(state)
    assert rest(iterator) == left  # the iterator itself
    other = at(make, 2)
    other._restore(state)
    assert rest(other) == left  # one of an equal pipeline
    other._restore(state)
    assert rest(pickle.loads(pickle.dumps(other))) == left


def test_numpy_iterators_have_positions():
    iterator = Dataset.range(5).as_numpy_iterator()
    assert next(iterator) == 0
    state = iterator.save()
    assert [next(iterator), next(iterator)] == [1, 2]
    iterator.restore(state)
    assert [*iterator] == [1, 2, 3, 4]


def test_generators_begin_again_and_give_as_many():
    made = []

    def numbers():
        made.append(1)
        yield from range(5)

    d = Dataset.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int32))
    it = iter(d)
    assert [int(next(it)), int(next(it))] == [0, 1]
    state = it._save()
    assert rest(it) == [2, 3, 4]
    it._restore(state)
    assert rest(it) == [2, 3, 4]
    assert len(made) == 2
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(d)


def test_files_go_on_at_the_line(tmp_path):
    for name, lines in (("a", range(5)), ("b", range(5, 9))):
        (tmp_path / name).write_text("\n".join(map(str, lines)))
    for reads in (None, 2):
        names = [str(tmp_path / "a"), str(tmp_path / "b")]
        it = iter(tf.data.TextLineDataset(names, num_parallel_reads=reads))
        for _ in range(6):
            next(it)
        state = it._save()
        left = rest(it)
        assert len(left) == 3
        it._restore(state)
        assert rest(it) == left


def test_pending_errors_are_part_of_the_position():
    d = Dataset.range(4).map(lambda x: 12 // (x - 1)).prefetch(4)
    it = iter(d)
    assert int(next(it)) == -12
    state = it._save()
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="zero"):
            next(it)
        assert rest(it) == [12, 6]
        it._restore(state)


def test_positions_of_other_pipelines_are_refused():
    state = iter(Dataset.range(3).repeat(2))._save()
    with pytest.raises(tf.errors.InvalidArgumentError, match="another pipeline"):
        iter(Dataset.range(3))._restore(state)


def test_checkpoints_keep_iterators(tmp_path):
    d = Dataset.range(20).shuffle(6, seed=2).batch(2).prefetch(2)
    iterator, variable = iter(d), tf.Variable(3)
    next(iterator)
    checkpoint = tf.train.Checkpoint(it=iterator, v=variable)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    left = rest(iterator)
    variable.assign(7)
    checkpoint.restore(path).assert_consumed()
    assert rest(iterator) == left
    assert int(variable) == 3
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "it/.ATTRIBUTES/ITERATOR_STATE" in names
    other = iter(d)
    tf.train.Checkpoint(it=other).restore(path).assert_existing_objects_matched()
    assert rest(other) == left


def test_datasets_pickle_with_their_functions_and_options():
    options = tf.data.Options()
    options.deterministic = True
    factor = tf.constant(3, tf.int64)

    def tripled_if_odd(x):
        if x % 2 == 1:
            x = x * factor
        return x

    d = Dataset.range(6).map(tripled_if_odd).with_options(options)
    copy = pickle.loads(pickle.dumps(d))
    assert rest(copy) == [0, 3, 2, 9, 4, 15]
    assert repr(copy) == repr(d)
    assert copy.options().deterministic is True
    scale = tf.Variable(2, dtype=tf.int64)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(Dataset.range(3).map(lambda x: x * scale))


def test_fingerprints():
    def make(n):
        return Dataset.range(n).map(lambda x: x + 1).batch(2)

    assert int(make(5).fingerprint()) == int(make(5).fingerprint())
    assert int(make(5).fingerprint()) != int(make(6).fingerprint())
    assert make(5).fingerprint().dtype is tf.uint64
