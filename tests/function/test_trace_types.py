"""Which arguments share a trace.

The expected counts are TensorFlow 2.21's, with one exception: values of different types never
share a trace here (there 1, 1.0 and True do, and so do 0.0 and -0.0).
"""

import collections
import enum
import gc

import numpy as np
import pytest

from intaglio import tf
from intaglio.function.trace_types import Literal, from_value
from intaglio.type_specs.trace_type import Tracing
from intaglio.type_specs.type_spec import TensorSpec

Pair = collections.namedtuple("Pair", "x y")


def traced(**options):
    """A function that returns the number of the trace that served the call."""
    calls = []

    def f(*args, **kwargs):
        calls.append(1)
        return tf.constant(len(calls))

    return tf.function(f, **options)


def numbers(values, **options):
    f = traced(**options)
    return [int(f(v)) for v in values]


def of(value):
    return from_value(value, Tracing())


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3, 4, 3, "a", "b", "a", True, False, True, None], [1, 2, 1, 3, 4, 3, 5, 6, 5, 7]),
        ([1, 1.0, True, 1 + 0j], [1, 2, 3, 4]),
        ([0.0, -0.0, 0.0], [1, 2, 1]),
        ([float("nan"), float("nan")], [1, 1]),
        ([b"a", "a"], [1, 2]),
        ([[1, 2], [2, 1], [1, 2], (1, 2), (1, 2), [1, 2, 3]], [1, 2, 1, 3, 3, 4]),
        ([{1: 2, 3: 4}, {3: 4, 1: 2}, {1: 2, 3: 5}, {1: 2}], [1, 1, 2, 3]),
        ([[], (), {}, []], [1, 2, 3, 1]),
        ([Pair(1, 2), Pair(1, 2), (1, 2)], [1, 1, 2]),
        ([Colour.RED, Colour.BLUE, Colour.RED], [1, 2, 1]),
        ([tf.float32, tf.int32, tf.float32], [1, 2, 1]),
        ([len, len, abs, int, int], [1, 1, 2, 3, 3]),
        ([range(3), range(3), range(4)], [1, 1, 2]),
        ([..., ..., None], [1, 1, 2]),
        ([np.ones(2), np.zeros(2), np.ones(3), np.ones(2, np.float32)], [1, 1, 2, 3]),
        ([np.float32(1), np.float32(2), np.int64(1)], [1, 1, 2]),
        ([{"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}], [1, 1, 2]),
    ],
    ids=str,
)
def test_python_values(values, expected):
    assert numbers(values) == expected
    assert numbers(values + values) == expected + expected


def test_tensors_by_dtype_and_shape():
    values = [1, 2, 1.0, 2.0, [1], [2], [1, 2]]
    assert numbers([tf.constant(v) for v in values]) == [1, 1, 2, 2, 3, 3, 4]


def test_a_list_of_tensors_by_the_tensors():
    t = tf.constant
    assert numbers([[t(1), t(2)], [t(5), t(6)], [t(1.0), t(2)]]) == [1, 1, 2]


class Valued:
    def __init__(self, k):
        self.k = k

    def __eq__(self, other):
        return isinstance(other, Valued) and other.k == self.k

    def __hash__(self):
        return hash(self.k)


def test_objects_by_equality():
    a, b, c = Valued(1), Valued(1), Valued(2)
    assert numbers([a, b, c, a, b, c]) == [1, 1, 2, 1, 1, 2]


def test_objects_by_identity():
    class Thing:
        pass

    a, b = Thing(), Thing()
    assert numbers([a, b, a, b, a, a]) == [1, 2, 1, 2, 1, 1]


def test_a_dead_object_matches_nothing():
    f = traced()
    seen = []
    for _ in range(4):
        seen.append(int(f(Valued(1))))
        gc.collect()
    assert seen == [1, 2, 3, 4]
    assert len(f._list_all_concrete_functions()) <= 2


def test_an_object_that_changes_is_still_the_same_object():
    a = Valued(1)
    f = traced()
    assert [int(f(a)) for _ in range(4)] == [1] * 4
    a.k = 2
    assert [int(f(a)), int(f(Valued(2))), int(f(Valued(1)))] == [1, 1, 2]


@pytest.mark.parametrize("value", [{1, 2}, bytearray(b"ab")], ids=repr)
def test_what_cannot_be_hashed_is_refused(value):
    with pytest.raises(TypeError) as raised:
        traced()(value)
    assert str(raised.value) == (
        f"Could not generate a generic TraceType for {value!r}.Please verify that it is immutable/hashable. "
        "Otherwise, consider implementing the Tracing Protocol for it."
    )


def test_the_tracing_protocol():
    class Same(tf.types.experimental.TraceType):
        def is_subtype_of(self, other):
            return type(other) is Same

        def most_specific_common_supertype(self, others):
            return self

        def placeholder_value(self, placeholder_context=None):
            return "placeholder"

        def __eq__(self, other):
            return type(other) is Same

        def __hash__(self):
            return 1

    class Thing:
        def __tf_tracing_type__(self, context):
            assert isinstance(context, tf.types.experimental.TracingContext)
            return Same()

    seen = []
    f = tf.function(lambda x: seen.append(x))
    for _ in range(3):
        f(Thing())
    assert seen == ["placeholder"]
    assert isinstance(Thing(), tf.types.experimental.SupportsTracingProtocol)


def test_a_trace_type_without_placeholder_value_hands_over_the_argument():
    class Mine(tf.types.experimental.TraceType):
        def is_subtype_of(self, other):
            return type(other) is Mine

        def most_specific_common_supertype(self, others):
            return self

        def __eq__(self, other):
            return type(other) is Mine

        def __hash__(self):
            return 1

    class Thing:
        flavour = 3

        def __tf_tracing_type__(self, context):
            return Mine()

    f = tf.function(lambda x: x.flavour)
    assert int(f(Thing())) == int(f(Thing())) == 3
    assert f.experimental_get_tracing_count() == 1


def test_a_protocol_that_returns_no_trace_type():
    class Wrong:
        def __tf_tracing_type__(self, context):
            return 3

    with pytest.raises(TypeError, match="Expected an instance of TraceType"):
        traced()(Wrong())


def test_custom_nest_objects():
    class Box:
        def __init__(self, label, value):
            self.label, self.value = label, value

        def __tf_flatten__(self):
            return (self.label,), (self.value,)

        @classmethod
        def __tf_unflatten__(cls, metadata, components):
            return cls(metadata[0], components[0])

    f = tf.function(lambda box: Box(box.label, box.value + 1))
    out = f(Box("a", tf.constant(1)))
    assert (out.label, int(out.value)) == ("a", 2)
    f(Box("a", tf.constant(5)))
    f(Box("b", tf.constant(5)))
    assert f.experimental_get_tracing_count() == 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "Literal[3]"),
        ("z", "Literal['z']"),
        ([1, {"a": 2.5}], "List[Literal[1], Dict[['a', Literal[2.5]]]]"),
        ((), "Tuple[]"),
        (Pair(1, None), "Pair[['x', Literal[1]], ['y', Literal[None]]]"),
        (np.ones((2, 3)), "TensorSpec(shape=(2, 3), dtype=tf.float64, name=None)"),
    ],
    ids=str,
)
def test_how_types_print(value, text):
    assert repr(of(value)) == text


def test_the_most_specific_trace_is_chosen():
    seen = []

    @tf.function
    def f(x):
        seen.append(x.shape.as_list())
        return tf.constant(len(seen))

    f.get_concrete_function(tf.TensorSpec([1, None], tf.float32))
    f.get_concrete_function(tf.TensorSpec([None, None], tf.float32))
    for _ in range(3):
        assert int(f(tf.zeros([1, 2]))) == 1
        assert int(f(tf.zeros([3, 2]))) == 2
    assert seen == [[1, None], [None, None]]


def test_a_more_general_trace_serves():
    f = traced()
    f.get_concrete_function(tf.TensorSpec(None, tf.float32))
    assert [int(f(tf.zeros(s))) for s in ([2, 3], [], [2, 3])] == [1, 1, 1]


def test_reduce_retracing_relaxes_shapes_as_tensorflow_does():
    seen = []

    @tf.function(reduce_retracing=True)
    def f(x, n):
        seen.append((x.shape.rank and x.shape.as_list(), n))
        return x

    for size, n in (([1], 1), ([2], 1), ([3], 2), ([4], 2), ([4, 4], 2)):
        f(tf.ones(size), n)
    assert seen == [([1], 1), ([None], 1), ([3], 2), ([None], 2), (None, 2)]


def test_supertypes_of_structures():
    a = of([tf.constant([1.0]), 2])
    b = of([tf.constant([1.0, 2.0]), 2])
    joined = a.most_specific_common_supertype([b])
    assert repr(joined) == (
        "List[TensorSpec(shape=(None,), dtype=tf.float32, name=None), Literal[2]]"
    )
    assert a.is_subtype_of(joined) and not joined.is_subtype_of(a)
    assert a.most_specific_common_supertype([of([tf.constant([1.0]), 3])]) is None
    assert Literal(2) != Literal(2.0)
    assert hash(of({"a": 1, "b": 2})) == hash(of({"b": 2, "a": 1}))
    assert TensorSpec([1], tf.int32) == of(tf.constant([7]))
