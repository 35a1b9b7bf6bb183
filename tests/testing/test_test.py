"""tf.test: assertions on tensors, gradients beside differences, what the build has."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from intaglio import tf


class Case(tf.test.TestCase):
    __test__ = False

    def runTest(self) -> None:
        """Nothing."""


@pytest.fixture
def case() -> Any:
    made = Case()
    made.setUp()
    yield made
    made.doCleanups()


HOLD = [
    ("assertAllEqual", (tf.constant([1, 2]), [1, 2])),
    ("assertAllEqual", ([1, np.nan], [1, np.nan])),
    ("assertAllEqual", (tf.constant(["a"]), ["a"])),
    ("assertAllClose", (tf.constant([1.0]), [1.0 + 1e-7])),
    ("assertAllClose", ({"a": [tf.constant(1.0)]}, {"a": [1.0]})),
    ("assertAllClose", (([1.0], [2.0, 3.0]), ([1.0], [2.0, 3.0]))),
    ("assertAllCloseAccordingToType", (tf.constant([1.0], tf.float16), [1.0005])),
    ("assertNotAllClose", ([1.0], [1.1])),
    ("assertNotAllEqual", ([1], [1, 1])),
    ("assertAllInRange", (tf.range(3), 0, 2)),
    ("assertAllInSet", (tf.range(3), [0, 1, 2, 3])),
    ("assertAllGreater", (tf.range(3), -1)),
    ("assertAllLessEqual", (tf.range(3), 2)),
    ("assertNear", (1.0, 1.4, 0.5)),
    ("assertArrayNear", ([1.0, 2.0], [1.1, 2.1], 0.2)),
    ("assertNDArrayNear", (np.ones(3), np.ones(3), 0.1)),
    ("assertShapeEqual", (np.zeros(2), tf.zeros(2))),
    ("assertDTypeEqual", (tf.constant(1.0), np.float32)),
    ("assertStartsWith", ("abc", "ab")),
    ("assertDeviceEqual", ("/cpu:0", "/device:CPU:0")),
    ("assertProtoEquals", ("", tf.Graph().as_graph_def().library)),
    ("assertEmpty", ([],)),
    ("assertSameStructure", ({"a": [1]}, {"a": [1]})),
]
FAIL = [
    # TensorFlow was asked for the texts of all of these.
    (
        "assertAllEqual",
        ([1, 2], [1, 3], "so"),
        r"so\nnot equal where = \(array\(\[1\]\),\)\nnot equal lhs = array\(\[2\]\)\nnot equal rhs = array\(\[3\]\)",
    ),
    ("assertAllEqual", (1, 2), r"not equal lhs = array\(1\)\nnot equal rhs = array\(2\)"),
    ("assertAllEqual", ([1, 2], [1], "so"), r"Contents: array\(\[1\]\)\. \nso\."),
    (
        "assertAllClose",
        (([1.0], [2.0, 3.0]), ([1.0], [2.0, 4.0]), 1e-6, 1e-6, "so"),
        r"a\[1\] is different from b\[1\]\. so\nnot close where = \(array\(\[1\]\),\)\nnot close lhs = \[3\.\]\n"
        r"not close rhs = \[4\.\]\nnot close dif = \[1\.\]\nnot close tol = \[5\.e-06\]\ndtype = float64, shape = \(2,\)",
    ),
    ("assertAllClose", ([1.0, 2.0], [1.0]), r"got \(1,\) with contents \[1\.\]\."),
    ("assertAllInRange", ([1, 2], 0, 1), r"of the offending elements:\n  \[1\] : 2$"),
    ("assertAllInRange", (np.arange(30), 0, 1), r"\[11\] : 11\n  \.\.\.$"),
    ("assertAllInRange", ([np.nan, 1], 0, 1), r"1 of the 2 element\(s\) are NaN\."),
    ("assertNear", (1.0, 2.0, 0.1, "so"), r"0\.100000 \(difference: 1\) \(so\)"),
    ("assertDeviceEqual", ("/cpu:0", "/device:GPU:0"), "/device:CPU:0 and /device:GPU:0 are not"),
    ("assertRegexMatch", ("a", ["b"]), r'"a" does not contain any of these regexes: \[\'b\'\]'),
    ("assertLen", ([1], 2, "so"), r"expected 2\. : so$"),
    ("assertContainsSubset", ([3], [1]), r"\{3\}\nExpected: \[3\]\nActual: \[1\]"),
    # TensorFlow's messages have the reports of NumPy.
    (
        "assertAllEqual",
        ([1, 2], [1, 3]),
        r"Arrays are not equal[\s\S]*Mismatched elements: 1 / 2 \(50%\)",
    ),
    ("assertAllEqual", (["a", "b"], [b"a", b"c"]), r"Mismatched elements: 1 / 2"),
    (
        "assertAllClose",
        ([1.0, np.nan], [1.0, 2.0]),
        r"Not equal to tolerance rtol=1e-06, atol=1e-06[\s\S]*nan location mismatch",
    ),
    ("assertAllEqual", ([1, 2], [1]), "Shape mismatch"),
    ("assertAllClose", (tf.constant([1.0, 2.0]), [1.0, 2.1]), r"not close where"),
    ("assertAllClose", ({"a": 1.0}, {"b": 1.0}), "mismatched keys"),
    ("assertAllClose", ({"a": [1.0, 2.0]}, {"a": [1.0, 2.5]}), r"a\[a\] is different from b\[a\]"),
    ("assertAllCloseAccordingToType", (np.float16([1]), np.float16([1.01])), "0.001"),
    ("assertNotAllEqual", ([1], [1]), "equal at all elements"),
    ("assertNotAllClose", ([1.0], [1.0]), "close at all elements"),
    ("assertAllInRange", ([1, 2], 0, 1), r"1 of the 2 element\(s\) are outside"),
    ("assertAllInRange", ([1], 1, 2, True), r"outside the range \(1, 2\]"),
    ("assertAllInSet", ([1, 2], [1]), r"not in the set \[1\]: \[2\]"),
    ("assertAllGreater", ([1, 2], 1), "not greater than"),
    ("assertAllLess", ([1, 2], 2), "not less than"),
    ("assertNear", (1.0, 2.0, 0.5), "1.000000 != 2.000000"),
    ("assertShapeEqual", (np.zeros(2), tf.zeros(3)), "differ"),
    ("assertDTypeEqual", (tf.constant(1.0), np.int32), "float32"),
    ("assertStartsWith", ("abc", "b"), "does not start with"),
    ("assertLen", ([1], 2), "has length of 1, expected 2"),
    ("assertContainsSubset", ([1, 3], [1, 2]), "Missing elements"),
]


@pytest.mark.parametrize(("name", "args"), HOLD)
def test_assertions_that_hold(case, name, args):
    getattr(case, name)(*args)


@pytest.mark.parametrize(("name", "args", "message"), FAIL)
def test_assertions_that_fail(case, name, args, message):
    with pytest.raises(AssertionError, match=message):
        getattr(case, name)(*args)


def test_errors_of_ops(case):
    def fails() -> None:
        tf.reshape([1, 2], [3])

    with case.assertRaisesOpError("Input to reshape"):
        fails()
    with pytest.raises(AssertionError, match="was raised, but as"), case.assertRaisesOpError("x!"):
        fails()
    with pytest.raises(AssertionError, match="not raised"), case.assertRaisesOpError("x!"):
        pass
    case.assertRaisesWithLiteralMatch(ValueError, "a.b", _raise, ValueError("a.b"))


def _raise(error: Exception) -> None:
    raise error


def test_cases_start_from_one_seed(case):
    first = tf.random.uniform([3])
    case.setUp()
    case.assertAllEqual(first, tf.random.uniform([3]))


def test_cases_start_from_an_empty_default_graph(case):
    # TensorFlow was asked: what a test puts into the graph, the next one does not meet.
    before = tf.compat.v1.get_default_graph()
    before.add_to_collection("kept", 1)
    with tf.Graph().as_default() as graph:
        case.setUp()  # blocks around a test stay
        assert tf.compat.v1.get_default_graph() is graph
    assert tf.compat.v1.get_default_graph() is before
    case.setUp()
    assert tf.compat.v1.get_default_graph() is not before
    assert tf.compat.v1.get_default_graph().get_collection("kept") == []


def test_values_folders_and_threads(case):
    found = case.evaluate([tf.constant(1), {"a": tf.Variable(2.0)}])
    assert (int(found[0]), float(found[1]["a"])) == (1, 2.0)
    assert tf.io.gfile.isdir(case.get_temp_dir())
    assert case.get_temp_dir() == case.get_temp_dir()
    thread = case.checkedThread(_raise, (ValueError("inside"),))
    thread.start()
    with pytest.raises(AssertionError, match="inside"):
        thread.join()


def test_values_of_tensors_of_several_parts(case) -> None:
    """As TensorFlow gives them: named tuples of arrays."""
    sparse, ragged, slices, none, called = case.evaluate(
        (
            tf.sparse.from_dense([0, 5]),
            tf.ragged.constant([[[1]], [[2, 3]]]),
            tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])),
            None,
            lambda: [tf.constant(7)],
        )
    )
    assert type(sparse).__name__ == "SparseTensorValue"
    assert sparse.indices.tolist() == [[1]]
    assert sparse.values.tolist() == [5]
    assert sparse.dense_shape.tolist() == [2]
    assert type(ragged).__name__ == "RaggedTensorValue"
    assert ragged.row_splits.tolist() == [0, 1, 2]
    assert ragged.values.row_splits.tolist() == [0, 1, 3]
    assert ragged.to_list() == [[[1]], [[2, 3]]]
    assert slices._fields == ("values", "indices", "dense_shape")
    assert slices.values.tolist() == [1.0]
    assert slices.dense_shape is None
    assert none is None
    assert called == [7]
    with pytest.raises(ValueError, match="Unsupported type 'int'"):
        case.evaluate(3)


def test_gradients_beside_differences(case):
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    ours, numbers = tf.test.compute_gradient(lambda a, b: a * b, [x, y])
    assert ours[0].tolist() == [[3, 0], [0, 4]] and ours[1].tolist() == [[1, 0], [0, 2]]
    case.assertAllClose(ours, numbers, rtol=1e-3)
    # TensorFlow's matrices for a complex argument
    ours, numbers = tf.test.compute_gradient(lambda z: z * z, [np.array([1 + 1j])])
    assert ours[0].tolist() == [[2, -2], [2, 2]]
    case.assertAllClose(ours, numbers)
    wrong = tf.custom_gradient(lambda a: (a * a, lambda dy: dy))
    ours, numbers = tf.test.compute_gradient(wrong, [[3.0]])
    case.assertNotAllClose(ours, numbers)
    with pytest.raises(ValueError, match="must be a list or tuple"):
        tf.test.compute_gradient(tf.square, 3.0)


def test_benchmarks_report(capsys):
    class Adding(tf.test.Benchmark):
        def benchmarkAdd(self) -> None:
            """Adds."""
            self.run_op_benchmark(None, lambda: tf.add(1, 2), min_iters=3)

    Adding().benchmarkAdd()
    entry = json.loads(capsys.readouterr().out)
    assert (entry["name"], entry["iters"]) == ("Adding.benchmarkAdd", 3)
    assert 0 < entry["wall_time"] < 1
    assert tf.test.Benchmark.is_abstract() and not Adding.is_abstract()


def test_graphs_are_compared():
    def graph(value: float) -> Any:
        with tf.Graph().as_default() as made:
            tf.constant(value, name="c")
        return made.as_graph_def()

    tf.test.assert_equal_graph_def(graph(1.0), graph(1.0))
    with pytest.raises(AssertionError, match="1 nodes differ, the first of them c"):
        tf.test.assert_equal_graph_def(graph(1.0), graph(2.0))
    with pytest.raises(TypeError, match=r"Expected tf.GraphDef for actual"):
        tf.test.assert_equal_graph_def(graph(1.0), 3)


def test_skipping():
    class Skips(tf.test.TestCase):
        @tf.test.disable_with_predicate(lambda: True, "not here")
        def test_it(self) -> None:
            """Never runs."""
            raise AssertionError

    result = Skips("test_it").run()
    assert result is not None and [r for _, r in result.skipped] == ["not here"]


def test_the_machine():
    assert not any(
        [
            tf.test.is_built_with_cuda(),
            tf.test.is_built_with_gpu_support(),
            tf.test.is_built_with_rocm(),
            tf.test.is_gpu_available(),
            tf.test.gpu_device_name(),
        ]
    )
    assert tf.test.is_cpu_target_available("x86") != tf.test.is_cpu_target_available("arm")
    with pytest.raises(NotImplementedError, match="create_local_cluster"):
        tf.test.create_local_cluster(1, 1)


def test_arrays_are_compared_by_the_session_in_graphs() -> None:
    """Libraries' test cases ask `_GetNdArray`, which evaluates tensors of graphs."""
    case = tf.test.TestCase()
    with tf.Graph().as_default():
        x = tf.constant([1.0, 2.0]) * 2.0
        assert case._GetNdArray(x).tolist() == [2.0, 4.0]
        case.assertAllClose(x, [2.0, 4.0])
        assert x.op._original_op is None


def test_dictionaries_of_tensors_are_compared_value_by_value() -> None:
    case = tf.test.TestCase()
    first = {"a": tf.constant([1.0, 2.0]), "b": tf.constant(["x", "y"]), "c": 3}
    case.assertEqual(first, {**first, "a": tf.constant([1.0, 2.0000001])})
    case.assertDictEqual({"a": np.array([1, 2])}, {"a": [1, 2]})
    for other in ({**first, "a": tf.constant([1.0, 3.0])}, {**first, "c": 4}, {"a": first["a"]}):
        with pytest.raises(AssertionError):
            case.assertEqual(first, other)


def test_a_cached_session_evaluates_tensors_eagerly() -> None:
    # TensorFlow 2.21 was asked.
    case = tf.test.TestCase()
    with case.cached_session() as session:
        assert session.run(tf.constant(1)) == 1
        found = session.run({"a": [tf.Variable(2.0), tf.constant([1, 2])], "b": None}, feed_dict={})
        assert (found["a"][0], found["a"][1].tolist(), found["b"]) == (2.0, [1, 2], None)
        assert session.run(lambda: tf.constant(3)) == 3
        x = tf.constant(1)
        with pytest.raises(RuntimeError, match="feed_dict is not supported"):
            session.run(x, feed_dict={x.ref(): 1})
        with pytest.raises(RuntimeError, match="Optional args are not supported"):
            session.run(x, options=1)
        assert not hasattr(session, "graph")
    with case.session() as session, pytest.raises(AttributeError, match="eager execution is"):
        session.run(x)
    with case.test_session() as session:
        assert session is None
