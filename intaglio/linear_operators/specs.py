"""The type of a linear operator: its class, the types of its parts, and all that is static."""

from __future__ import annotations

from typing import Any

from intaglio.opdef.tensor import Tensor
from intaglio.type_specs.type_spec import TypeSpec, type_spec_of


def has_tensors(value: Any) -> bool:
    """True for a tensor, an operator, a variable, or a list of such."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(has_tensors(v) for v in value)
    return isinstance(value, Tensor) or hasattr(value, "_type_spec")


def _spec(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_spec(v) for v in value]
    return type_spec_of(value)


class LinearOperatorSpec(TypeSpec):
    """The type of linear operators of one class, by which they cross a `tf.function`."""

    __slots__ = ("_kind", "_parts", "_static")

    def __init__(self, kind: type, parts: Any, static: Any) -> None:
        self._kind = kind
        self._parts: dict[str, Any] = dict(parts)
        self._static: tuple[tuple[str, Any], ...] = tuple(static)

    @classmethod
    def of(cls, operator: Any) -> LinearOperatorSpec:
        """The spec of an operator."""
        parameters = operator.parameters
        parts = {k: _spec(v) for k, v in parameters.items() if has_tensors(v)}
        static = tuple((k, v) for k, v in parameters.items() if k not in parts)
        return cls(operator.__class__, parts, static)

    @property
    def value_type(self) -> Any:
        """The class of the operators."""
        return self._kind

    def _serialize(self) -> tuple[Any, ...]:
        return self._kind, self._parts, self._static

    @property
    def _component_specs(self) -> Any:
        return self._parts

    def _to_components(self, value: Any) -> Any:
        return {k: value.parameters[k] for k in self._parts}

    def _from_components(self, components: Any) -> Any:
        return self._kind(**components, **dict(self._static))
