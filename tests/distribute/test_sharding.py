"""AutoShardPolicy: which files and elements each of two workers gets; answers are TensorFlow 2.21's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from intaglio import tf
from intaglio.distribute.datasets import Shares, split

Dataset, TFRecords = tf.data.Dataset, tf.data.TFRecordDataset
Policy = tf.data.experimental.AutoShardPolicy
HINT = tf.data.experimental.SHARD_HINT
FIRST = [b"00", b"01", b"02", b"20", b"21", b"22", b"40", b"41", b"42"]
SECOND = [b"10", b"11", b"12", b"13", b"30", b"31", b"32", b"33"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Five files of records that say their file and number."""
    paths = [str(tmp_path / f"file{k}") for k in range(5)]
    for k, path in enumerate(paths):
        with tf.io.TFRecordWriter(path) as writer:
            for j in range(3 + k % 2):
                writer.write(f"{k}{j}")
    return paths


def workers(dataset: Any, policy: Any = Policy.AUTO, count: int = 2) -> list[list[list[Any]]]:
    """The batches of each worker, which has one replica."""
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = policy
    with_policy = dataset.with_options(options)
    found = [split(with_policy, Shares(i, 1, count)) for i in range(count)]
    return [[b.tolist() for b in d.as_numpy_iterator()] for d in found]


def elements(batches: list[list[Any]]) -> list[Any]:
    return [e for batch in batches for e in batch]


PIPELINES: list[Callable[[list[str]], Any]] = [
    TFRecords,
    lambda files: TFRecords(files).cache().prefetch(2),
    lambda files: TFRecords(Dataset.from_tensor_slices(files)),
    lambda files: TFRecords(files, num_parallel_reads=1),
    lambda files: Dataset.from_tensor_slices(files).flat_map(TFRecords),
    lambda files: Dataset.from_tensor_slices(files).interleave(TFRecords, cycle_length=1),
    lambda files: Dataset.from_tensor_slices(files).map(tf.identity).flat_map(lambda f: TFRecords(f)),
    lambda files: Dataset.list_files(files, shuffle=False).flat_map(TFRecords).map(tf.identity),
    lambda files: TFRecords(files[:4]).concatenate(TFRecords([files[4], files[4]])),
]  # fmt: skip


@pytest.mark.parametrize("policy", [Policy.AUTO, Policy.FILE])
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_each_worker_reads_its_own_files(
    pipeline: Callable[[list[str]], Any], policy: Any, files: list[str]
) -> None:
    first, second = workers(pipeline(files).batch(4), policy)
    assert elements(first) == FIRST and [len(b) for b in first] == [2, 2, 2, 2, 1]
    assert elements(second)[:8] == SECOND and [len(b) for b in second][:4] == [2, 2, 2, 2]


def test_files_are_shared_out_before_they_are_shuffled(files: list[str]) -> None:
    names = Dataset.from_tensor_slices(files).shuffle(5, seed=1)
    found = workers(names.flat_map(TFRecords).batch(2))
    assert [sorted(elements(batches)) for batches in found] == [FIRST, SECOND]
    assert elements(found[0]) != FIRST


def test_batches_of_a_size_that_only_data_says(files: list[str]) -> None:
    batched = TFRecords(files).batch(4).map(lambda x: tf.concat([x, x], 0))
    first, second = workers(batched, Policy.FILE)
    assert [len(b) for b in first] == [4, 4, 4, 4, 1, 1]
    assert elements(second) == SECOND[:4] * 2 + SECOND[4:] * 2


def test_what_reads_no_files_is_shared_by_elements(files: list[str]) -> None:
    expected = [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    assert workers(Dataset.range(8).batch(4)) == expected
    assert workers(Dataset.range(8).batch(4), Policy.DATA) == expected
    # Where one of two sources is no file, or there are fewer files than workers.
    zipped = Dataset.zip((TFRecords(files), Dataset.range(6))).map(lambda text, number: number)
    assert workers(zipped.batch(2)) == [[[0], [2], [4]], [[1], [3], [5]]]
    assert workers(TFRecords(files[:1]).batch(2)) == [[[b"00"], [b"02"]], [[b"01"], []]]
    assert workers(TFRecords(files[:2]).batch(2), Policy.DATA)[0][0] == [b"00"]


def test_off_gives_every_worker_everything(files: list[str]) -> None:
    first, second = workers(TFRecords(files).batch(4), Policy.OFF)
    assert first == second and elements(first) == sorted(FIRST + SECOND)
    assert {len(b) for b in first[:-1]} == {2}


def test_a_hint_says_where_elements_are_shared_out() -> None:
    hinted = Dataset.range(8).shard(HINT, HINT).map(lambda x: x * 2).batch(4)
    assert workers(hinted, Policy.HINT) == [[[0, 4], [8, 12]], [[2, 6], [10, 14]]]
    unhinted = workers(Dataset.range(8).batch(4), Policy.HINT)
    assert elements(unhinted[0]) == elements(unhinted[1]) == list(range(8))
    with pytest.raises(tf.errors.FailedPreconditionError, match="SHARD_HINT"):
        next(iter(hinted))


def test_sources_that_are_no_files_are_refused(files: list[str]) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="Found an unshardable source dataset"):
        workers(Dataset.range(8).batch(4), Policy.FILE)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"only has 1 file\(s\)"):
        workers(TFRecords(files[:1]).batch(2), Policy.FILE)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"only has 1 file\(s\)"):
        workers(Dataset.from_tensor_slices(files[:1]).flat_map(TFRecords).batch(2), Policy.FILE)
