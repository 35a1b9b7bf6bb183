"""Transformations of `tf.data.experimental` and options. Answers were asked of TensorFlow 2.21."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from intaglio import tf
from intaglio.base import progress

Dataset = tf.data.Dataset
experimental = tf.data.experimental


def values(dataset):
    """The elements as Python values."""
    return [
        tf.nest.map_structure(lambda a: np.asarray(a).tolist(), e)
        for e in dataset.as_numpy_iterator()
    ]


def test_resampling_changes_the_shares():
    tf.random.set_seed(1)
    classes = Dataset.from_tensor_slices([0] * 500 + [1] * 500).shuffle(1000)
    for initial in (None, [0.5, 0.5]):
        pairs = values(classes.rejection_resample(lambda x: x, [0.8, 0.2], initial, seed=2))
        assert all(number == value for number, value in pairs)
        share = sum(number for number, _ in pairs) / len(pairs)
        assert 0.14 < share < 0.26
    kept = values(classes.rejection_resample(lambda x: x, [0.5, 0.5], [0.5, 0.5], seed=2))
    assert len(kept) == 1000  # nothing has to be left out


def test_buckets_padded_up_to_their_boundary():
    lengths = Dataset.from_tensor_slices([1, 2, 3, 5])
    d = lengths.map(lambda n: tf.ones([n])).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [4, 6], [2, 2, 2], pad_to_bucket_boundary=True
    )
    assert [np.shape(b) for b in values(d)] == [(2, 3), (1, 3), (1, 5)]
    assert d.element_spec == tf.TensorSpec((None, None))
    long = Dataset.from_tensor_slices([9]).map(lambda n: tf.ones([n]))
    d = long.bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [4, 6], [1, 1, 1], pad_to_bucket_boundary=True
    )
    with pytest.raises(tf.errors.OpError, match=r"length < max\(bucket_boundaries\)"):
        list(d)


def test_variants():
    d = Dataset.range(3)
    handle = experimental.to_variant(d)
    assert handle.dtype is tf.variant
    assert values(experimental.from_variant(handle, d.element_spec)) == [0, 1, 2]


def test_options_come_from_all_inputs_and_change_threads():
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.experimental_warm_start = True
    d = Dataset.range(20).with_options(options).map(lambda x: x + 1, 4).prefetch(2)
    both = Dataset.zip(d, Dataset.range(20))
    assert both.options().threading.private_threadpool_size == 1
    assert both.options().experimental_warm_start
    before = {t.ident for t in threading.enumerate()}
    it = iter(both)
    started = [t for t in threading.enumerate() if t.ident not in before]
    assert [t.name for t in started] == ["intaglio-prefetch"]  # warm, and no pool
    assert len([*it]) == 20


def test_out_of_order_where_the_options_allow_it():
    options = tf.data.Options()
    options.deterministic = False

    def slow_first(x):
        time.sleep(0.1 if x == 0 else 0.0)
        return x

    def make(**told):
        return (
            Dataset.range(6)
            .with_options(options)
            .map(lambda x: tf.py_function(slow_first, [x], tf.int64), num_parallel_calls=3, **told)
        )

    free = values(make())
    assert sorted(free) == [*range(6)]
    assert free[0] != 0
    assert values(make(deterministic=True)) == [*range(6)]


def test_interleaving_passes_over_what_is_still_computing():
    def slow_first(x):
        time.sleep(0.1 if x == 0 else 0.0)
        return x

    def inner(x):
        return Dataset.from_tensors(x).map(lambda y: tf.py_function(slow_first, [y], tf.int64))

    d = Dataset.range(4).interleave(
        inner, cycle_length=2, num_parallel_calls=2, deterministic=False
    )
    found = values(d)
    assert sorted(found) == [0, 1, 2, 3]
    assert found[0] != 0


@pytest.mark.parametrize(
    "make",
    [
        lambda d: d.map(lambda x: x + 1, 3),
        lambda d: d.prefetch(3),
        lambda d: d.interleave(Dataset.range, cycle_length=3, num_parallel_calls=3),
        lambda d: d.map(lambda x: x, 2).flat_map(lambda x: Dataset.range(x).prefetch(2)),
    ],
)
def test_threads_end_with_the_iterator_without_a_collection(make):
    before = set(threading.enumerate())  # iterators of other tests may wait for a collection

    def working():
        ours = [t for t in threading.enumerate() if t.name.startswith("intaglio-")]
        return [t for t in ours if t.name != progress.THREAD and t not in before]

    it = iter(make(Dataset.range(3, 1000)))
    for _ in range(5):
        next(it)
    assert working()
    del it
    deadline = time.monotonic() + 5
    while working() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not working()


def test_functions_run_as_python_in_debug_mode(monkeypatch):
    seen = []

    def function(x):
        seen.append(x)
        return {"a": x * 2, "b": (tf.constant("t"), x)}

    event = threading.Event()
    for module in ("tracing", "threads"):
        monkeypatch.setattr(f"intaglio.data.{module}.DEBUGGED", event)
    experimental.enable_debug_mode()
    d = Dataset.range(2).map(function, num_parallel_calls=4)
    seen.clear()
    assert values(d) == [{"a": 0, "b": (b"t", 0)}, {"a": 2, "b": (b"t", 1)}]
    assert [int(x.numpy()) for x in seen] == [0, 1]

    @tf.function
    def inside():
        experimental.enable_debug_mode()

    with pytest.raises(ValueError, match="only supported in eager mode"):
        inside()


def test_what_has_no_meaning_here_raises():
    iterator = iter(Dataset.range(1))
    for call in (
        lambda: experimental.make_saveable_from_iterator(iterator),
        lambda: experimental.distributed_save(Dataset.range(1), "path", "address"),
    ):
        with pytest.raises(NotImplementedError):
            call()


def test_rows_are_not_copied_before_the_batch():
    rows = tf.zeros((50, 1000))
    shuffled = Dataset.from_tensor_slices(rows).shuffle(50)
    assert all(np.shares_memory(e._array, rows._array) for e in shuffled)


def test_ragged_batches():
    d = Dataset.range(5).map(lambda x: {"v": tf.range(x), "n": x})
    batches = d.ragged_batch(2)
    # TensorFlow's type for vectors; scalars stay dense.
    assert repr(batches.element_spec["v"]) == (
        "RaggedTensorSpec(TensorShape([None, None]), tf.int64, 1, tf.int64)"
    )
    assert [b["v"].to_list() for b in batches] == [[[], [0]], [[0, 1], [0, 1, 2]], [[0, 1, 2, 3]]]
    assert [b["n"].numpy().tolist() for b in batches] == [[0, 1], [2, 3], [4]]
    narrow = Dataset.range(4).map(tf.range)
    narrow = narrow.apply(experimental.dense_to_ragged_batch(2, True, tf.int32))
    assert next(iter(narrow)).row_splits.dtype is tf.int32
    fixed = Dataset.range(5).ragged_batch(2)
    assert fixed.element_spec == tf.TensorSpec((None,), tf.int64)
    with pytest.raises(TypeError, match="sparse_batch"):
        narrow.sparse_batch(2, [5])
    ragged = Dataset.from_tensors(tf.ragged.constant([[1], [2, 3]]))
    assert [r.to_list() for r in ragged.repeat(2).map(lambda r: r + 1)] == [[[2], [3, 4]]] * 2
    assert [r.to_list() for r in ragged.repeat(2).batch(2)] == [[[[1], [2, 3]]] * 2]


def test_the_stages_of_a_pipeline_as_a_message():
    d = Dataset.zip(Dataset.range(9), Dataset.range(9).map(lambda x: x, 2)).prefetch(3)
    it = iter(d)
    next(it)
    model = experimental.get_model_proto(it)
    # Ids count as in TensorFlow: the root is 1, inputs come after who asks for them.
    names = {i: (n.name, list(n.inputs)) for i, n in model.nodes.items()}
    assert names == {
        1: ("Root", [2]),
        2: ("Prefetch", [3]),
        3: ("Zip", [4, 5]),
        4: ("Range", []),
        5: ("ParallelMap", [6]),
        6: ("Range", []),
    }
    assert model.output == 1
    assert model.nodes[1].num_elements == 1
    (buffer,) = model.nodes[2].parameters
    assert (buffer.name, buffer.value) == ("buffer_size", 3)
