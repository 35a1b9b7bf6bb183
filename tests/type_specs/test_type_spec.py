"""TensorSpec and TypeSpec; answers checked with TensorFlow 2.21."""

import copy
import pickle

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.composite import CompositeTensor
from intaglio.type_specs.type_spec import BoundedTensorSpec, TypeSpec, type_spec_of


def test_its_attributes():
    spec = tf.TensorSpec([None, 2], "float64", name="x")
    assert repr(spec) == "TensorSpec(shape=(None, 2), dtype=tf.float64, name='x')"
    assert (spec.shape, spec.dtype, spec.name) == ([None, 2], tf.float64, "x")
    assert repr(tf.TensorSpec(None)) == ("TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)")
    assert spec.value_type is tf.Tensor


def test_equality_and_hash():
    assert tf.TensorSpec([1]) == tf.TensorSpec([1], tf.float32)
    assert tf.TensorSpec([1]) != tf.TensorSpec([1], name="a")
    assert tf.TensorSpec([1]) != tf.TensorSpec([1], tf.int32)
    assert tf.TensorSpec([1]) != 3
    assert len({tf.TensorSpec([1]), tf.TensorSpec([1]), tf.TensorSpec([2])}) == 2


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1, 2], [None, None], True),
        ([1, 2], None, True),
        ([None, 2], [1, 2], False),
        (None, [1], False),
        ([1], [1, 1], False),
        ([], [], True),
    ],
    ids=str,
)
def test_subtypes(a, b, expected):
    assert tf.TensorSpec(a).is_subtype_of(tf.TensorSpec(b)) is expected
    assert not tf.TensorSpec(a).is_subtype_of(tf.TensorSpec(b, tf.int32))


def test_names_and_subtypes():
    named, plain = tf.TensorSpec([1], name="a"), tf.TensorSpec([1])
    assert plain.is_subtype_of(named) and not named.is_subtype_of(plain)
    assert named.most_specific_common_supertype([named]).name == "a"
    assert named.most_specific_common_supertype([plain]).name is None


def test_supertypes():
    a = tf.TensorSpec([1, 2])
    joined = a.most_specific_common_supertype([tf.TensorSpec([3, 2])])
    assert joined == tf.TensorSpec([None, 2])
    assert a.most_specific_common_supertype([tf.TensorSpec([1])]) == tf.TensorSpec(None)
    assert a.most_specific_common_supertype([tf.TensorSpec([1, 2], tf.int32)]) is None
    with pytest.raises(ValueError, match="No TypeSpec is compatible with both"):
        a.most_specific_compatible_type(tf.TensorSpec([1, 2], tf.int32))


def test_compatibility():
    spec = tf.TensorSpec([None, 2])
    assert spec.is_compatible_with(tf.ones([5, 2]))
    assert spec.is_compatible_with([[1.0, 2.0]])
    assert spec.is_compatible_with(tf.TensorSpec(None))
    assert not spec.is_compatible_with(tf.ones([5, 2], tf.int32))
    assert not spec.is_compatible_with(tf.ones([2]))
    assert not spec.is_compatible_with(object())


def test_created_from_others():
    assert tf.TensorSpec.from_tensor(tf.ones([2])) == tf.TensorSpec([2])
    assert tf.TensorSpec.from_spec(tf.TensorSpec([2], name="a"), "b").name == "b"
    with tf.Graph().as_default():
        t = tf.constant(1, name="c")
        assert tf.TensorSpec.from_tensor(t).name == "c"
    with pytest.raises(ValueError, match=r"should be a tf\.Tensor"):
        tf.TensorSpec.from_tensor(3)
    assert type_spec_of(np.ones(2)) == tf.TensorSpec([2], tf.float64)
    assert type_spec_of([1, 2]) == tf.TensorSpec([2], tf.int32)
    with pytest.raises(TypeError, match="Could not build a TypeSpec for"):
        type_spec_of(object())


def test_copies():
    spec = tf.TensorSpec([None], tf.int32, "n")
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert copy.deepcopy(spec) == spec


def test_bounds():
    spec = BoundedTensorSpec([2], tf.float32, [0, 1], 5, name="b")
    assert spec.minimum.tolist() == [0, 1] and spec.maximum == 5
    assert not spec.minimum.flags.writeable
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec != BoundedTensorSpec([2], tf.float32, [0, 1], 6, name="b")
    limits = BoundedTensorSpec.from_spec(tf.TensorSpec([1], tf.int8))
    assert (limits.minimum, limits.maximum) == (-128, 127)
    with pytest.raises(ValueError, match="`maximum` can not be None"):
        BoundedTensorSpec([2], tf.float32, 0, None)


class PairSpec(TypeSpec):
    def __init__(self, a, b, label="x"):
        self.a, self.b, self.label = a, b, label

    value_type = property(lambda self: Pair)
    _component_specs = property(lambda self: {"a": self.a, "b": self.b})

    def _serialize(self):
        return self.a, self.b, self.label

    def _to_components(self, value):
        return {"a": value.a, "b": value.b}

    def _from_components(self, components):
        return Pair(components["a"], components["b"], self.label)


class Pair(CompositeTensor):
    def __init__(self, a, b, label="x"):
        self.a, self.b, self.label = a, b, label

    @property
    def _type_spec(self):
        specs = [tf.TensorSpec(t.shape, t.dtype) for t in (self.a, self.b)]
        return PairSpec(*specs, self.label)


def pair(n, label="x"):
    return Pair(tf.ones([n]), tf.constant(n), label)


def test_composites_in_nest():
    value = pair(2)
    assert tf.nest.flatten([value]) == [value]
    assert len(tf.nest.flatten([value], expand_composites=True)) == 2
    doubled = tf.nest.map_structure(lambda t: t + t, value, expand_composites=True)
    assert doubled.a.numpy().tolist() == [2.0, 2.0] and int(doubled.b) == 4


def test_composites_compare_by_their_parts():
    a, b = pair(2)._type_spec, pair(3)._type_spec
    joined = a.most_specific_common_supertype([b])
    assert joined.a == tf.TensorSpec([None])
    assert a.is_subtype_of(joined) and not joined.is_subtype_of(a)
    assert a.is_compatible_with(pair(2)) and not a.is_compatible_with(pair(3))
    assert joined.is_compatible_with(pair(3))
    assert a == pair(2)._type_spec and hash(a) == hash(pair(2)._type_spec)
    assert a.most_specific_common_supertype([pair(2, "y")._type_spec]) is None
    assert a.is_subtype_of(pair(2, "y")._type_spec) is False


def test_composites_as_arguments_and_outputs_of_functions():
    traces = []

    @tf.function
    def f(p, k):
        traces.append(p)
        return Pair(p.a * 2.0, p.b + k, p.label)

    for n in (2, 2, 3):
        out = f(pair(n), tf.constant(1))
        assert isinstance(out, Pair)
        assert out.a.numpy().tolist() == [2.0] * n and int(out.b) == n + 1
    assert len(traces) == 2
    f(pair(3, "y"), tf.constant(1))
    assert len(traces) == 3
    assert [t.name for t in f._list_all_concrete_functions()[0].inputs] == ["p:0", "p_1:0", "k:0"]


def test_composites_in_input_signatures():
    spec = PairSpec(tf.TensorSpec([None]), tf.TensorSpec([], tf.int32))

    @tf.function(input_signature=[spec])
    def f(p):
        return p.a

    assert f(pair(2)).shape == [2]
    assert f(pair(3)).shape == [3]
    with pytest.raises(TypeError, match="Can not cast"):
        f(3)
    assert f.experimental_get_tracing_count() == 1


class _Options(TypeSpec):
    """A spec that is made of a dict, as libraries have them."""

    value_type = tf.Tensor
    _component_specs = ()

    def __init__(self, options):
        self._options = options

    def _serialize(self):
        return (self._options,)

    def _to_components(self, value):
        return ()

    def _from_components(self, components):
        return None


def test_specs_made_of_dicts_are_equal_in_any_order():
    """Equality, hash and relations; TensorFlow's answers."""
    one, other = _Options({"a": 1, "b": [2]}), _Options({"b": [2], "a": 1})
    assert one == other and hash(one) == hash(other) and len({one, other}) == 1
    assert one.is_compatible_with(other) and one.is_subtype_of(other)
    assert one != _Options({"a": 1}) and one != _Options({"a": 1, "b": [3]})


def test_libraries_make_keys_of_what_specs_are_compared_by():
    key = _Options({})._TypeSpec__make_cmp_key
    assert hash(key({"a": [1], "b": None})) == hash(key({"b": None, "a": [1]}))
    assert key({"a": [1]}) != key({"a": [2]})


def test_libraries_write_and_read_structures():
    inner = tf.__internal__.saved_model
    value = {"a": tf.TensorSpec([None], name="x"), "b": [1, (2.0, None, "t")], "c": tf.float64}
    written = inner.encode_structure(value)
    assert written.dict_value.fields["a"].tensor_spec_value.name == "x"
    assert inner.decode_proto(written) == value
