"""`VariableSpec`: the trace type of variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from intaglio.base.dtypes import DType, as_dtype, resource
from intaglio.base.shapes import TensorShape, as_dims
from intaglio.opdef import door
from intaglio.opdef.spec import Spec
from intaglio.state.hooks import HOOKS
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec


class VariableSpec(TypeSpec):
    """A variable's shape and dtype, and whether it is trainable; the identity is not part of it.

    Arguments of one call that are the same variable have equal `alias_id`s.
    """

    __slots__ = ("_alias", "_dims", "_dtype", "_trainable")

    # Guards of call entries may distinguish variables by identity.
    by_identity = True

    def __init__(
        self,
        shape: Any,
        dtype: Any = "float32",
        trainable: bool = True,
        alias_id: int | None = None,
    ) -> None:
        self._dims = as_dims(shape)
        self._dtype = as_dtype(dtype)
        self._trainable = trainable
        self._alias = alias_id

    @property
    def shape(self) -> TensorShape:
        """The shape that assigned values must have."""
        return TensorShape(self._dims)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def trainable(self) -> bool:
        """True if tapes watch the variable automatically."""
        return self._trainable

    @property
    def alias_id(self) -> int | None:
        """The variable's number among those of a call."""
        return self._alias

    @property
    def value_type(self) -> Any:
        return HOOKS.variable

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self._dtype, self._trainable, self._alias

    @property
    def _component_specs(self) -> Any:
        return self.flatten()[0]

    def _to_components(self, value: Any) -> Any:
        return value.handle

    def _from_components(self, components: Any) -> Any:
        return HOOKS.variable_of_handle(components, self._dims, self._dtype, self._trainable)

    def __repr__(self) -> str:
        return (
            f"VariableSpec(shape={self.shape}, dtype={self._dtype!r}, trainable={self._trainable!r}, "
            f"alias_id={self._alias!r})"
        )

    # -- tracing -----------------------------------------------------------------------

    def flatten(self) -> list[Any]:
        handle = TensorSpec((), resource)
        handle.content = Spec(self._dtype, self._dims)
        return [handle]

    def to_tensors(self, value: Any) -> list[Any]:
        # A variable that is passed to a call counts as used: tapes watch it.
        if door.level().watchers:
            value.accessed()
        return [value.handle]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        return self._from_components(next(tensors))

    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        shared = placeholder_context.shared
        if self._alias is not None and self._alias in shared:
            return shared[self._alias]
        handle = placeholder_context.placeholder(self.flatten()[0])
        variable = self._from_components(handle)
        if self._alias is not None:
            shared[self._alias] = variable
        return variable

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        if not hasattr(value, "handle"):
            raise TypeError(f"Can not cast {value!r} to {self!r}")
        return value
