"""Files of comma-separated values, and databases. Answers were asked of TensorFlow 2.21."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict

import numpy as np
import pytest

from intaglio import tf

experimental = tf.data.experimental
Invalid = tf.errors.InvalidArgumentError


@pytest.fixture
def table(tmp_path):
    """A file with a quoted field, an empty number and an empty text."""
    path = tmp_path / "t.csv"
    path.write_text('a,b,c\n1,x,2.5\n2,"y,""z""",\n3,,4.5\n')
    return str(path)


def values(dataset):
    """The elements as Python values."""
    return [
        tf.nest.map_structure(lambda a: np.asarray(a).tolist(), e)
        for e in dataset.as_numpy_iterator()
    ]


def test_defaults_and_types(table):
    d = experimental.CsvDataset(table, [[0], ["d"], [9.0]], header=True)
    assert values(d) == [(1, b"x", 2.5), (2, b'y,"z"', 9.0), (3, b"d", 4.5)]
    assert repr(d).startswith("<CsvDatasetV2 element_spec=(TensorSpec(shape=(), ")
    required = experimental.CsvDataset(table, [tf.int32, tf.string, [9.0]], header=True)
    with pytest.raises(Invalid, match="Field 1 is required but missing in record!"):
        list(required)
    missing = experimental.CsvDataset(table, [[0], ["d"], [9.0]], header=True, na_value="x")
    assert values(missing)[0] == (1, b"d", 2.5)


def test_columns(table):
    for chosen in ({"select_cols": [0, 2]}, {"exclude_cols": [1]}):
        d = experimental.CsvDataset([table, table], [[0], [9.0]], header=True, **chosen)
        assert values(d) == [(1, 2.5), (2, 9.0), (3, 4.5)] * 2


@pytest.mark.parametrize(
    ("defaults", "options", "message"),
    [
        ([[0], [9.0]], {"header": True}, "Expect 2 fields but have more in record"),
        ([[0], [""], [0.0], [1]], {"header": True}, "Expect 4 fields but have 3"),
        ([[0], [""], [0.0]], {}, "Field 0 in record is not a valid int32: a"),
        ([[0], [1]], {"select_cols": [1, 0]}, "strictly increasing"),
        ([[0], [1]], {"select_cols": [0]}, "should match output size"),
        ([[0]], {"select_cols": [0], "exclude_cols": [1]}, "should be empty"),
        ([[0]], {"field_delim": "ab"}, "field_delim should be only 1 char"),
    ],
)
def test_what_does_not_fit(table, defaults, options, message):
    with pytest.raises(Invalid, match=message):
        list(experimental.CsvDataset(table, defaults, **options))


def test_quotes(tmp_path):
    path = tmp_path / "q.csv"

    def read(text, **options):
        path.write_bytes(text)
        return values(experimental.CsvDataset(str(path), [[0], [""]], **options))

    assert read(b'1,"a\nb"\r\n2,c\n') == [(1, b"a\nb"), (2, b"c")]
    assert read(b'1,"a"x\n', use_quote_delim=False) == [(1, b'"a"x')]
    # A carriage return alone ends a line, as it does in TensorFlow 2.21.
    assert read(b"1,a\r2,b\r\n3,c\n") == [(1, b"a"), (2, b"b"), (3, b"c")]
    assert read(b'1,"a\rb"\r2,c') == [(1, b"a\rb"), (2, b"c")]
    assert read(b" 1 , 2\n") == [(1, b" 2")]
    assert read(b"1|2\n", field_delim="|") == [(1, b"2")]
    with pytest.raises(Invalid, match="without closing quoted field"):
        read(b'1,"ab\n')
    with pytest.raises(Invalid, match="Unquoted fields cannot have quotes"):
        read(b'1,a"b\n')


def test_batches_of_named_columns(table):
    def make(**options):
        return experimental.make_csv_dataset(table, 2, num_epochs=1, shuffle=False, **options)

    assert values(make()) == [
        OrderedDict(a=[1, 2], b=[b"x", b'y,"z"'], c=[2.5, 0.0]),
        OrderedDict(a=[3], b=[b""], c=[4.5]),
    ]
    spec = make().element_spec
    assert [spec[n].dtype for n in "abc"] == [tf.int32, tf.string, tf.float32]
    assert values(make(label_name="c", select_columns=["c", "a"]))[1] == (OrderedDict(a=[3]), [4.5])
    with pytest.raises(ValueError, match=r"one of the columns: \['a', 'b', 'c'\]"):
        make(label_name="z")
    with pytest.raises(ValueError, match="Column z specified in `select_columns`"):
        make(select_columns=["z"])
    with pytest.raises(ValueError, match=r"contains duplicate column names: \{'a'\}"):
        make(column_names=["a", "a", "b"])
    with pytest.raises(ValueError, match="No files match"):
        experimental.make_csv_dataset(table + "none", 2)
    endless = experimental.make_csv_dataset(table, 2, shuffle_seed=1)
    assert int(endless.cardinality()) == -1
    assert len(values(endless.take(5))) == 5


def test_rows_of_a_database(tmp_path):
    path = str(tmp_path / "d.sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (a int, b text, c real)")
        connection.executemany("insert into t values (?, ?, ?)", [(1, "x", 2.5), (2, None, 3.5)])
    connection.close()

    def query(text, *types):
        return values(experimental.SqlDataset("sqlite", path, text, types))

    assert query("select * from t", tf.int32, tf.string, tf.float64) == [
        (1, b"x", 2.5),
        (2, b"", 3.5),
    ]
    assert query("select a, c from t", tf.string, tf.int64) == [(b"1", 2), (b"2", 3)]
    assert query("select a from t", tf.bool) == [(True,), (True,)]
    with pytest.raises(Invalid, match=r"query \(1\) must match"):
        query("select a from t", tf.string, tf.int64)
    with pytest.raises(tf.errors.UnknownError, match="no such column: zz"):
        query("select zz from t", tf.string)
    with pytest.raises(Invalid, match="Each element of `output_types_`"):
        query("select c from t", tf.float32)
    with pytest.raises(Invalid, match="mysql, is not supported"):
        experimental.SqlDataset("mysql", path, "select a from t", (tf.int64,))
