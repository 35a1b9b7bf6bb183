"""What `jit_compile=True` refuses, as TensorFlow does, which was asked (`tests/parity/whole_graph.json`)."""

from __future__ import annotations

import json
import pathlib

import pytest

from intaglio import native, tf
from tests.ops import calls

PAGE = pathlib.Path(__file__).parents[1] / "parity" / "whole_graph.json"
REFUSED = frozenset(json.loads(PAGE.read_text())["refused"])


TABLE = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(tf.constant([1]), tf.constant([3])), -1
)


def iterated(x):
    total = tf.constant(0, tf.int64)
    for element in tf.data.Dataset.range(3):
        total += element
    return total


def in_a_branch(x):
    if x[0] > 0:
        tf.print(x)
    return x


OUTSIDE = {
    "PrintV2": lambda x: (tf.print(x), x)[1],
    "StringFormat": lambda x: tf.strings.format("{}", x),
    "AsString": tf.strings.as_string,
    "EagerPyFunc": lambda x: tf.py_function(lambda y: y, [x], tf.float32),
    "PyFunc": lambda x: tf.numpy_function(lambda y: y, [x], tf.float32),
    "LookupTableFindV2": lambda x: TABLE.lookup(tf.cast(x, tf.int32)),
    "IteratorGetNext": iterated,
    "Timestamp": lambda x: tf.timestamp() + tf.cast(x, tf.float64),
    "ReadFile": lambda x: tf.strings.length(tf.io.read_file("nowhere")),
}


@pytest.mark.parametrize("op", OUTSIDE)
def test_what_reaches_outside_of_arithmetic_is_refused(op):
    assert op in REFUSED
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.function(OUTSIDE[op], jit_compile=True)(tf.constant([1.0, 2.0]))
    message = str(caught.value)
    assert "Detected unsupported operations when trying to compile graph" in message
    assert op in message or op == "IteratorGetNext"  # the first op on data comes first
    assert "The op is created at" in message
    assert "test_whole_graph.py" in message
    assert "outside" in message


def test_also_in_branches():
    with pytest.raises(tf.errors.InvalidArgumentError, match="PrintV2"):
        tf.function(in_a_branch, jit_compile=True)(tf.constant([-1.0]))


def test_at_every_call_and_without_the_option_not_at_all():
    f = tf.function(OUTSIDE["AsString"], jit_compile=True)
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="works on strings"):
            f(tf.constant([1.0]))
    for choice in (None, False):
        plain = tf.function(OUTSIDE["AsString"], jit_compile=choice)
        assert plain(tf.constant([1.0])).shape == (1,)


def test_numeric_ops_without_native_code_are_numpys_and_reported():
    """XLA has no kernel for some of them either: what can be computed is."""

    @tf.function(jit_compile=True)
    def f(x):
        tf.debugging.assert_positive(x, message="not positive")
        return tf.linalg.eigvals(tf.linalg.diag(x)), tf.unique(x)[0], tf.where(x > 1)

    x = tf.constant([1.0, 2.0])
    assert len(f(x)) == 3
    assert "Eig" in REFUSED
    assert "NumPy: Eig" in f.compile_report()


def test_strings_that_are_computed_beforehand_are_none():
    f = tf.function(lambda x: tf.strings.length("four") + x, jit_compile=True)
    assert f(tf.constant(1)).numpy() == 5


def test_false_never_compiles(monkeypatch):
    def never(*_):
        raise AssertionError("compiled")

    monkeypatch.setattr(native, "compiled", never)
    monkeypatch.setattr(native, "tiered", never)
    f = tf.function(lambda x: tf.exp(x) * 2.0 + x, jit_compile=False)
    for _ in range(5):
        assert f(tf.zeros([3])).shape == (3,)
    assert "interpreted" in f.get_concrete_function(tf.zeros([3])).compile_report()


def test_what_is_refused_is_what_tensorflow_refuses():
    kinds = ("prints", "python", "files", "clock")
    outside = {name for name, op in calls.CATALOGUE.items() if op.reaches_outside in kinds}
    assert len(outside) > 5
    assert outside - {"PyFuncStateless", "WriteFile", "MatchingFiles"} <= REFUSED
