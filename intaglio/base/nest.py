"""Nested structures: lists, tuples, mappings, named tuples, attrs classes, data classes.

Follows https://www.tensorflow.org/api_docs/python/tf/nest. Mappings are walked by sorted
key; None, strings, arrays, tensors and sets are leaves. A class with `__tf_flatten__` and
`__tf_unflatten__` is a structure of its own making. With `expand_composites=True` a
`CompositeTensor` counts as the structure of its components, and a TypeSpec that is not a
TensorSpec as the structure of its component specs.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    MappingView,
    MutableMapping,
    Sequence,
)
from typing import Any

from intaglio.base.composite import CompositeTensor

# The kinds of types; each type is classified once.
LEAF, SEQUENCE, MAPPING, NAMED_TUPLE, ATTRS, CUSTOM, VIEW, COMPOSITE, SPEC = range(9)

_kinds: dict[type, int] = {
    list: SEQUENCE,
    tuple: SEQUENCE,
    dict: MAPPING,
    deque: SEQUENCE,
    range: SEQUENCE,
    str: LEAF,
    bytes: LEAF,
    int: LEAF,
    float: LEAF,
    bool: LEAF,
    type(None): LEAF,
}


def _classify(kind: type) -> int:
    """The kind of structure of a type's values; memoized."""
    if issubclass(kind, CompositeTensor):
        found = COMPOSITE
    elif hasattr(kind, "_component_specs"):
        found = SPEC
    elif hasattr(kind, "__tf_flatten__") and hasattr(kind, "__tf_unflatten__"):
        found = CUSTOM
    elif issubclass(kind, Mapping):
        found = MAPPING
    elif issubclass(kind, (str, bytes)):
        found = LEAF
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        found = NAMED_TUPLE
    elif issubclass(kind, Sequence):
        found = SEQUENCE
    elif hasattr(kind, "__attrs_attrs__"):
        found = ATTRS
    else:
        found = VIEW if issubclass(kind, MappingView) else LEAF
    _kinds[kind] = found
    return found


def kind_of(value: Any, expand_composites: bool = False) -> int:
    """LEAF, or the kind of structure that the value is."""
    kind = _kinds.get(type(value))
    if kind is None:
        kind = _classify(type(value))
    if kind < COMPOSITE:
        return kind
    if not expand_composites or (kind == SPEC and value._component_specs is value):
        return LEAF
    return kind


def is_nested(seq: Any, expand_composites: bool = False) -> bool:
    """True for a structure that the functions here open.

    >>> tf.nest.is_nested([1]), tf.nest.is_nested("text")
    (True, False)
    """
    return kind_of(seq, expand_composites) != LEAF


def children(value: Any, expand_composites: bool = False) -> list[Any] | None:
    """The parts of a structure in order, or None for a leaf."""
    kind = kind_of(value, expand_composites)
    return None if kind == LEAF else list(items(value, kind))


def items(value: Any, kind: int) -> Iterable[Any]:
    """The parts of a structure of that kind, in the order of flattening.

    Raises TypeError if the keys of a mapping cannot be sorted.
    """
    if kind in (SEQUENCE, NAMED_TUPLE, VIEW):
        return value
    if kind == MAPPING:
        return [value[key] for key in sorted(value)]
    if kind == ATTRS:
        return [getattr(value, a.name) for a in type(value).__attrs_attrs__]
    if kind == CUSTOM:
        return _custom_parts(value)[1]
    return (_components(value, kind),)


def labels(value: Any, kind: int) -> Iterable[Any] | None:
    """The keys, field names or positions of the parts; None for a composite's only part."""
    if kind == MAPPING:
        return sorted(value)
    if kind == NAMED_TUPLE:
        return value._fields
    if kind == ATTRS:
        return [a.name for a in type(value).__attrs_attrs__]
    return None if kind >= COMPOSITE else range(len(list(items(value, kind))))


def _components(value: Any, kind: int) -> Any:
    """The structure of tensors behind a composite, or of specs behind its spec."""
    if kind == COMPOSITE:
        return value._type_spec._to_components(value)
    return value._component_specs


def _custom_parts(value: Any) -> tuple[Any, tuple[Any, ...]]:
    result = value.__tf_flatten__()
    if not (isinstance(result, tuple) and len(result) == 2):
        raise TypeError(
            f"{type(value).__name__}.__tf_flatten__ must return (metadata, components),"
            f" got {result!r}"
        )
    return result[0], tuple(result[1])


# -- flattening ----------------------------------------------------------------------


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure, in order; a leaf alone gives a list of itself.

    >>> tf.nest.flatten({"b": [1, (2, 3)], "a": 4})
    [4, 1, 2, 3]
    """
    leaves: list[Any] = []
    if expand_composites:
        _collect_open(structure, leaves)
    else:
        _collect(structure, leaves)
    return leaves


def _collect(value: Any, leaves: list[Any]) -> None:
    kind = _kinds.get(type(value))
    if kind is None:
        kind = _classify(type(value))
    if kind == LEAF or kind >= COMPOSITE:
        leaves.append(value)
    elif kind in (SEQUENCE, NAMED_TUPLE):
        for item in value:
            _collect(item, leaves)
    else:
        for item in items(value, kind):
            _collect(item, leaves)


def _collect_open(value: Any, leaves: list[Any]) -> None:
    kind = kind_of(value, True)
    if kind == LEAF:
        leaves.append(value)
    else:
        for item in items(value, kind):
            _collect_open(item, leaves)


def flatten_with_paths(
    structure: Any, expand_composites: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """(path, leaf) pairs; a path holds keys, field names and positions."""
    found: list[tuple[tuple[Any, ...], Any]] = []
    _walk_with_path(structure, (), expand_composites, found)
    return found


def _walk_with_path(
    value: Any, path: tuple[Any, ...], expand: bool, found: list[tuple[tuple[Any, ...], Any]]
) -> None:
    """Appends the leaves below `path`.

    No local function: one that calls itself is a reference cycle, which keeps the leaves alive until the
    garbage collector runs. Clients hold tensors by weak references.
    """
    kind = kind_of(value, expand)
    if kind == LEAF:
        found.append((path, value))
        return
    names = labels(value, kind)
    if names is None:
        _walk_with_path(_components(value, kind), path, expand, found)
        return
    for name, item in zip(names, items(value, kind), strict=True):
        _walk_with_path(item, (*path, name), expand, found)


def rebuild(like: Any, parts: Sequence[Any]) -> Any:
    """A structure like `like` with other parts, given in the order of `children`.

    Raises TypeError if the type of `like` cannot be rebuilt from its components.
    """
    return _rebuilt(like, parts, kind_of(like, True))


def _rebuilt(like: Any, parts: Sequence[Any], kind: int) -> Any:
    cls = type(like)
    if cls is list:
        return list(parts)
    if cls is tuple:
        return tuple(parts)
    if kind == MAPPING:
        return _rebuilt_mapping(like, dict(zip(sorted(like), parts, strict=True)))
    if kind in (NAMED_TUPLE, ATTRS):
        return cls(*parts)
    if kind == CUSTOM:
        return cls.__tf_unflatten__(_custom_parts(like)[0], tuple(parts))
    if kind == COMPOSITE:
        return like._type_spec._from_components(parts[0])
    if kind == SPEC:
        return like._from_components(parts[0])
    return list(parts) if kind == VIEW or cls is range else cls(parts)


def _rebuilt_mapping(like: Any, values: dict[Any, Any]) -> Any:
    cls = type(like)
    if cls is dict:
        return {key: values[key] for key in like}
    if isinstance(like, defaultdict):
        mapping: Any = cls(like.default_factory)
        mapping.update((key, values[key]) for key in like)
        return mapping
    try:
        if isinstance(like, MutableMapping):  # the constructor of Counter counts its argument
            mapping = cls()
            for key in like:
                mapping[key] = values[key]
            return mapping
        return cls({key: values[key] for key in like})
    except TypeError as e:
        raise TypeError(
            f"Error creating an object of type {cls} like {like}. Note that it must "
            "accept a single positional argument representing an iterable of "
            f"key-value pairs, in addition to self. Cause: {e}"
        ) from None


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """`structure` with its leaves replaced by those of `flat_sequence`.

    Raises TypeError if `flat_sequence` is no sequence, ValueError if it is too long or
    too short.

    >>> tf.nest.pack_sequence_as({"a": (0, 0), "b": 0}, [1, 2, 3])
    {'a': (1, 2), 'b': 3}
    """
    if kind_of(flat_sequence) not in (SEQUENCE, NAMED_TUPLE, VIEW):
        raise TypeError(
            f"Attempted to pack value:\n  {_cut(flat_sequence)}\ninto a structure, but "
            f"found incompatible type `{type(flat_sequence)}` instead."
        )
    flat = list(flat_sequence)
    if kind_of(structure, expand_composites) == LEAF:
        if len(flat) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  "
                f"{_cut(structure)}\nHowever the input is a sequence "
                f"({type(flat_sequence)}) of length {len(flat)}.\n  {_cut(flat_sequence)}"
                "\nnest cannot guarantee that it is safe to map one to the other."
            )
        return flat[0]
    wanted = flatten(structure, expand_composites)
    if len(wanted) != len(flat):
        raise ValueError(
            f"Could not pack sequence. Structure had {len(wanted)} atoms, but "
            f"flat_sequence had {len(flat)} items.  Structure: {_cut(structure)}, "
            f"flat_sequence: {_cut(flat_sequence)}."
        )
    return _packed(structure, iter(flat), expand_composites)


def _packed(structure: Any, source: Iterator[Any], expand: bool) -> Any:
    kind = kind_of(structure, expand)
    if kind == LEAF:
        return next(source)
    parts = [_packed(item, source, expand) for item in items(structure, kind)]
    return _rebuilt(structure, parts, kind)


def _cut(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 1000 else f"{text[:1000]}..."


def map_structure(
    func: Callable[..., Any],
    *structure: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    **kwargs: Any,
) -> Any:
    """`func` of corresponding leaves, in a structure like the first.

    Raises TypeError if `func` cannot be called, ValueError or TypeError if the
    structures differ (see `assert_same_structure`).

    With `check_types` the types of sequences must agree as well.

    >>> tf.nest.map_structure(lambda x, y: x + y, {"a": (1, 2)}, {"a": (10, 20)})
    {'a': (11, 22)}
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, "
            f"not: `{'`, `'.join(kwargs)}`"
        )
    first = structure[0]
    if len(structure) == 1:
        return _mapped(func, first, expand_composites)
    for other in structure[1:]:
        assert_same_structure(first, other, check_types, expand_composites)
    columns = [flatten(s, expand_composites) for s in structure]
    mapped = iter([func(*leaves) for leaves in zip(*columns, strict=True)])
    return _packed(first, mapped, expand_composites)


def _mapped(func: Callable[[Any], Any], value: Any, expand: bool) -> Any:
    kind = kind_of(value, expand)
    if kind == LEAF:
        return func(value)
    parts = [_mapped(func, item, expand) for item in items(value, kind)]
    return _rebuilt(value, parts, kind)


# -- one structure above another -------------------------------------------------------


def flatten_up_to(shallow: Any, structure: Any, check_types: bool = False) -> list[Any]:
    """The parts of `structure` where `shallow` has its leaves.

    Raises ValueError if lengths or keys differ, TypeError if `structure` is not as deep,
    or, with `check_types`, if types differ.
    """
    found: list[Any] = []
    _collect_up_to(shallow, structure, check_types, found)
    return found


def _collect_up_to(above: Any, below: Any, check_types: bool, found: list[Any]) -> None:
    kind = kind_of(above)
    if kind == LEAF:
        found.append(below)
        return
    under = kind_of(below)
    if under == LEAF:
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input "
            f"has type: {type(below)}."
        )
    if check_types and not _same_type(above, below, kind, under):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has "
            f"type {type(below)}, while shallow structure has type {type(above)}."
        )
    upper, lower = list(items(above, kind)), list(items(below, under))
    if len(upper) != len(lower):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure "
            f"has length {len(lower)}, while shallow structure has length {len(upper)}."
        )
    if kind == MAPPING and under == MAPPING and set(above) != set(below):
        raise ValueError(
            "The shallow_tree's keys are not a subset of the input_tree's keys. The "
            "shallow_tree has the following keys that are not in the input_tree: "
            f"{sorted(set(above) - set(below))}."
        )
    for x, y in zip(upper, lower, strict=True):
        _collect_up_to(x, y, check_types, found)


def map_structure_up_to(shallow: Any, func: Callable[..., Any], *structures: Any) -> Any:
    """`func` applied to the parts where `shallow` has its leaves."""
    columns = [flatten_up_to(shallow, s) for s in structures]
    results = [func(*row) for row in zip(*columns, strict=True)]
    return pack_sequence_as(shallow, results)


# -- comparing -----------------------------------------------------------------------


class _Dot:
    """An object that prints as a dot, for the leaves of a structure in a message."""

    def __repr__(self) -> str:
        return "."


_DOT = _Dot()


class _Different(Exception):
    """The difference between two structures, with the class of the error to raise for it."""

    def __init__(self, error: type[Exception], text: str) -> None:
        super().__init__(text)
        self.error = error


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Passes if both structures are nested alike.

    Raises ValueError if they differ in nesting, length or keys, TypeError if they differ
    in type only. Lists of subclasses, mappings and equal named tuples count as one type.

    With `check_types` the types of sequences must agree as well.

    >>> tf.nest.assert_same_structure({"a": (1, 2)}, {"a": (3, 4)})
    """
    try:
        _compare(nest1, nest2, check_types, expand_composites)
    except _Different as e:
        raise e.error(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_shown(nest1)}\n\nSecond structure: {_shown(nest2)}\n\n"
            f"More specifically: {e}\n"
            f"Entire first structure:\n{_dotted(nest1)}\n"
            f"Entire second structure:\n{_dotted(nest2)}"
        ) from None


def _shown(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def _dotted(structure: Any) -> str:
    return str(map_structure(lambda _: _DOT, structure))


def _compare(one: Any, two: Any, check_types: bool, expand: bool) -> None:
    kind1, kind2 = kind_of(one, expand), kind_of(two, expand)
    if kind1 == LEAF and kind2 == LEAF:
        return
    if kind1 == LEAF or kind2 == LEAF:
        nested, plain = (one, two) if kind2 == LEAF else (two, one)
        raise _Different(
            ValueError,
            f'Substructure "{_shown(nested)}" is a sequence, while substructure '
            f'"{_shown(plain)}" is not',
        )
    if kind1 >= COMPOSITE or kind2 >= COMPOSITE:
        _compare_composites(one, two, check_types)
    elif check_types:
        _compare_types(one, two, kind1, kind2)
    first, second = list(items(one, kind1)), list(items(two, kind2))
    if len(first) != len(second):
        raise _Different(
            ValueError,
            "The two structures don't have the same number of elements. First "
            f"structure: {_shown(one)}. Second structure: {_shown(two)}",
        )
    for a, b in zip(first, second, strict=True):
        _compare(a, b, check_types, expand)


def _compare_types(one: Any, two: Any, kind1: int, kind2: int) -> None:
    if kind1 == MAPPING and kind2 == MAPPING:
        keys1, keys2 = list(one), list(two)
        if set(keys1) != set(keys2):
            raise _Different(
                ValueError,
                "The two dictionaries don't have the same set of keys. First structure "
                f"has keys {_shown(keys1)}, while second structure has keys "
                f"{_shown(keys2)}",
            )
    elif not _same_type(one, two, kind1, kind2):
        raise _Different(
            TypeError,
            "The two namedtuples don't have the same sequence type. First structure "
            f"{_shown(one)} has type {type(one).__name__}, while second structure "
            f"{_shown(two)} has type {type(two).__name__}",
        )


def _same_type(one: Any, two: Any, kind1: int, kind2: int) -> bool:
    if type(one) is type(two) or (kind1 == MAPPING and kind2 == MAPPING):
        return True
    if kind1 == NAMED_TUPLE and kind2 == NAMED_TUPLE:
        return type(one).__name__ == type(two).__name__ and one._fields == two._fields
    return isinstance(one, list) and isinstance(two, list)


def _compare_composites(one: Any, two: Any, check_types: bool) -> None:
    spec1, spec2 = composite_spec(one), composite_spec(two)
    if spec1 is None or spec2 is None:
        raise _Different(
            ValueError,
            f'Substructure "{_shown(one)}" is '
            f"{'not ' if spec1 is None else ''}a CompositeTensor, while substructure "
            f'"{_shown(two)}" is{" not" if spec2 is None else ""}',
        )
    # Shapes may differ.
    if check_types and spec1.most_specific_common_supertype([spec2]) is None:
        raise _Different(
            ValueError,
            f"Incompatible CompositeTensor TypeSpecs: {_shown(spec1)} vs. {_shown(spec2)}",
        )


def composite_spec(value: Any) -> Any:
    """The TypeSpec of a composite value, or the spec itself; None for other values."""
    kind = kind_of(value, True)
    if kind == COMPOSITE:
        return value._type_spec
    return value if kind == SPEC else None
