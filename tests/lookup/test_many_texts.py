"""Tables of texts: machine code finds what Python's dictionary finds."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import machine_code
from intaglio.ops.text import native_strings
from intaglio.ops.text.native_strings import Keys


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)


def _texts(rng, count):
    alphabet = [b"", b"a", b"b", b"\x00", "é".encode(), b"long text " * 9]
    return [
        b"".join(rng.choice(np.array(alphabet, object), rng.integers(0, 5))) for _ in range(count)
    ]


@pytest.mark.parametrize("keys", [1, 3, 64, 500])
@pytest.mark.parametrize("shape", [(300,), (20, 30), (0,), (5,)])
def test_fixed_tables(keys, shape):
    rng = np.random.default_rng(keys)
    known = list(dict.fromkeys(_texts(rng, keys)))
    values = rng.integers(0, 1000, len(known))
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.constant(known), tf.constant(values)), -7
    )
    pool = [*known, *_texts(rng, 50)]
    asked = np.empty(shape, object)
    asked.reshape(-1)[:] = [pool[i] for i in rng.integers(0, len(pool), asked.size)]
    expected = dict(zip(known, values.tolist(), strict=True))
    for _ in range(4):
        found = table.lookup(tf.constant(asked, tf.string)).numpy()
        wanted = [expected.get(k, -7) for k in asked.reshape(-1)]
        assert found.tolist() == np.reshape(wanted, shape).tolist()


def test_tables_that_change():
    rng = np.random.default_rng(3)
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    model: dict[bytes, int] = {}
    for step in range(12):
        new = list(dict.fromkeys(_texts(rng, 90)))
        table.insert(tf.constant(new), tf.constant([step * len(k) for k in new], tf.int64))
        model.update({k: step * len(k) for k in new})
        gone = [new[i] for i in rng.integers(0, len(new), 20)]
        table.remove(tf.constant(gone))
        for k in gone:
            model.pop(k, None)
        asked = [*new, *_texts(rng, 400)]
        for _ in range(3):
            assert table.lookup(tf.constant(asked)).numpy().tolist() == [
                model.get(k, -1) for k in asked
            ]


def test_machine_code_is_used(monkeypatch):
    calls = []
    find = Keys.find
    monkeypatch.setattr(
        Keys, "find", lambda self, texts: calls.append(find(self, texts)) or calls[-1]
    )
    keys = tf.constant([f"k{i}" for i in range(10)])
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, tf.range(10)), -1)
    asked = tf.constant([f"k{i % 15}" for i in range(400)])
    assert table.lookup(asked).numpy().tolist() == [
        i % 15 if i % 15 < 10 else -1 for i in range(400)
    ]
    if native_strings.ready("found", 400):
        assert calls and calls[0] is not None
