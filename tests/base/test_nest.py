"""Nested structures; answers and texts are those TensorFlow 2.21 gave."""

import collections
import gc
import time
import weakref
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict
from dataclasses import dataclass
from types import MappingProxyType

import attrs
import numpy as np
import pytest

from intaglio.base import nest
from intaglio.base.composite import CompositeTensor

P = collections.namedtuple("P", "x y")


@attrs.define
class A:
    b: object
    a: object


@dataclass
class Masked:
    """Keeps `mask` out of the leaves."""

    mask: object
    value: object

    def __tf_flatten__(self):
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(metadata[0], components[0])


@dataclass
class Plain:
    a: int


class Pair(CompositeTensor):
    def __init__(self, a, b):
        self.a, self.b = a, b

    @property
    def _type_spec(self):
        return PairSpec(type(self.a))


class PairSpec:
    value_type = Pair

    def __init__(self, kind):
        self.kind = kind

    def __str__(self):
        return f"PairSpec({self.kind.__name__})"

    _component_specs = ("spec a", "spec b")

    def _to_components(self, value):
        return (value.a, value.b)

    def _from_components(self, parts):
        return Pair(*parts)

    def most_specific_common_supertype(self, others):
        return self if all(self.is_compatible_with(other) for other in others) else None

    def is_compatible_with(self, other):
        return self.kind is other.kind


STRUCTURES = [
    (collections.deque([1, 2]), [1, 2]),
    (range(3), [0, 1, 2]),
    ({"b": 1, "a": 2}, [2, 1]),
    ({10: 2, 9: 3}, [3, 2]),
    ({"b": 1, "a": 2}.keys(), ["b", "a"]),
    ({"b": 1, "a": 2}.values(), [1, 2]),
    (MappingProxyType({"b": 1, "a": 2}), [2, 1]),
    (OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
    (defaultdict(int, {"b": 1, "a": 2}), [2, 1]),
    (ChainMap({"b": 1, "a": 2}), [2, 1]),
    (UserDict(b=1), [1]),
    (UserList([1, 2]), [1, 2]),
    (Counter("aab"), [2, 1]),
    (P(1, (2, [3])), [1, 2, 3]),
    (A(1, 2), [1, 2]),
    (Masked(1, [2, 3]), [2, 3]),
    ([], []),
    ((), []),
    ({}, []),
]


@pytest.mark.parametrize(("structure", "leaves"), STRUCTURES)
def test_flatten_opens(structure, leaves):
    assert nest.is_nested(structure)
    assert nest.flatten(structure) == leaves


@pytest.mark.parametrize("leaf", [None, "abc", b"abc", {1, 2}, 3, 2.5, Plain(1)])
def test_leaves_stay_whole(leaf):
    assert not nest.is_nested(leaf)
    assert nest.flatten(leaf) == [leaf]


def test_array_is_a_leaf():
    array = np.arange(3)
    assert nest.flatten([array])[0] is array


def test_map_structure_keeps_types_and_key_order():
    def ten(x):
        return x * 10

    made = nest.map_structure(ten, OrderedDict([("b", 1), ("a", 2)]))
    assert made == OrderedDict([("b", 10), ("a", 20)])
    assert type(made) is OrderedDict
    assert nest.map_structure(ten, defaultdict(int, b=1)).default_factory is int
    assert nest.map_structure(ten, P(1, (2,))) == P(10, (20,))
    assert nest.map_structure(ten, A(1, 2)) == A(10, 20)
    assert nest.map_structure(ten, Masked(1, [2, 3])) == Masked(1, [20, 30])
    assert nest.map_structure(ten, range(2)) == [0, 10]
    assert nest.map_structure(ten, Counter("aab")) == Counter({"a": 20, "b": 10})
    when = time.gmtime(0)
    assert nest.map_structure(ten, when).tm_year == 19700


def test_map_structure_of_several():
    add = nest.map_structure(lambda x, y: x + y, {"b": 1, "a": 2}, {"a": 10, "b": 20})
    assert list(add.items()) == [("b", 21), ("a", 12)]
    assert nest.map_structure(lambda x, y: x + y, [1], (1,), check_types=False) == [2]
    both = nest.map_structure(lambda x, y: x + y, Masked(1, 2), Masked(2, 3))
    assert both == Masked(1, 5)


def test_pack():
    structure = [1, {"b": 2, "a": [3, 4]}, P(1, (2,)), A(1, 2)]
    packed = nest.pack_sequence_as(structure, list("abcdefgh"))
    inner = {"b": "d", "a": ["b", "c"]}
    assert packed == ["a", inner, P("e", ("f",)), A("g", "h")]


def test_pack_round_trip():
    structure = [1, {"b": 2, "a": [3, (4, None)]}, P(1, (2,)), A(1, "x")]
    leaves = nest.flatten(structure)
    assert leaves == [1, 3, 4, None, 2, 1, 2, 1, "x"]
    assert nest.pack_sequence_as(structure, leaves) == structure
    assert nest.pack_sequence_as(1, [2]) == 2


@pytest.mark.parametrize(
    ("structure", "flat", "error", "text"),
    [
        (
            1,
            [2, 3],
            ValueError,
            "The target structure is of type `<class 'int'>`\n  1\nHowever the input is a "
            "sequence (<class 'list'>) of length 2.\n  [2, 3]\nnest cannot guarantee that "
            "it is safe to map one to the other.",
        ),
        (
            [1, 2, 3],
            [2, 3],
            ValueError,
            "Could not pack sequence. Structure had 3 atoms, but flat_sequence had 2 "
            "items.  Structure: [1, 2, 3], flat_sequence: [2, 3].",
        ),
        (
            [1, {"b": 2}],
            [2, 3, 4],
            ValueError,
            "Could not pack sequence. Structure had 2 atoms, but flat_sequence had 3 "
            "items.  Structure: [1, {'b': 2}], flat_sequence: [2, 3, 4].",
        ),
        (
            [1],
            3,
            TypeError,
            "Attempted to pack value:\n  3\ninto a structure, but found incompatible type "
            "`<class 'int'>` instead.",
        ),
        (
            [1],
            "a",
            TypeError,
            "Attempted to pack value:\n  a\ninto a structure, but found incompatible type "
            "`<class 'str'>` instead.",
        ),
    ],
)
def test_pack_errors(structure, flat, error, text):
    with pytest.raises(error) as got:
        nest.pack_sequence_as(structure, flat)
    assert str(got.value) == text


def test_same_structure_passes():
    nest.assert_same_structure([1], UserListOfList([1]))
    nest.assert_same_structure({"a": 1}, OrderedDict(a=2))
    nest.assert_same_structure({"a": 1}, defaultdict(int, a=2))
    nest.assert_same_structure(P(1, 2), collections.namedtuple("P", "x y")(1, 2))
    nest.assert_same_structure([1, 2], (1, 2), check_types=False)
    nest.assert_same_structure(Masked(1, 2), Masked(3, 2))
    nest.assert_same_structure([None], [1])


class UserListOfList(list):
    pass


DIFFERENT = [
    ([1, 2], [1], ValueError,
     "The two structures don't have the same number of elements. First structure: "
     "type=list str=[1, 2]. Second structure: type=list str=[1]", "[., .]", "[.]"),
    ([1, 2], (1, 2), TypeError,
     "The two namedtuples don't have the same sequence type. First structure type=list "
     "str=[1, 2] has type list, while second structure type=tuple str=(1, 2) has type "
     "tuple", "[., .]", "(., .)"),
    ([1, 2], 3, ValueError,
     'Substructure "type=list str=[1, 2]" is a sequence, while substructure "type=int '
     'str=3" is not', "[., .]", "."),
    (3, [1, 2], ValueError,
     'Substructure "type=list str=[1, 2]" is a sequence, while substructure "type=int '
     'str=3" is not', ".", "[., .]"),
    ({"a": 1}, {"b": 1}, ValueError,
     "The two dictionaries don't have the same set of keys. First structure has keys "
     "type=list str=['a'], while second structure has keys type=list str=['b']",
     "{'a': .}", "{'b': .}"),
    (P(1, 2), collections.namedtuple("P", "x z")(1, 2), TypeError,
     "The two namedtuples don't have the same sequence type. First structure type=P "
     "str=P(x=1, y=2) has type P, while second structure type=P str=P(x=1, z=2) has "
     "type P", "P(x=., y=.)", "P(x=., z=.)"),
    (A(1, 2), A(3, [2]), ValueError,
     'Substructure "type=list str=[2]" is a sequence, while substructure "type=int '
     'str=2" is not', "A(b=., a=.)", "A(b=., a=[.])"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "two", "error", "text", "dots1", "dots2"), DIFFERENT)
def test_same_structure_errors(one, two, error, text, dots1, dots2):
    with pytest.raises(error) as got:
        nest.assert_same_structure(one, two)
    assert type(got.value) is error
    assert str(got.value) == (
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: type={type(one).__name__} str={one}\n\n"
        f"Second structure: type={type(two).__name__} str={two}\n\n"
        f"More specifically: {text}\nEntire first structure:\n{dots1}\n"
        f"Entire second structure:\n{dots2}"
    )


def test_bad_calls():
    with pytest.raises(TypeError, match="func must be callable, got: 3"):
        nest.map_structure(3, [1])
    with pytest.raises(ValueError, match="Must provide at least one structure"):
        nest.map_structure(lambda: 1)
    with pytest.raises(ValueError, match="not: `foo`"):
        nest.map_structure(lambda x: x, [1], foo=3)
    with pytest.raises(TypeError, match="not supported between"):
        nest.flatten({1: 2, "a": 3})


def test_composites_expand_on_request():
    pair = Pair(1, 2)
    assert nest.flatten([pair, 3]) == [pair, 3]
    assert nest.flatten([pair, 3], expand_composites=True) == [1, 2, 3]
    spec = pair._type_spec
    assert nest.flatten(spec) == [spec]
    assert nest.flatten(spec, expand_composites=True) == ["spec a", "spec b"]
    made = nest.pack_sequence_as([pair, 3], [7, 8, 9], expand_composites=True)
    assert (made[0].a, made[0].b, made[1]) == (7, 8, 9)
    made = nest.map_structure(lambda x: -x, pair, expand_composites=True)
    assert (made.a, made.b) == (-1, -2)


def test_composites_compare_by_spec():
    nest.assert_same_structure(Pair(1, 2), Pair(3, 4), expand_composites=True)
    nest.assert_same_structure(Pair(1, 2), PairSpec(int), expand_composites=True)
    with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs"):
        nest.assert_same_structure(Pair(1, 2), Pair(1.0, 2), expand_composites=True)
    with pytest.raises(ValueError, match="is a sequence, while substructure"):
        nest.assert_same_structure([Pair(1, 2)], [5], expand_composites=True)


def test_up_to():
    assert nest.flatten_up_to([0, 0], [[1], (2, 3)]) == [[1], (2, 3)]
    assert nest.flatten_up_to((0, 0), [1, 2]) == [1, 2]
    made = nest.map_structure_up_to({"a": 0}, len, {"a": [1, 2, 3]})
    assert made == {"a": 3}
    with pytest.raises(ValueError, match="Input structure has length 1, while shallow"):
        nest.flatten_up_to([0, 0], [[1]])
    with pytest.raises(TypeError, match=r"Input has type: <class 'int'>\."):
        nest.flatten_up_to([0, 0], 3)
    with pytest.raises(ValueError, match=r"that are not in the input_tree: \['a'\]"):
        nest.flatten_up_to({"a": 1}, {"b": 3})
    with pytest.raises(TypeError, match="shallow structure has type <class 'tuple'>"):
        nest.flatten_up_to((0, 0), [1, 2], check_types=True)


def test_paths():
    structure = {"a": [1, {"q": 3}], "b": Pair(1, 2), "c": P(4, 5)}
    paths = [path for path, _ in nest.flatten_with_paths(structure, True)]
    assert paths == [("a", 0), ("a", 1, "q"), ("b", 0), ("b", 1), ("c", "x"), ("c", "y")]


def test_no_function_keeps_the_leaves_in_a_reference_cycle():
    """TensorFlow Probability caches by weak references: what lives on gives other gradients."""

    class Leaf:
        pass

    gc.collect()
    gc.disable()
    try:
        for function in (
            nest.flatten,
            nest.flatten_with_paths,
            lambda v: nest.map_structure(lambda x: x, v),
            lambda v: nest.assert_same_structure(v, v),
            lambda v: nest.flatten_up_to([1, {"a": 1}], v),
        ):
            leaf = Leaf()
            reference = weakref.ref(leaf)
            function([leaf, {"a": leaf}])
            del leaf
            assert reference() is None
    finally:
        gc.enable()
