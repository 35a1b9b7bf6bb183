"""Nested structures: lists, tuples, named tuples, mappings, attrs classes and composites.

Follows https://www.tensorflow.org/api_docs/python/tf/nest. Mappings are taken in the order of
their sorted keys. With `expand_composites=True` a value that has a `_type_spec` (a composite
tensor, an ExtensionType) counts as the structure of its components, and a TypeSpec that is not
a TensorSpec as the structure of its component specs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

_ATOMS = frozenset([int, float, bool, str, bytes, complex, type(None), type, type(...)])


def children(value: Any, expand_composites: bool = False) -> list[Any] | None:
    """The parts of a structure in order, or None for an atom."""
    kind = type(value)
    if kind in _ATOMS:
        return None
    if kind is list or kind is tuple:
        return list(value)
    if kind is dict:
        return [value[k] for k in sorted(value)]
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, Mapping):
        return [value[k] for k in sorted(value)]
    attrs = getattr(kind, "__attrs_attrs__", None)
    if attrs is not None:
        return [getattr(value, a.name) for a in attrs]
    if hasattr(kind, "__tf_flatten__"):
        return list(value.__tf_flatten__()[1])
    if expand_composites:
        return _components(value)
    if isinstance(value, (type({}.keys()), type({}.values()), type({}.items()))):
        return list(value)
    return None


def _components(value: Any) -> list[Any] | None:
    spec = composite_spec(value)
    return None if spec is None else [spec._to_components(value)]


def composite_spec(value: Any) -> Any:
    """The TypeSpec of a composite value, or of a spec standing for one; None for others."""
    kind = type(value)
    if hasattr(kind, "_type_spec"):
        spec = value._type_spec
        return spec if hasattr(spec, "_to_components") else None
    if hasattr(kind, "_component_specs"):
        specs = value._component_specs
        return None if specs is value else _SpecAsValue(value, specs)
    return None


class _SpecAsValue:
    """Lets a TypeSpec be taken apart like the values it describes."""

    __slots__ = ("_spec", "_specs")

    def __init__(self, spec: Any, specs: Any) -> None:
        self._spec = spec
        self._specs = specs

    def _to_components(self, value: Any) -> Any:
        return self._specs

    def _from_components(self, components: Any) -> Any:
        return self._spec._from_components(components)


def rebuild(template: Any, parts: Sequence[Any]) -> Any:
    """A structure like `template` with other parts."""
    kind = type(template)
    if kind is list:
        return list(parts)
    if kind is tuple:
        return tuple(parts)
    if hasattr(kind, "_fields"):
        return kind(*parts)
    if isinstance(template, Mapping):
        return _mapping(template, dict(zip(sorted(template), parts, strict=True)))
    if hasattr(kind, "__attrs_attrs__"):
        return kind(*parts)
    if hasattr(kind, "__tf_unflatten__"):
        return kind.__tf_unflatten__(template.__tf_flatten__()[0], tuple(parts))
    spec = composite_spec(template)
    if spec is not None:
        return spec._from_components(parts[0])
    if isinstance(template, (list, tuple)):
        return kind(parts)
    return list(parts)


def _mapping(template: Any, by_key: dict[Any, Any]) -> Any:
    kind = type(template)
    ordered = [(k, by_key[k]) for k in template]
    if kind is dict:
        return dict(ordered)
    if hasattr(template, "default_factory"):
        return kind(template.default_factory, ordered)
    try:
        return kind(ordered)
    except TypeError:  # a read-only mapping of another constructor
        return dict(ordered)


def is_nested(value: Any, expand_composites: bool = False) -> bool:
    """True for a structure, False for an atom."""
    return children(value, expand_composites) is not None


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The atoms of a structure in order. Raises TypeError for dict keys that do not sort."""
    out: list[Any] = []
    _flatten_into(structure, expand_composites, out)
    return out


def _flatten_into(value: Any, expand: bool, out: list[Any]) -> None:
    parts = children(value, expand)
    if parts is None:
        out.append(value)
        return
    for part in parts:
        _flatten_into(part, expand, out)


def flatten_with_paths(
    structure: Any, expand_composites: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """(path, atom) pairs; a path holds keys, indices and field names."""
    out: list[tuple[tuple[Any, ...], Any]] = []

    def walk(value: Any, path: tuple[Any, ...]) -> None:
        parts = children(value, expand_composites)
        if parts is None:
            out.append((path, value))
            return
        for label, part in zip(_labels(value, len(parts)), parts, strict=True):
            walk(part, (*path, label) if label is not None else path)

    walk(structure, ())
    return out


def _labels(value: Any, n: int) -> Iterable[Any]:
    kind = type(value)
    if isinstance(value, Mapping):
        return sorted(value)
    if hasattr(kind, "_fields"):
        return kind._fields
    if hasattr(kind, "__attrs_attrs__"):
        return [a.name for a in kind.__attrs_attrs__]
    return range(n)


def pack_sequence_as(
    structure: Any, flat_sequence: Any, expand_composites: bool = False
) -> Any:
    """The structure with its atoms replaced by those of the flat sequence.

    Raises ValueError if the numbers differ, TypeError if `flat_sequence` is no sequence.
    """
    if children(flat_sequence) is None:
        raise TypeError(
            f"Attempted to pack value:\n  {_short(flat_sequence)}\ninto a structure, but found incompatible type "
            f"`{type(flat_sequence)}` instead."
        )
    flat = list(flat_sequence)
    if children(structure, expand_composites) is None:
        if len(flat) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {_short(structure)}\nHowever the input is a "
                f"sequence ({type(flat_sequence)}) of length {len(flat)}.\n  {_short(flat_sequence)}\nnest cannot "
                "guarantee that it is safe to map one to the other."
            )
        return flat[0]
    atoms = iter(flat)
    try:
        packed = _pack(structure, atoms, expand_composites)
        left = sum(1 for _ in atoms)
    except StopIteration:
        packed, left = None, -1
    if left:
        raise ValueError(
            f"Could not pack sequence. Structure had {len(flatten(structure, expand_composites))} atoms, but "
            f"flat_sequence had {len(flat)} items.  Structure: {_short(structure)}, flat_sequence: {_short(flat)}."
        )
    return packed


def _pack(structure: Any, atoms: Iterator[Any], expand: bool) -> Any:
    parts = children(structure, expand)
    if parts is None:
        return next(atoms)
    packed: list[Any] = []
    for part in parts:
        packed.append(_pack(part, atoms, expand))
    return rebuild(structure, packed)


def map_structure(
    func: Callable[..., Any],
    *structures: Any,
    expand_composites: bool = False,
    check_types: bool = True,
) -> Any:
    """`func` applied to the atoms of structures of one shape; the results in that structure.

    Raises TypeError if `func` is not callable or types of structures differ, ValueError if
    their shapes do.
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structures:
        raise ValueError("Must provide at least one structure")
    first = structures[0]
    if len(structures) == 1:
        return _map(func, first, expand_composites)
    for other in structures[1:]:
        assert_same_structure(first, other, check_types, expand_composites)
    columns = [flatten(s, expand_composites) for s in structures]
    results = [func(*row) for row in zip(*columns, strict=True)]
    return pack_sequence_as(first, results, expand_composites)


def _map(func: Callable[[Any], Any], value: Any, expand: bool) -> Any:
    parts = children(value, expand)
    if parts is None:
        return func(value)
    return rebuild(value, [_map(func, part, expand) for part in parts])


def flatten_up_to(shallow: Any, structure: Any, check_types: bool = False) -> list[Any]:
    """The parts of `structure` that stand where `shallow` has its atoms.

    Raises ValueError or TypeError if `structure` is not at least as deep.
    """
    out: list[Any] = []

    def walk(above: Any, below: Any) -> None:
        parts = children(above)
        if parts is None:
            out.append(below)
            return
        inner = children(below)
        if inner is None:
            raise TypeError(
                f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(below)}."
            )
        if len(inner) != len(parts):
            raise ValueError(
                "The two structures don't have the same sequence length. Input structure has length "
                f"{len(inner)}, while shallow structure has length {len(parts)}."
            )
        if isinstance(above, Mapping) and sorted(above) != sorted(below):
            raise ValueError(
                "The two structures don't have the same keys. Input structure has keys "
                f"{sorted(below)}, while shallow structure has keys {sorted(above)}."
            )
        for x, y in zip(parts, inner, strict=True):
            walk(x, y)

    walk(shallow, structure)
    return out


def map_structure_up_to(
    shallow: Any, func: Callable[..., Any], *structures: Any
) -> Any:
    """`func` applied to what stands where `shallow` has its atoms."""
    columns = [flatten_up_to(shallow, s) for s in structures]
    results = [func(*row) for row in zip(*columns, strict=True)]
    return pack_sequence_as(shallow, results)


# -- comparing -----------------------------------------------------------------------


def assert_same_structure(
    nest1: Any,
    nest2: Any,
    check_types: bool = True,
    expand_composites: bool = False,
) -> None:
    """Raises ValueError if the shapes of two structures differ, TypeError if their types do."""
    if len(flatten(nest1, expand_composites)) != len(
        flatten(nest2, expand_composites)
    ) and (is_nested(nest1) and is_nested(nest2)):
        specifically: tuple[type[Exception], str] | None = (
            ValueError,
            "The two structures don't have the same number of elements. First structure: "
            f"{_typed(nest1)}. Second structure: {_typed(nest2)}",
        )
    else:
        specifically = _difference(nest1, nest2, check_types, expand_composites)
    if specifically is None:
        return
    error, text = specifically
    raise error(
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: {_typed(nest1)}\n\nSecond structure: {_typed(nest2)}\n\n"
        f"More specifically: {text}\n"
        f"Entire first structure:\n{_dots(nest1, expand_composites)}\n"
        f"Entire second structure:\n{_dots(nest2, expand_composites)}"
    )


def _difference(
    a: Any, b: Any, check_types: bool, expand: bool
) -> tuple[type[Exception], str] | None:
    mine, yours = children(a, expand), children(b, expand)
    if mine is None and yours is None:
        return None
    if mine is None or yours is None:
        nested, atom = (a, b) if yours is None else (b, a)
        return (
            ValueError,
            f'Substructure "{_typed(nested)}" is a sequence, while substructure "{_typed(atom)}" is not',
        )
    if check_types:
        found = _type_difference(a, b)
        if found is not None:
            return found
    if len(mine) != len(yours):
        return (
            ValueError,
            "The two structures don't have the same number of elements. First structure: "
            f"{_typed(a)}. Second structure: {_typed(b)}",
        )
    for x, y in zip(mine, yours, strict=True):
        found = _difference(x, y, check_types, expand)
        if found is not None:
            return found
    return None


def _type_difference(a: Any, b: Any) -> tuple[type[Exception], str] | None:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            return (
                ValueError,
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{_typed(list(a))}, while second structure has keys {_typed(list(b))}",
            )
        return None
    kinds = type(a), type(b)
    if kinds[0] is kinds[1] or (
        getattr(kinds[0], "_fields", None) is not None
        and kinds[0].__name__ == kinds[1].__name__
        and getattr(kinds[1], "_fields", None) == kinds[0]._fields
    ):
        return None
    if composite_spec(a) is not None and composite_spec(b) is not None:
        if getattr(a, "_type_spec", a).is_compatible_with(getattr(b, "_type_spec", b)):
            return None
    return (
        TypeError,
        "The two namedtuples don't have the same sequence type. First structure "
        f"{_typed(a)} has type {kinds[0].__name__}, while second structure {_typed(b)} has type {kinds[1].__name__}",
    )


def _typed(value: Any) -> str:
    return f"type={type(value).__name__} str={_short(value)}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 512 else text[:509] + "..."


def _dots(value: Any, expand: bool) -> str:
    dots = _map(lambda _: _Dot(), value, False)
    return str(dots)


class _Dot:
    def __repr__(self) -> str:
        return "."
