"""Datasets in folders and files: save and load, snapshots, caches, records. Bytes are TensorFlow 2.21's."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from intaglio import tf

Dataset = tf.data.Dataset
# What TensorFlow wrote for `range(2).map(lambda x: (x, "a"))`.
SPEC = bytes.fromhex("a203120a078a0204120018090a078a020412001807")
RECORDS = bytes.fromhex("0e00000000000000c5e5693f0809120022080000000000000000882b95ea")


def values(dataset):
    """The elements as Python values."""
    return [
        tf.nest.map_structure(lambda a: np.asarray(a).tolist(), e)
        for e in dataset.as_numpy_iterator()
    ]


def files_below(folder):
    """The files below a folder by their names' last part."""
    return {f: os.path.join(r, f) for r, _, fs in os.walk(folder) for f in fs}


def test_the_form_is_tensorflows(tmp_path):
    Dataset.range(1).save(str(tmp_path / "d"))
    found = files_below(tmp_path)
    assert sorted(found) == ["00000000.snapshot", "dataset_spec.pb", "snapshot.metadata"]
    with open(found["00000000.snapshot"], "rb") as file:
        assert file.read() == RECORDS
    with open(found["dataset_spec.pb"], "rb") as file:
        assert file.read() == bytes.fromhex("8a020412001809")
    Dataset.range(2).map(lambda x: (x, "a")).save(str(tmp_path / "e"))
    with open(tmp_path / "e" / "dataset_spec.pb", "rb") as file:
        assert file.read() == SPEC


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB", "SNAPPY", "AUTO"])
def test_saved_and_loaded(tmp_path, compression):
    d = Dataset.from_tensor_slices(
        {"a": [[1.0, 2.0], [3.0, 4.0]], "b": (["x", "yy"], [True, False])}
    )
    d.save(str(tmp_path), compression=compression)
    loaded = Dataset.load(str(tmp_path), compression=compression)
    assert loaded.element_spec == d.element_spec
    assert int(loaded.cardinality()) == 2
    assert values(loaded) == values(d)
    assert repr(loaded).startswith("<_LoadDataset")


def test_strings_of_any_length_and_shape(tmp_path):
    d = Dataset.from_tensors([["", "x" * 300], ["é", "\0"]])
    d.save(str(tmp_path))
    assert values(Dataset.load(str(tmp_path))) == values(d)


def test_shards_and_readers(tmp_path):
    Dataset.range(7).save(str(tmp_path), shard_func=lambda x: x % 3)
    loaded = Dataset.load(str(tmp_path), reader_func=lambda shards: shards.flat_map(lambda s: s))
    assert values(loaded) == [0, 3, 6, 1, 4, 2, 5]
    assert sorted(values(Dataset.load(str(tmp_path)))) == [*range(7)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar int64"):
        Dataset.range(2).save(str(tmp_path), shard_func=lambda x: 0.5)


def test_what_is_not_there(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="element_spec file not found"):
        Dataset.load(str(tmp_path))
    with pytest.raises(tf.errors.NotFoundError, match="Could not find metadata"):
        Dataset.load(str(tmp_path), element_spec=tf.TensorSpec((), tf.int64))
    Dataset.range(3).save(str(tmp_path))
    other = Dataset.load(str(tmp_path), element_spec=tf.TensorSpec((), tf.int32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected int32"):
        list(other)
    zipped = Dataset.load(str(tmp_path), compression="GZIP")
    with pytest.raises((tf.errors.OpError, OSError)):
        list(zipped)


def test_snapshots_are_written_once(tmp_path):
    calls = []

    def count(x):
        calls.append(1)
        return x

    d = Dataset.range(3).map(lambda x: tf.py_function(count, [x], tf.int64))
    d = d.map(lambda x: tf.ensure_shape(x, ())).snapshot(str(tmp_path))
    assert values(d.take(1)) == [0]  # not complete: nothing is kept
    assert values(d) == values(d) == [0, 1, 2]
    assert len(calls) == 1 + 3


def test_caches_in_files(tmp_path):
    calls = []

    def count(x):
        calls.append(1)
        return x

    def make():
        d = Dataset.range(5).map(lambda x: tf.py_function(count, [x], tf.int64))
        return d.cache(str(tmp_path / "deep" / "cache"))

    d = make()
    with pytest.raises(tf.errors.NotFoundError, match="lockfile"):
        next(iter(d))
    (tmp_path / "deep").mkdir()
    half = iter(d)
    next(half)
    with pytest.raises(tf.errors.AlreadyExistsError, match="concurrent caching"):
        list(d)
    del half
    assert os.listdir(tmp_path / "deep") == []
    calls.clear()
    assert values(d) == values(d) == values(make()) == [0, 1, 2, 3, 4]
    assert len(calls) == 5


def test_a_cache_half_written_goes_on(tmp_path):
    d = Dataset.range(5).cache(str(tmp_path / "cache"))
    it = iter(d)
    assert [int(next(it)), int(next(it))] == [0, 1]
    state = it._save()
    del it
    it = iter(d)
    it._restore(state)
    assert [int(x) for x in it] == [2, 3, 4]
    assert values(d) == [0, 1, 2, 3, 4]


def test_memory_caches_belong_to_the_iteration_that_ends_first():
    calls = []

    def count(x):
        calls.append(1)
        return x

    d = Dataset.range(5).map(lambda x: tf.py_function(count, [x], tf.int64)).cache()
    it = iter(d)
    next(it)
    assert len(values(d)) == 5
    assert [int(x) for x in it] == [1, 2, 3, 4]
    assert len(calls) == 10
    assert len(values(d)) == 5
    assert len(calls) == 10


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_records_are_written_and_read(tmp_path, compression):
    path = str(tmp_path / "r.tfrecord")
    texts = ["a", "bb", "", "c" * 5000, "d" * 2_000_000]
    writer = tf.data.experimental.TFRecordWriter(path, compression)
    writer.write(Dataset.from_tensor_slices(texts))
    if not compression:
        with open(path, "rb") as file:
            expected = "010000000000000001 75de41 61 786ee428".replace(" ", "")
            assert file.read(17).hex() == expected
    found = values(tf.data.TFRecordDataset([path, path], compression))
    assert found == [t.encode() for t in texts] * 2
    with pytest.raises(TypeError, match=r"shapes \(\) and types <dtype: 'int64'>"):
        writer.write(Dataset.range(3))


def test_corrupted_records_are_found_behind_good_ones(tmp_path):
    path = tmp_path / "r.tfrecord"
    texts = [str(i) * (i % 7) for i in range(200)]
    tf.data.experimental.TFRecordWriter(str(path)).write(Dataset.from_tensor_slices(texts))
    data = bytearray(path.read_bytes())
    place = sum(16 + len(t) for t in texts[:150])
    data[place + 13] ^= 1
    path.write_bytes(bytes(data))
    seen = []
    with pytest.raises(tf.errors.DataLossError, match=f"corrupted record at {place}"):
        for record in tf.data.TFRecordDataset(str(path)):
            seen.append(record.numpy().decode())
    assert seen == texts[:150]
    data[place + 13] ^= 1
    data[place + 7] ^= 1  # the length itself
    path.write_bytes(bytes(data))
    with pytest.raises(tf.errors.DataLossError, match="even a TFRecord file"):
        list(tf.data.TFRecordDataset(str(path)))
    path.write_bytes(bytes(data[: place - 1]))
    with pytest.raises(tf.errors.DataLossError, match="truncated record"):
        list(tf.data.TFRecordDataset(str(path)))


def test_waiting_for_a_folder(tmp_path):
    folder = str(tmp_path / "d")
    writer = threading.Timer(0.2, lambda: Dataset.range(3).save(folder))
    writer.start()
    found = Dataset.load(folder, wait=True)
    writer.join()
    assert list(found.as_numpy_iterator()) == [0, 1, 2]


# -- checkpoints of what is being saved --------------------------------------------------------


def checkpointed(folder, **named):
    """What `checkpoint_args` needs."""
    return {"directory": str(folder / "checkpoints"), "max_to_keep": 3, **named}


def every(count):
    """A counter, and an interval of it."""
    return {"step_counter": tf.Variable(0), "checkpoint_interval": count}


def test_a_checkpoint_after_every_element(tmp_path):
    """TensorFlow was asked: which checkpoints, and of what names."""
    place = str(tmp_path / "saved")
    Dataset.range(22).save(place, checkpoint_args=checkpointed(tmp_path))
    assert values(Dataset.load(place)) == [*range(22)]
    assert int(Dataset.load(place).cardinality()) == 22
    written = sorted(os.listdir(tmp_path / "checkpoints"))
    parts = [f"ckpt-{n}.{p}" for n in (20, 21, 22) for p in ("data-00000-of-00001", "index")]
    assert written == ["checkpoint", *parts]
    names = [n for n, _ in tf.train.list_variables(str(tmp_path / "checkpoints"))]
    assert "iterator/.ATTRIBUTES/ITERATOR_STATE" in names


def test_a_checkpoint_every_so_many_elements(tmp_path):
    place, steps = str(tmp_path / "saved"), every(5)
    named = checkpointed(tmp_path, checkpoint_name="part", **steps)
    Dataset.range(22).save(place, checkpoint_args=named)
    assert int(steps["step_counter"]) == 22
    assert "part-5.index" in os.listdir(tmp_path / "checkpoints")
    assert "checkpoint" not in named
    assert sorted(f for f in files_below(place) if f[0] == "0") == [
        f"{n:08d}.snapshot" for n in range(6)
    ]
    assert values(Dataset.load(place)) == [*range(22)]


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_a_save_that_was_cut_off_goes_on(tmp_path, shards, compression):
    asked, broken = [], [True]

    def value(x):
        if broken[0] and x >= 15:
            raise ValueError("cut off")
        asked.append(int(x))
        return x

    dataset = Dataset.range(22).map(
        lambda x: tf.ensure_shape(tf.numpy_function(value, [x], tf.int64), [])
    )
    place = str(tmp_path / "saved")

    def save():
        dataset.save(
            place,
            compression,
            lambda x: x % shards,
            checkpoint_args=checkpointed(tmp_path, **every(4)),
        )

    with pytest.raises(tf.errors.InvalidArgumentError, match="cut off"):
        save()
    with pytest.raises(tf.errors.NotFoundError):
        Dataset.load(place, compression=compression)
    asked.clear()
    broken[0] = False
    save()
    assert asked == [*range(13, 22)]  # the last checkpoint came after the thirteenth
    loaded = Dataset.load(place, compression=compression)
    assert sorted(values(loaded)) == [*range(22)]
    save()  # there is nothing left to do
    assert sorted(values(Dataset.load(place, compression=compression))) == [*range(22)]


def test_checkpoint_arguments_that_are_wrong(tmp_path):
    def save(**named):
        Dataset.range(2).save(str(tmp_path / "saved"), checkpoint_args=named)

    given = checkpointed(tmp_path)
    with pytest.raises(ValueError, match="not allowed to include 'checkpoint'"):
        save(checkpoint=None, **given)
    with pytest.raises(ValueError, match="`step_counter` should be passed"):
        save(checkpoint_interval=2, **given)
    with pytest.raises(TypeError, match="max_to_keep"):
        save(directory=given["directory"])
    with pytest.raises(TypeError, match="step_interval"):
        save(step_interval=2, **given)
    assert not os.path.exists(given["directory"])
    save()  # none at all: saved without any
    assert values(Dataset.load(str(tmp_path / "saved"))) == [0, 1]
