"""TensorArrays, eager and in graphs. Texts and values were asked of TensorFlow 2.21."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

F = tf.float32
INVALID = tf.errors.InvalidArgumentError
OUT_OF_RANGE = tf.errors.OutOfRangeError


def array(**options: Any) -> Any:
    return tf.TensorArray(F, **{"size": 3, **options})


def eagerly(build: Callable[[], Any]) -> Any:
    return build()


def in_graph(build: Callable[[], Any]) -> Any:
    return tf.function(build, autograph=False)()


BOTH = pytest.mark.parametrize("run", [eagerly, in_graph])

VALUES: list[tuple[Callable[[], Any], Any]] = [
    (lambda: array().write(0, 1.0).write(0, 2.0).stack(), [2, 0, 0]),
    (lambda: array().write(0, 1).stack(), [1, 0, 0]),
    (lambda: array().write(1, [1.0, 2.0]).stack(), [[0, 0], [1, 2], [0, 0]]),
    (lambda: array(element_shape=[2]).read(0), [0, 0]),
    (lambda: array(element_shape=[1]).stack(), [[0], [0], [0]]),
    (lambda: array(size=0, element_shape=[2]).stack(), np.zeros((0, 2))),
    (lambda: array(dynamic_size=True).write(5, 1.0).size(), 6),
    (lambda: array(dynamic_size=True).write(5, 1.0).stack(), [0, 0, 0, 0, 0, 1]),
    (lambda: array().unstack([1.0, 2.0, 3.0]).gather([2, 0]), [3, 1]),
    (lambda: array(element_shape=[2]).gather([0, 1]), np.zeros((2, 2))),
    (lambda: array(element_shape=[2]).gather(tf.zeros([0], tf.int32)), np.zeros((0, 2))),
    (lambda: array().scatter([2, 0], [1.0, 2.0]).stack(), [2, 0, 1]),
    (lambda: array().scatter([2, 2], [1.0, 2.0]).stack(), [0, 0, 2]),
    (lambda: array().split([1.0, 2.0, 3.0, 4.0], [1, 2, 1]).read(1), [2, 3]),
    (lambda: array(size=2).split([1.0, 2.0, 3.0, 4.0], [2, 2]).stack(), [[1, 2], [3, 4]]),
    (lambda: array().write(1, [1.0, 2.0]).concat(), [0, 0, 1, 2, 0, 0]),
    (lambda: array(element_shape=[2]).concat(), np.zeros(6)),
    (lambda: array(size=0, element_shape=[None, 2]).concat(), np.zeros((0, 2))),
    (lambda: _ragged().concat(), [1, 1, 2]),
    (lambda: array(dynamic_size=True).unstack([1.0, 2.0, 3.0, 4.0]).stack(), [1, 2, 3, 4]),
    (lambda: array(size=tf.constant(2)).size(), 2),
    (lambda: array().identity().size(), 3),
    (lambda: tf.TensorArray("float64", 1).write(0, 1).stack(), [1]),
    (lambda: tf.TensorArray(tf.bool, 2).write(0, True).stack(), [True, False]),
]


def _ragged() -> Any:
    return array(size=2, infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0])


@BOTH
@pytest.mark.parametrize("case", range(len(VALUES)))
def test_values(run: Any, case: int) -> None:
    build, expected = VALUES[case]
    found = run(build)
    np.testing.assert_array_equal(found.numpy(), np.asarray(expected))
    assert found.shape == np.shape(expected)


@BOTH
def test_strings(run: Any) -> None:
    found = run(lambda: tf.TensorArray(tf.string, 2).write(0, "a").stack())
    assert found.numpy().tolist() == [b"a", b""]
    found = run(lambda: tf.TensorArray(tf.string, 2).unstack(["a", "b"]).read(1))
    assert found.numpy() == b"b"


# (what is done, eager error and text, error and text in a graph)
FAILURES: list[tuple[Callable[[], Any], Any, str, Any, str]] = [
    (lambda: array().read(0), ValueError, "partially known TensorShape <unknown>",
     INVALID, "element_shape is not fully defined: <unknown> and no list element is set"),
    (lambda: array().read(3), OUT_OF_RANGE, "Tried to read from index 3 but array size is: 3",
     INVALID, "Trying to access element 3 in a list with 3 elements"),
    (lambda: array().read(-1), OUT_OF_RANGE, r"negative indices \(index -1\)",
     INVALID, "Trying to access element -1 in a list with 3 elements"),
    (lambda: array().write(3, 1.0).stack(), OUT_OF_RANGE, "write to index 3 but array is not resizeable and size is: 3",
     INVALID, "Trying to modify element 3 in a list with 3 elements"),
    (lambda: array(dynamic_size=True).write(-1, 1.0).stack(), OUT_OF_RANGE, r"negative indices \(index -1\)",
     INVALID, "Trying to modify element -1"),
    (lambda: array().write(0, tf.constant(1)).stack(), INVALID, "dtype is float32 but Op is trying to write dtype int32",
     INVALID, "Invalid data types"),
    (lambda: array(element_shape=[2]).write(0, 1.0).stack(), ValueError, r"Incompatible shape for value \(\(\)\), expected \(\(2,\)\)",
     ValueError, r"Inconsistent shapes: saw \(\) but expected \(2,\)"),
    (lambda: array().write(0, [1.0]).write(1, [1.0, 2.0]).stack(), ValueError, r"value \(\(2,\)\), expected \(\(1,\)\)",
     ValueError, r"saw \(2,\) but expected \(1,\)"),
    (lambda: _ragged().stack(), INVALID, "Shapes of all inputs must match", INVALID, r"Incompatible shapes during merge: \[1\] vs. \[2\]"),
    (lambda: array().stack(), ValueError, "partially known", INVALID, "only contains uninitialized tensors"),
    (lambda: array().unstack([1.0, 2.0, 3.0]).gather([5]), IndexError, "list index out of range",
     INVALID, "Index 5 out o range; list only has 3 elements"),
    (lambda: array().unstack([1.0] * 4).stack(), ValueError, "Cannot unstack 4 tensors into a TensorArray of static size 3",
     INVALID, "expected a list with 3 elements but got a list with 4"),
    (lambda: array(size=2).split([1.0, 2.0, 3.0, 4.0], [2, 1]).stack(), INVALID, "sum of lengths is 3 and value's shape is",
     INVALID, "Unused values in tensor. Length of tensor: 4 Values used: 3"),
    (lambda: array(size=2).split([1.0, 2.0, 3.0, 4.0], [2, 3]).stack(), INVALID, "sum of lengths is 5",
     INVALID, r"Attempting to slice \[2, 5\] from tensor with length 4"),
    (lambda: array().scatter([1, 2], [1.0]).stack(), INVALID, r"len\(indices\) == tensor.shape\[0\], but saw: 2 vs. 1",
     INVALID, r"len\(indices\) == tensor.shape\[0\], but saw: 2 vs. 1"),
    (lambda: array(size=None).stack(), ValueError, "Size must be declared",
     ValueError, "`size` must be provided if argument `flow` is not"),
    (lambda: array(size=2.5).stack(), TypeError, "'float' object cannot be interpreted as an integer",
     TypeError, "Expected int32"),
    (lambda: array(size=None, handle=1).stack(), ValueError, "handles are not supported", ValueError, "handles"),
    (lambda: array().grad("x"), NotImplementedError, "grad", NotImplementedError, "grad"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(FAILURES)))
def test_failures(case: int) -> None:
    build, eager, text, staged, staged_text = FAILURES[case]
    with pytest.raises(eager, match=text):
        build()
    with pytest.raises(staged, match=staged_text):
        in_graph(build)


def test_an_eager_array_forgets_what_was_read() -> None:
    cleared = array().unstack([1.0, 2.0, 3.0])
    assert float(cleared.read(0)) == 1
    with pytest.raises(INVALID, match="Could not read index 0 twice because it was"):
        cleared.read(0)
    assert cleared.stack().numpy().tolist() == [0, 2, 3]
    assert float(cleared.write(0, 7.0).read(0)) == 7
    kept = array(clear_after_read=False).unstack([1.0, 2.0, 3.0])
    assert float(kept.read(0)) == float(kept.read(0)) == 1


def test_an_eager_array_changes_in_place() -> None:
    ta = array()
    assert ta.write(0, 5.0) is ta
    assert ta.identity() is ta
    assert ta.stack().numpy().tolist() == [5, 0, 0]
    assert ta.handle is None and ta.flow.dtype is tf.int32
    ta.close()
    assert int(ta.size()) == 0


def test_what_is_known_of_elements() -> None:
    ta = array(element_shape=[None])
    assert ta.dtype is F and ta.dynamic_size is False
    assert ta.element_shape.as_list() == [None]
    assert ta.write(0, [1.0, 2.0]).element_shape == [2]
    loose = array(infer_shape=False).write(0, [1.0, 2.0])
    assert loose.element_shape.rank is None


def _ops(build: Callable[[], Any]) -> list[tuple[str, str]]:
    graph = tf.function(build, autograph=False).get_concrete_function().graph
    kinds = ("Const", "Placeholder", "Identity")
    return [(o.name, o.type) for o in graph.get_operations() if o.type not in kinds]


def test_nodes_have_tensorflow_s_names() -> None:
    def build() -> Any:
        ta = array(dynamic_size=True).write(0, 1.0)
        ta = ta.scatter([1], [2.0])
        return ta.read(0), ta.stack(), ta.gather([0]), ta.size()

    assert _ops(build) == [
        ("TensorArrayV2", "TensorListReserve"),
        ("TensorArrayV2Write/TensorListSetItem", "TensorListSetItem"),
        (
            "TensorArrayScatter/TensorListScatterIntoExistingList",
            "TensorListScatterIntoExistingList",
        ),
        ("TensorArrayV2Read/TensorListGetItem", "TensorListGetItem"),
        ("TensorArrayV2Stack/TensorListStack", "TensorListStack"),
        ("TensorListGather", "TensorListGather"),
        ("TensorListLength", "TensorListLength"),
    ]
    unstacked = _ops(lambda: array(name="my").unstack([1.0, 2.0, 3.0]).stack())
    assert unstacked[:2] == [
        ("my", "TensorListReserve"),
        ("TensorArrayUnstack/TensorListFromTensor", "TensorListFromTensor"),
    ]


def test_static_shapes_in_graphs() -> None:
    shapes: list[Any] = []

    @tf.function(autograph=False)
    def f(n: Any) -> Any:
        ta = array(size=2).write(0, [1.0, 2.0])
        shapes.extend([ta.stack().shape, ta.read(0).shape, ta.gather([0, 1]).shape])
        shapes.append(ta.concat().shape)
        shapes.append(array(size=n).write(0, [1.0, 2.0]).stack().shape)
        return ta.stack()

    f(tf.constant(2))
    assert [s.as_list() for s in shapes] == [[2, 2], [2], [2, 2], [None], [None, 2]]


def test_the_flow_of_another_array() -> None:
    def build() -> Any:
        other = tf.TensorArray(F, flow=array().write(0, 1.0).flow)
        return other.size()

    assert int(in_graph(build)) == 3
    with pytest.raises(ValueError, match="Cannot provide both `flow` and"):
        in_graph(lambda: tf.TensorArray(F, flow=array().flow, element_shape=[2]).size())


# -- across functions ------------------------------------------------------------------


@tf.function
def total(ta: Any) -> Any:
    return tf.reduce_sum(ta.stack() ** 2)


@tf.function
def multiples(x: Any) -> Any:
    ta = array()
    for i in tf.range(3):
        ta = ta.write(i, x * tf.cast(i, F))
    return ta


def test_arrays_are_arguments_and_results() -> None:
    assert float(total(array().unstack([1.0, 2.0, 3.0]))) == 14
    made = multiples(tf.constant(2.0))
    assert isinstance(made, tf.TensorArray)
    assert made.stack().numpy().tolist() == [0, 2, 4]
    assert made.write(0, 1.0) is made
    assert float(total(made)) == 21
    assert multiples(tf.constant(2.0)).stack().numpy().tolist() == [0, 2, 4]


def test_arrays_with_gaps_or_ragged_elements_are_arguments() -> None:
    concat = tf.function(lambda ta: ta.concat())
    assert concat(_ragged()).numpy().tolist() == [1, 1, 2]
    stack = tf.function(lambda ta: ta.stack())
    assert stack(array(element_shape=[])).numpy().tolist() == [0, 0, 0]


def test_gradients_flow_through_arguments_and_results() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = total(array().unstack(x * x))
    np.testing.assert_allclose(tape.gradient(y, x), [4, 32, 108])
    z = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = tf.reduce_sum(multiples(z).stack() ** 2)
    assert float(tape.gradient(y, z)) == 30


def test_one_trace_serves_arrays_of_one_type() -> None:
    traces: list[int] = []

    @tf.function
    def size(ta: Any) -> Any:
        traces.append(1)
        return ta.size()

    sizes = [int(size(array(size=n).unstack([1.0] * n))) for n in (1, 2, 3)]
    assert sizes == [1, 2, 3] and len(traces) == 1


def test_facts_of_a_trace_do_not_reach_the_argument() -> None:
    ta = array()
    write = tf.function(lambda a: a.write(0, [1.0, 2.0]).stack())
    assert write(ta).shape == (3, 2)
    assert ta.element_shape.rank is None
    one, two = (tf.function(lambda: array(infer_shape=True))() for _ in range(2))
    one.write(0, [1.0])
    assert two.write(0, [1.0, 2.0]).stack().shape == (3, 2)


def test_eager_arrays_captured_by_graphs_are_read_only() -> None:
    ta = array(clear_after_read=False).unstack([1.0, 2.0, 3.0])
    assert float(tf.function(lambda: ta.read(1))()) == 2
    with pytest.raises(NotImplementedError, match="construct a new TensorArray inside"):
        tf.function(lambda: ta.write(0, 1.0).stack())()


# -- specs -----------------------------------------------------------------------------


def test_specs() -> None:
    Spec = tf.TensorArraySpec
    spec = Spec([None, 2], F)
    ta = array(element_shape=[3, 2])
    assert repr(spec) == "TensorArraySpec(TensorShape([None, 2]), tf.float32, False, True)"
    assert spec == Spec([None, 2]) and hash(spec) == hash(Spec([None, 2]))
    assert spec.value_type is tf.TensorArray
    assert tf.type_spec_from_value(ta) == Spec.from_value(ta) == Spec([3, 2])
    assert spec.is_compatible_with(ta) and spec.is_compatible_with(Spec(None))
    assert Spec([3, 2], infer_shape=False).is_compatible_with(ta)
    for other in (Spec([2]), Spec(None, tf.int32), Spec(None, dynamic_size=True)):
        assert not other.is_compatible_with(ta)
    assert spec.most_specific_compatible_type(Spec([3, 2])) == spec
    with pytest.raises(ValueError, match="No TypeSpec is compatible with both"):
        spec.most_specific_compatible_type(Spec([3, 2], tf.int32))
    with pytest.raises(TypeError, match="Expected value to be a TensorArray, but got"):
        Spec.from_value(3)
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_specs_in_signatures() -> None:
    spec = tf.TensorArraySpec([None], F)
    stack = tf.function(lambda ta: ta.stack(), input_signature=[spec])
    assert stack(array(size=2).unstack([[1.0], [2.0]])).numpy().tolist() == [[1], [2]]
    with pytest.raises(TypeError):
        stack(tf.TensorArray(tf.int32, 2, element_shape=[1]))


def test_arrays_are_leaves_until_composites_are_opened() -> None:
    ta = array()
    assert tf.nest.flatten([ta]) == [ta]
    assert not tf.is_tensor(ta)

    @tf.function
    def f() -> Any:
        inner = array().write(0, 1.0)
        (flow,) = tf.nest.flatten(inner, expand_composites=True)
        packed = tf.nest.pack_sequence_as(inner, [flow], expand_composites=True)
        return packed.stack()

    assert f().numpy().tolist() == [1, 0, 0]


def test_the_length_in_converted_code_is_the_size():
    """TensorFlow was asked. It refuses where nothing is converted, and so do we."""
    traced = tf.function(lambda n: len(tf.TensorArray(tf.float32, n)))
    assert int(traced(tf.constant(3))) == 3
    with pytest.raises(TypeError, match=r"has no len\(\)"):
        len(tf.TensorArray(tf.float32, 3))


def test_indices_from_the_end_outside_of_graphs():
    # TensorFlow 2.21 was asked.
    array = tf.TensorArray(tf.float32, 3).unstack([1.0, 2.0, 3.0])
    assert array.gather([0, -1, -3]).numpy().tolist() == [1.0, 3.0, 1.0]
    with pytest.raises(IndexError, match="list index out of range"):
        array.gather([-4])


def test_lists_of_rows_take_other_shapes_as_far_as_declared() -> None:
    """Asked of TensorFlow 2.21: the shape of the elements is the declared one, not that of the rows."""
    rows = tf.zeros([3, 0])
    for declared in (-1, [-1]):
        handle = tf.raw_ops.TensorListFromTensor(tensor=rows, element_shape=declared)
        handle = tf.raw_ops.TensorListSetItem(input_handle=handle, index=1, item=tf.ones([2]))
        found = tf.raw_ops.TensorListGetItem(
            input_handle=handle, index=1, element_shape=-1, element_dtype=F
        )
        assert found.numpy().tolist() == [1.0, 1.0]
    with pytest.raises(INVALID, match="incompatible shape"):
        tf.raw_ops.TensorListSetItem(input_handle=handle, index=1, item=tf.ones([2, 2]))
