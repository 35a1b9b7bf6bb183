"""Trace types: what tracing specialises an argument on, and when a trace can be reused.

Follows https://www.tensorflow.org/api_docs/python/tf/types/experimental/TraceType.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable


class TraceType(metaclass=abc.ABCMeta):
    """The type of an argument as tracing sees it.

    A trace for a type is valid for every argument whose type is a subtype of it. Users'
    classes define `is_subtype_of`, `most_specific_common_supertype`, `__eq__` and
    `__hash__`; `placeholder_value` returns what the traced function receives for the
    argument (by default the argument of the call that traces).
    """

    @abc.abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """True if a trace for `other` is valid for values of this type."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """The most specific type that this type and all the others are subtypes of."""

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...

    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        """What the function is traced with. A `PlaceholderContext` makes placeholders."""
        return NotImplemented

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors that `value` hands to the graph."""
        return []

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """A value of this type from the next of the graph's tensors."""
        return self.placeholder_value(None)

    def flatten(self) -> list[TraceType]:
        """The TensorSpecs of the tensors that `to_tensors` returns."""
        return []

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """`value` as a value of this type. Raises TypeError if it cannot be one."""
        return value

    _to_tensors = to_tensors
    _from_tensors = from_tensors
    _flatten = flatten
    _cast = cast


class TracingContext:
    """What `__tf_tracing_type__` is given: identities shared by the arguments of a call."""


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """A class whose objects define their own trace type."""

    def __tf_tracing_type__(self, context: TracingContext) -> TraceType:
        """The object's trace type."""
        ...


class Tracing(TracingContext):
    """The context of one call's arguments.

    `alias(handle)` numbers resources: the same number for the same resource, so that a call
    with one variable twice and a call with two variables have different types. `deleted` is
    called when an object that was typed by identity goes away.
    """

    __slots__ = ("_aliases", "_keep", "deleted", "for_signature")

    def __init__(
        self, deleted: Callable[[Any], None] | None = None, for_signature: bool = False
    ) -> None:
        self.deleted = deleted
        self.for_signature = for_signature
        self._aliases: dict[Any, int] = {}
        self._keep: list[Any] = []

    def alias(self, identity: Any) -> int:
        """The number of the object `identity`, counted in the order of first use."""
        key = identity if isinstance(identity, int) else id(identity)
        self._keep.append(identity)
        return self._aliases.setdefault(key, len(self._aliases))

    def alias_global_id(self, identity: Any) -> int:
        """The same as `alias`, under the name of TensorFlow's context."""
        return self.alias(identity)


class PlaceholderContext:
    """Where a trace's placeholders are created and how they are named.

    `name` is the parameter's name while its placeholders are created. `shared` has what is to
    be created once only: a variable of two arguments, by its alias number.
    """

    __slots__ = ("make", "name", "shared")

    def __init__(self, make: Callable[[Any, str], Any] | None = None, name: str = "") -> None:
        self.make = make
        self.name = name
        self.shared: dict[int, Any] = {}

    def placeholder(self, spec: Any, name: str | None = None) -> Any:
        """A placeholder of a TensorSpec in the graph that is being traced."""
        if self.make is None:
            raise ValueError(
                "no graph is being traced: a placeholder_value of tensors needs the context it is given"
            )
        return self.make(spec, name or spec.name or self.name or "placeholder")


def common_supertype(types: Sequence[TraceType]) -> TraceType | None:
    """The most specific type above all of the given, or None."""
    return types[0].most_specific_common_supertype(types[1:]) if types else None
