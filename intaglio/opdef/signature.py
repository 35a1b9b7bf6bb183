"""Op signatures: `"x: T, y: T; axis: int = 0 -> z: T"`.

Inputs come before the semicolon, attributes after it, and after the arrow the
outputs. A type is a dtype's name, a type variable (a class attribute of the op with the
dtypes allowed, or an attribute of kind `type`), `N*T` for N tensors of one type, or `*Tin`
for tensors of the types that the attribute `Tin` lists.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from intaglio.base.dtypes import BY_NAME, DType

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "<required>"})()
KINDS = frozenset(
    k
    for base in ("int", "float", "bool", "str", "type", "shape", "tensor", "func")
    for k in (base, f"list({base})")
) | {"object"}


class Arg(NamedTuple):
    """An input or output of an op.

    `dtype` is set for a fixed type, `var` for a type variable; `number` names the attribute
    that counts a homogeneous list, `types` the attribute that lists a mixed list's types.
    """

    name: str
    dtype: DType | None
    var: str | None
    number: str | None
    types: str | None

    @property
    def is_list(self) -> bool:
        return self.number is not None or self.types is not None


class Attr(NamedTuple):
    """An attribute: a value that is part of the node and not computed by the graph."""

    name: str
    kind: str
    default: Any


class Signature(NamedTuple):
    """A parsed signature."""

    inputs: tuple[Arg, ...]
    attrs: tuple[Attr, ...]
    outputs: tuple[Arg, ...]
    text: str

    @property
    def has_lists(self) -> bool:
        """True if an input is a list of tensors."""
        return any(a.is_list for a in self.inputs)

    def group(self, values: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
        """A node's flat inputs as one value, or one list, for each input."""
        return _group(self.inputs, values, attrs)

    def group_outputs(self, values: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
        """A node's flat outputs as one value, or one list, for each output."""
        return _group(self.outputs, values, attrs)


def _group(args: tuple[Arg, ...], values: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
    grouped: list[Any] = []
    at = 0
    for arg in args:
        if not arg.is_list:
            if at >= len(values):
                raise ValueError(f"There are {len(values)} tensors, and none for '{arg.name}'.")
            grouped.append(values[at])
            at += 1
            continue
        n = attrs[arg.number] if arg.number else len(attrs[arg.types])  # type: ignore[index]  # a list has a number or types
        grouped.append(list(values[at : at + n]))
        at += n
    return grouped


@functools.cache
def parse(text: str) -> Signature:
    """Parses a signature. Raises ValueError with the reason if it is malformed."""
    if "->" not in text:
        raise ValueError(f"signature {text!r} has no '->'")
    left, right = text.split("->")
    inputs, _, attrs = left.partition(";")
    return Signature(
        tuple([_arg(p, text) for p in _parts(inputs)]),
        tuple([_attr(p, text) for p in _parts(attrs)]),
        tuple([_arg(p, text) for p in _parts(right)]),
        text,
    )


def _parts(text: str) -> list[str]:
    """The parts between commas; a comma inside brackets does not separate."""
    parts: list[str] = []
    for piece in text.split(","):
        if parts and _open_brackets(parts[-1]):
            parts[-1] = f"{parts[-1]},{piece}"
        else:
            parts.append(piece)
    return [p.strip() for p in parts if p.strip()]


def _open_brackets(text: str) -> bool:
    return any(text.count(a) > text.count(b) for a, b in ("[]", "()"))


def _arg(part: str, text: str) -> Arg:
    name, colon, kind = (p.strip() for p in part.partition(":"))
    if not colon or not name.isidentifier():
        raise ValueError(f"{part!r} in signature {text!r} is not 'name: type'")
    if kind.startswith("*"):
        return Arg(name, None, None, None, kind[1:])
    count, star, element = kind.partition("*")
    if not star:
        count, element = "", kind
    dtype = BY_NAME.get(element)
    return Arg(name, dtype, None if dtype else element, count or None, None)


# Memoized, as a few defaults occur in hundreds of signatures.
_literal = functools.cache(ast.literal_eval)


def _attr(part: str, text: str) -> Attr:
    head, eq, default = (p.strip() for p in part.partition("="))
    name, colon, kind = (p.strip() for p in head.partition(":"))
    if not colon or kind not in KINDS:
        raise ValueError(
            f"{part!r} in signature {text!r} is not 'name: kind' with a kind of {sorted(KINDS)}"
        )
    if not eq:
        return Attr(name, kind, REQUIRED)
    value = BY_NAME[default] if kind == "type" and default in BY_NAME else _literal(default)
    return Attr(name, kind, tuple(value) if isinstance(value, list) else value)
