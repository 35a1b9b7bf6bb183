"""Python generators, files, threads."""

from __future__ import annotations

import gc
import gzip
import os
import threading
import time

import numpy as np
import pytest

from intaglio import tf
from intaglio.base import progress

Dataset = tf.data.Dataset
RECORDS = bytes.fromhex("0300000000000000b099490e6162636e57f121000000000000000029039807d8ea82a2")


def test_generators():
    def count(n):
        yield from range(n)

    d = Dataset.from_generator(count, args=(3,), output_signature=tf.TensorSpec((), tf.int32))
    assert [int(x) for x in d] == [int(x) for x in d] == [0, 1, 2]
    untyped = Dataset.from_generator(lambda: [([1, 2], "a")], (tf.int32, tf.string))
    ((numbers, word),) = untyped
    assert numbers.numpy().tolist() == [1, 2]
    assert word.numpy() == b"a"
    assert repr(d).startswith("<_FlatMapDataset element_spec=")


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        ([], tf.int32, []),
        ([[], []], tf.int64, [[], []]),
        ([], tf.bool, []),
        ([1.5], tf.int32, [1]),
        (np.array([1.5, -1.5]), tf.int64, [1, -1]),
        ([2**40], tf.int32, [0]),
        ([-1], tf.uint8, [255]),
        (["3"], tf.float32, [3.0]),
        ([1 + 2j], tf.float32, [1.0]),
        ([0.0, 2.0], tf.bool, [False, True]),
        ([None], tf.bool, [False]),
        (np.array([1.5], object), tf.float16, [1.5]),
        (2.7, tf.int32, 2),
    ],
)
def test_generated_numbers_are_cast(value, dtype, expected):
    """TensorFlow 2.21 was asked for each."""
    spec = tf.TensorSpec([None] * np.asarray(expected, dtype.as_numpy_dtype).ndim, dtype)
    (got,) = Dataset.from_generator(lambda: [value], output_signature=spec)
    assert got.dtype == dtype
    assert got.numpy().tolist() == expected


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (1.5, tf.int32, None),
        ([1, 2.5], tf.uint8, None),
        (1, tf.bool, None),
        (1j, tf.float32, None),
        ("3", tf.float32, None),
        (True, tf.uint8, None),
        (True, tf.complex64, None),
        (True, tf.int32, 1),
        (True, tf.float16, 1.0),
        (2**40, tf.int32, 0),
        (-1, tf.uint8, 255),
        ([], tf.bool, []),
        ((1.5,), tf.complex64, [1.5]),
        (np.float64(1.5), tf.bool, True),
        (np.array([1.5], object), tf.uint8, [1]),
    ],
)
def test_generated_values_of_unknown_rank_keep_their_kind(value, dtype, expected):
    """TensorFlow 2.21 was asked for each, and for a tensor of float32."""
    generated = Dataset.from_generator(lambda: [value], dtype)
    if expected is None:
        with pytest.raises(tf.errors.InvalidArgumentError, match="did not match"):
            list(generated)
    else:
        assert [x.numpy().tolist() for x in generated] == [expected]
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not match"):
        list(Dataset.from_generator(lambda: [tf.constant(1.5)], tf.int32))


def test_bad_generators():
    scalar = tf.TensorSpec((), tf.int32)
    for value in ("a", None):
        wrong = Dataset.from_generator(lambda v=value: [v], output_signature=scalar)
        with pytest.raises(tf.errors.InvalidArgumentError, match="did not match"):
            list(wrong)
    wrong_shape = Dataset.from_generator(lambda: [[1]], output_signature=scalar)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"of shape \(1,\)"):
        list(wrong_shape)
    with pytest.raises(TypeError, match="must be a Python callable"):
        Dataset.from_generator(3, tf.int32)

    def fails():
        yield 1
        raise KeyError("mine")

    it = iter(Dataset.from_generator(fails, output_signature=scalar))
    assert int(next(it)) == 1
    with pytest.raises(tf.errors.UnknownError, match="KeyError: 'mine'"):
        next(it)


def test_text_lines(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"three\n"))
    plain = tf.data.TextLineDataset(str(tmp_path / "a.txt"))
    assert list(plain.as_numpy_iterator()) == [b"one", b"two"]
    packed = tf.data.TextLineDataset([str(tmp_path / "b.txt.gz")], "GZIP")
    assert list(packed.as_numpy_iterator()) == [b"three"]
    with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
        list(tf.data.TextLineDataset(str(tmp_path / "none")))


def test_records(tmp_path):
    # Two records, "abc" and "", as TensorFlow writes them.
    path = tmp_path / "r.tfrecord"
    path.write_bytes(RECORDS)
    d = tf.data.TFRecordDataset(str(path))
    assert list(d.as_numpy_iterator()) == [b"abc", b""]
    path.write_bytes(RECORDS[:12] + b"x" + RECORDS[13:])
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at 0"):
        list(tf.data.TFRecordDataset(str(path)))
    path.write_bytes(RECORDS[:14])
    with pytest.raises(tf.errors.DataLossError, match="truncated record at 0"):
        list(tf.data.TFRecordDataset(str(path)))


@pytest.mark.parametrize("length", range(len(RECORDS) + 1))
def test_a_file_that_ends_within_a_record(tmp_path, length):
    """TensorFlow, asked for every length: a head that is not whole is the end of the file."""
    path = tmp_path / "r.tfrecord"
    path.write_bytes(RECORDS[:length])
    first, second = 12 + 3 + 4, 12 + 4
    whole = [b"abc", b""][: (length >= first) + (length >= first + second)]
    rest = length - first * (length >= first) - second * (length >= first + second)
    found = []
    try:
        found += tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
        assert rest < 12 and found == whole
    except tf.errors.DataLossError as e:
        assert rest >= 12 and f"truncated record at {length - rest}" in str(e)


def test_list_files(tmp_path):
    for name in ("b", "a", "c"):
        (tmp_path / name).touch()
    found = Dataset.list_files(str(tmp_path / "*"), shuffle=False)
    names = [os.path.basename(n).decode() for n in found.as_numpy_iterator()]
    assert names == ["a", "b", "c"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched"):
        Dataset.list_files(str(tmp_path / "none*"))


def test_parallel_map_keeps_the_order():
    def slow(x):
        time.sleep(0.002 * (5 - int(x)))
        return x

    d = Dataset.range(5).map(lambda x: tf.py_function(slow, [x], tf.int64), 4)
    assert [int(x) for x in d] == [0, 1, 2, 3, 4]
    free = Dataset.range(5).map(
        lambda x: tf.py_function(slow, [x], tf.int64), 4, deterministic=False
    )
    assert sorted(int(x) for x in free) == [0, 1, 2, 3, 4]


def working():
    """The threads that work for iterators."""
    ours = [t for t in threading.enumerate() if t.name.startswith("intaglio-")]
    return [t for t in ours if t.name != progress.THREAD]


def test_threads_end_with_the_iterator():
    it = iter(Dataset.range(1000).repeat().map(lambda x: x + 1, 3).prefetch(2))
    assert int(next(it)) == 1
    assert working()
    del it
    deadline = time.monotonic() + 5
    while working() and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert not working()


def test_prefetch_is_bounded_and_passes_errors_on():
    made = []

    def note(x):
        made.append(int(x))
        if x == 3:
            raise ValueError("three")
        return x

    d = Dataset.range(100).map(lambda x: tf.py_function(note, [x], tf.int64))
    it = iter(d.prefetch(2))
    assert int(next(it)) == 0
    time.sleep(0.05)
    assert len(made) <= 4
    assert [int(next(it)), int(next(it))] == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="three"):
        next(it)
    assert int(next(it)) == 4


def test_single_strings_of_examples_are_put_into_batches():
    feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"text"]))
    one = tf.train.Example(features=tf.train.Features(feature={"s": feature}))
    spec = {"s": tf.io.FixedLenFeature([], tf.string)}
    d = Dataset.from_tensor_slices([one.SerializeToString()] * 3)
    d = d.map(lambda x: tf.io.parse_single_example(x, spec)).batch(2)
    assert [b["s"].numpy().tolist() for b in d] == [[b"text"] * 2, [b"text"]]
