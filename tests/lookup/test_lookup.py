"""Tables of `tf.lookup`: what checkpoints keep, errors of handles, tables from datasets.

What they answer is compared with TensorFlow in tests/parity/snippets/lookup_tables.txt.
"""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.dtypes import int64, string
from intaglio.opdef import machine_code
from intaglio.opdef.spec import Spec
from intaglio.ops.text import native_strings
from intaglio.runtime.lookup_tables import LookupTable


def _table():
    return tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)


def test_checkpoints_keep_mutable_tables(tmp_path):
    table = _table()
    table.insert(["a", "b"], [1, 2])
    path = tf.train.Checkpoint(t=table).save(str(tmp_path / "c"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "t/.ATTRIBUTES/table-keys" in names  # as TensorFlow names them
    other = _table()
    other.insert(["z"], [9])
    tf.train.Checkpoint(t=other).restore(path)
    assert other.lookup(["a", "b", "z"]).numpy().tolist() == [1, 2, -1]


def test_tables_from_datasets():
    pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [5, 6]))
    table = tf.data.experimental.table_from_dataset(pairs)
    assert table.lookup(tf.constant(["b", "c"])).numpy().tolist() == [6, -1]
    words = tf.data.Dataset.from_tensor_slices(["a", "b", "c"])
    index = tf.data.experimental.index_table_from_dataset(words, vocab_size=2, num_oov_buckets=1)
    assert index.lookup(tf.constant(["a", "b", "c"])).numpy().tolist() == [0, 1, 2]


def test_many_removals_leave_the_rest():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    numbers = tf.range(1000, dtype=tf.int64)
    table.insert(numbers, numbers * 2)
    table.remove(numbers[:900])
    assert table.size().numpy() == 100
    found = table.lookup(numbers).numpy()
    assert np.array_equal(found[900:], np.arange(900, 1000) * 2)
    assert np.all(found[:900] == -1)


def test_threads_insert_at_once():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)

    def work(first):
        for i in range(first, first + 200):
            table.insert(tf.constant([i], tf.int64), tf.constant([i], tf.int64))

    threads = [threading.Thread(target=work, args=(k * 200,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = tf.range(800, dtype=tf.int64)
    assert np.array_equal(table.lookup(everything).numpy(), np.arange(800))


def test_an_unfilled_table_is_refused():
    handle = tf.raw_ops.AnonymousHashTable(key_dtype=tf.int64, value_dtype=tf.int64)
    # Asked of TensorFlow 2.21.
    assert tf.raw_ops.LookupTableSizeV2(table_handle=handle).numpy() == 0
    with pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
        keys, default = tf.constant([1], tf.int64), tf.constant(0, tf.int64)
        tf.raw_ops.LookupTableFindV2(table_handle=handle, keys=keys, default_value=default)
    with pytest.raises(tf.errors.AbortedError, match="not initialized"):
        tf.raw_ops.LookupTableExportV2(table_handle=handle, Tkeys=tf.int64, Tvalues=tf.int64)


def test_named_tables_are_shared():
    given = {"key_dtype": tf.int64, "value_dtype": tf.int64, "shared_name": "shared t"}
    one = tf.raw_ops.MutableHashTableV2(**given)
    two = tf.raw_ops.MutableHashTableV2(**given)
    keys = tf.constant([3], tf.int64)
    tf.raw_ops.LookupTableInsertV2(table_handle=one, keys=keys, values=keys)
    assert tf.raw_ops.LookupTableSizeV2(table_handle=two).numpy() == 1


def test_saved_models_refuse_tables_that_no_attribute_leads_to(tmp_path):
    module, table = tf.Module(), _table()
    module.f = tf.function(
        lambda keys: table.lookup(keys), input_signature=[tf.TensorSpec([None], tf.string)]
    )
    with pytest.raises(AssertionError, match="untracked"):
        tf.saved_model.save(module, str(tmp_path / "m"))


def test_tables_that_functions_make():
    """A table belongs to a trace: its first call fills it. Recorded from TensorFlow 2.21."""

    @tf.function
    def look_up(words, keys):
        values = tf.constant([1, 2]) * 10
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(keys, values), default_value=-1
        )
        return table.lookup(words), table.size()

    words = tf.constant(["a", "c"])
    for keys in (["a", "b"], ["a", "b"], ["c", "d"]):
        found, size = look_up(words, tf.constant(keys))
        assert (found.numpy().tolist(), int(size)) == ([10, -1], 2)

    @tf.function
    def conditionally(x):
        if x > 0:
            initializer = tf.lookup.KeyValueTensorInitializer([1, 2], [10, 20])
            return tf.lookup.StaticHashTable(initializer, -1).lookup(x)
        return -x

    assert [int(conditionally(tf.constant(x))) for x in (2, -3, 5)] == [20, 3, -1]

    @tf.function
    def changing(keys):
        table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -5)
        table.insert(keys, keys * 2)
        return table.lookup(keys)

    assert changing(tf.constant([3, 4], tf.int64)).numpy().tolist() == [6, 8]

    def number(word):
        keys = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
        return tf.lookup.StaticVocabularyTable(keys, 1).lookup(word)

    numbers = tf.data.Dataset.from_tensor_slices(["a", "q", "b"]).map(number)
    assert [int(n) for n in numbers] == [0, 2, 1]


def test_texts_by_machine_code_are_found_as_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of keys in their rows' order and others, after changes, and of arrays that are no block of memory."""
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    expected = {f"key {i}": i for i in range(300)}
    table = LookupTable(string, Spec(int64, ()), "table")
    table.insert(_texts(expected), np.arange(300))
    asked = _texts([*expected, "", "key", "key 300", "kéy 1"] * 3)

    def check() -> None:
        wanted = [expected.get(k.decode(), -1) for k in asked.tolist()]
        for _ in range(3):
            assert table.find(asked, np.int64(-1)).tolist() == wanted
            assert table.find(asked[::-2], np.int64(-1)).tolist() == wanted[::-2]
        assert (table._texts is not None) == native_strings.ready("distinct", len(expected))

    check()
    for key in ["key 0", "key 7", "key 299"]:
        expected.pop(key)
    table.remove(_texts(["key 0", "key 7", "key 299"]))
    check()
    expected |= {"key 7": 1000, "key 12": 1001, "": 1002}
    table.insert(_texts(["key 7", "key 12", ""]), np.arange(1000, 1003))
    check()


def _texts(texts: Iterable[str]) -> np.ndarray:
    encoded = [t.encode() for t in texts]
    found = np.empty(len(encoded), object)
    found[:] = encoded
    return found


def test_lines_of_files_may_be_integers(tmp_path: pathlib.Path) -> None:
    """As keys and as values; the messages are TensorFlow's 2.21."""
    path = str(tmp_path / "numbers")
    pathlib.Path(path).write_text("10\n20\n30\n")
    line, whole = tf.lookup.TextFileIndex.LINE_NUMBER, tf.lookup.TextFileIndex.WHOLE_LINE

    def table(*kinds: Any) -> Any:
        return tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(path, *kinds), -1)

    forwards = table(tf.int64, whole, tf.int64, line)
    backwards = table(tf.int64, line, tf.int64, whole)
    keys = tf.constant([20, 7], tf.int64)
    assert forwards.lookup(keys).numpy().tolist() == [1, -1]
    assert backwards.lookup(forwards.lookup(keys)).numpy().tolist() == [20, -1]
    with pytest.raises(ValueError, match="either integer or string for `value_index` -2"):
        table(tf.int64, line, tf.float32, whole)
    with pytest.raises(ValueError, match="must be int64 for `value_index` -1"):
        table(tf.string, whole, tf.int32, line)
