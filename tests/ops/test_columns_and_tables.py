"""Columns of records, tables of integers, distinct texts: all at once as one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf

FIELDS = st.sampled_from(
    ["", "1", "-7", "1.5", " 3", "x", "1_0", '"a"', '"a,b"', "1e3", "nan", "9" * 12, "é", "NA", "a\nb",
     '"a""b"', '""""', '""', '"\n"', '"a"x', 'a"b', "\n", '\r\n"a"', '"a']
)  # fmt: skip
ROWS = st.lists(st.lists(FIELDS, min_size=1, max_size=3), min_size=1, max_size=12)


def _answer(records, defaults, **options):
    """The columns, or the message without the record's number."""
    try:
        columns = tf.io.decode_csv(tf.constant(records), defaults, **options)
    except tf.errors.InvalidArgumentError as e:
        return str(e).split(" in record")[0].split(" [Op")[0]
    return [c.numpy().tolist() for c in columns]


@given(
    rows=ROWS,
    kinds=st.lists(st.sampled_from(["", 0, 0.0]), min_size=1, max_size=3),
    options=st.sampled_from([{}, {"na_value": "NA"}, {"use_quote_delim": False}]),
)
def test_records_are_read_together(rows, kinds, options):
    records = [",".join(row).encode() for row in rows]
    found = _answer(records, kinds, **options)
    ones = [_answer([record], kinds, **options) for record in records]
    errors = [one for one in ones if isinstance(one, str)]
    if errors:
        assert found in errors
    else:
        wanted = [[one[i][0] for one in ones] for i in range(len(kinds))]
        assert repr(found) == repr(wanted)


# TensorFlow 2.21's answers for a record, by whether quotes are used.
ANSWERS = {
    ("1,2\n", True): "Unquoted fields cannot have quotes/CRLFs inside",
    ("1,\n2", True): [b"1", b"2"],
    ("\n1,2", False): [b"1", b"2"],
    ('1,"a"\n', True): "Quote inside a string has to be escaped by another quote",
    ('"a",\n', True): "Expect 2 fields but have 1 in record 0",
    ('"a"\n,b', True): "Quote inside a string has to be escaped by another quote",
    ("1,2\r\n", False): "Unquoted fields cannot have quotes/CRLFs inside",
    ('\r\n"a","b"', True): [b"a", b"b"],
    ('"a""b",c', True): [b'a"b', b"c"],
    ('"a"x,b', True): "Quote inside a string has to be escaped by another quote",
    ('a"b,c', True): "Unquoted fields cannot have quotes/CRLFs inside",
    ('""x,y', True): "Quote inside a string has to be escaped by another quote",
    ('a,""', True): [b"a", b"E"],
    ('"""', True): "Quoted field has to end with quote followed by delim or end",
    ('a,"b""', True): "Quoted field has to end with quote followed by delim or end",
    ('"\n",1', True): [b"\n", b"1"],
    ('"\n",1', False): "Unquoted fields cannot have quotes/CRLFs inside",
    ("\n", True): "Expect 2 fields but have 0 in record 0",
    ("\n\n,a", True): [b"D", b"a"],
    ('x,"y"",', True): "Quoted field has to end with quote followed by delim or end",
    (",", True): [b"D", b"E"],
}


@pytest.mark.parametrize(("record", "quotes"), ANSWERS)
def test_quotes_and_ends_of_lines(record, quotes):
    wanted = ANSWERS[record, quotes]
    for records in ([record], [record] * 70, ["x,y"] * 9 + [record]):
        found = _answer(records, ["D", "E"], use_quote_delim=quotes)
        if isinstance(wanted, str):
            assert found == wanted.split(" in record")[0]
        else:
            assert [column[-1:] for column in found] == [[field] for field in wanted]


def test_many_records():
    rng = np.random.default_rng(0)
    numbers, wholes = rng.standard_normal(500), rng.integers(-(2**31), 2**31, 500)
    records = [b"%.9g,%d,t%d" % row for row in zip(numbers, wholes, range(500), strict=True)]
    a, b, c = tf.io.decode_csv(records, [0.0, 0, ""])
    np.testing.assert_array_equal(a, np.array([b"%.9g" % n for n in numbers]).astype(np.float32))
    np.testing.assert_array_equal(b, wholes)
    assert c.numpy().tolist() == [b"t%d" % i for i in range(500)]
    (chosen,) = tf.io.decode_csv(records, [[0]], select_cols=[1])
    np.testing.assert_array_equal(chosen, wholes)
    for wrong, error in (
        (b"1,2", "Expect 3 fields but have 2 in record 7"),
        (b"1,2147483648,", "Field 1 in record 7 is not a valid int32: 2147483648"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=error):
            tf.io.decode_csv([*records[:7], wrong, *records[7:]], [0.0, 0, ""])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("apart", [1, 7, 2**18])
@pytest.mark.parametrize("least", [0, -1000, 2**30])
def test_tables_of_integers(dtype, apart, least):
    keys = (least + apart * np.arange(700) % (2**30)).astype(dtype)
    keys = np.unique(keys)
    values = np.arange(len(keys)) * 3
    init = tf.lookup.KeyValueTensorInitializer(keys, values.astype(dtype))
    table = tf.lookup.StaticHashTable(init, -1)
    limits = np.iinfo(dtype)
    wanted = dict(zip(keys.tolist(), values.tolist(), strict=True))
    asked = np.concatenate([keys, keys + 1, keys - 1, [limits.min, limits.max, 0]]).astype(dtype)
    found = table.lookup(tf.constant(asked)).numpy().tolist()
    assert found == [wanted.get(key, -1) for key in asked.tolist()]


def test_a_table_that_changes():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    keys = tf.range(1000, dtype=tf.int64)
    assert table.lookup(keys).numpy().tolist() == [-1] * 1000
    table.insert(keys, keys * 2)
    assert table.lookup(keys).numpy().tolist() == [*range(0, 2000, 2)]
    table.insert(keys[:10], keys[:10])
    table.remove(keys[990:])
    found = table.lookup(keys).numpy().tolist()
    assert found == [*range(10), *range(20, 1980, 2), *[-1] * 10]


@given(st.lists(st.sampled_from([b"", b"a", b"b", b"ab", b"\0", b"c"]), max_size=30))
def test_distinct_texts(texts):
    found, which, counts = tf.unique_with_counts(tf.constant(texts, tf.string))
    assert found.numpy().tolist() == list(dict.fromkeys(texts))
    assert [found.numpy()[i] for i in which.numpy()] == texts
    assert counts.numpy().tolist() == [texts.count(t) for t in dict.fromkeys(texts)]
