"""`tensorflow.python.util.nest` beyond `tf.nest`: paths, and a structure above another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from intaglio.base import nest

is_nested_or_composite = nest.is_nested


def flatten_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[Any]:
    """The parts of `input_tree` where `shallow_tree` has its leaves.

    Raises TypeError if types differ or `input_tree` is not as deep, ValueError if lengths or
    keys differ.
    """
    return nest.flatten_up_to(shallow_tree, input_tree, check_types)


def map_structure_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """`func` of the parts of the inputs where `shallow_tree` has its leaves.

    `check_types` and `expand_composites` are options; what else is named is given to `func`.
    """
    check = kwargs.pop("check_types", True)
    kwargs.pop("expand_composites", None)
    columns = [nest.flatten_up_to(shallow_tree, one, check) for one in inputs]
    results = [func(*row, **kwargs) for row in zip(*columns, strict=True)]
    return nest.pack_sequence_as(shallow_tree, results)


def sequence_like(instance: Any, args: Sequence[Any]) -> Any:
    """A structure like `instance`, one level deep, of other parts."""
    return nest.rebuild(instance, list(args))


def yield_value(iterable: Any) -> Iterator[Any]:
    """The parts of a structure, one level deep, in order."""
    yield from nest.children(iterable) or ()


def yield_sorted_items(iterable: Any) -> Iterator[tuple[Any, Any]]:
    """(key, part) of a structure, one level deep, in order."""
    kind = nest.kind_of(iterable)
    yield from zip(nest.labels(iterable, kind) or (), nest.items(iterable, kind), strict=True)


def is_mapping(value: Any) -> bool:
    """True for a mapping."""
    return isinstance(value, Mapping)


def is_attrs(value: Any) -> bool:
    """True for an instance of a class of the package attrs."""
    return hasattr(type(value), "__attrs_attrs__")


def is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """True for a named tuple; with `strict`, of no class derived from one."""
    kind: Any = type(instance)
    named = isinstance(instance, tuple) and isinstance(getattr(kind, "_fields", None), tuple)
    return named and (not strict or kind.__base__ is tuple)


def list_to_tuple(structure: Any) -> Any:
    """The structure with tuples for its lists."""
    if isinstance(structure, Mapping) or is_namedtuple(structure) or is_attrs(structure):
        parts = nest.children(structure)
        return nest.rebuild(structure, [list_to_tuple(part) for part in parts or ()])
    if isinstance(structure, (list, tuple)):
        parts_of: Sequence[Any] = structure  # pyright: ignore[reportUnknownVariableType]  # any parts
        return tuple(list_to_tuple(part) for part in parts_of)
    return structure


def flatten_with_tuple_paths(
    structure: Any, expand_composites: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """(path, leaf) pairs; a path is a tuple of keys, field names and positions."""
    return nest.flatten_with_paths(structure, expand_composites)


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """(path, leaf) pairs; a path is a string."""
    pairs = nest.flatten_with_paths(structure, expand_composites)
    return [(separator.join(map(str, path)), leaf) for path, leaf in pairs]


def yield_flat_paths(nested: Any, expand_composites: bool = False) -> Iterator[tuple[Any, ...]]:
    """The paths of the leaves."""
    for path, _ in nest.flatten_with_paths(nested, expand_composites):
        yield path


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`func(path, *leaves)` for the leaves of structures that are nested alike."""
    expand = kwargs.pop("expand_composites", False)
    for other in structure[1:]:
        nest.assert_same_structure(structure[0], other, kwargs.get("check_types", True), expand)
    kwargs.pop("check_types", None)
    paths = yield_flat_paths(structure[0], expand)
    leaves = [nest.flatten(one, expand) for one in structure]
    results = [func(path, *row, **kwargs) for path, *row in zip(paths, *leaves, strict=True)]
    return nest.pack_sequence_as(structure[0], results, expand)


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`func("path/of/leaf", *leaves)` for the leaves of structures that are nested alike."""

    def named(path: tuple[Any, ...], *leaves: Any, **rest: Any) -> Any:
        return func("/".join(map(str, path)), *leaves, **rest)

    return map_structure_with_tuple_paths(named, *structure, **kwargs)


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """`func(path, *parts)` where `shallow_tree` has its leaves."""
    kwargs.pop("check_types", None)
    kwargs.pop("expand_composites", None)
    columns = [flatten_up_to(shallow_tree, one) for one in inputs]
    paths = yield_flat_paths(shallow_tree)
    results = [func(path, *row, **kwargs) for path, *row in zip(paths, *columns, strict=True)]
    return nest.pack_sequence_as(shallow_tree, results)


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Passes if `shallow_tree` is the upper part of `input_tree`.

    Raises TypeError if types differ or `input_tree` is not as deep, ValueError if lengths or
    keys differ.
    """
    flatten_up_to(shallow_tree, input_tree, check_types)


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """The upper part of `structure` that `traverse_fn` descends into.

    It returns True or False for a part, or a structure of these for the parts below. Leaves
    of the result are False where it does not descend, else True.
    """
    answer = traverse_fn(structure)
    if not nest.is_nested(structure, expand_composites):
        if not isinstance(answer, bool):
            raise TypeError(f"traverse_fn returned {answer!r} for a leaf; it must be a bool.")
        return answer
    if isinstance(answer, bool):
        if not answer:
            return False
        parts = nest.children(structure, expand_composites) or ()
        below = [get_traverse_shallow_structure(traverse_fn, part) for part in parts]
        return nest.rebuild(structure, below)
    assert_shallow_structure(answer, structure)

    def descend(deeper: bool, part: Any) -> Any:
        if not isinstance(deeper, bool):  # pyright: ignore[reportUnnecessaryIsInstance]  # traverse_fn is a caller's
            raise TypeError(f"traverse_fn returned {deeper!r} for a part; it must be a bool.")
        return get_traverse_shallow_structure(traverse_fn, part) if deeper else False

    return map_structure_up_to(answer, descend, answer, structure)
