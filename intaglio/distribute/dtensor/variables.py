"""`DVariable`: a variable with a layout, which its value keeps.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/dtensor/DVariable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio import xla
from intaglio.base import errors, shapes
from intaglio.distribute.dtensor.layouts import Layout
from intaglio.distribute.dtensor.placing import call_with_layout, copy_to_mesh, relayout
from intaglio.distribute.dtensor.tensors import DTensor, of_result
from intaglio.opdef import convert, door, raw
from intaglio.opdef.keys import fresh
from intaglio.runtime.eager import register_reader
from intaglio.runtime.resources import Resource
from intaglio.state.variable import ResourceVariable, UnreadVariable, Variable
from intaglio.trace.scopes import init_scope


class DResource(Resource):
    """A variable's storage on the devices of a mesh."""

    __slots__ = ("layout",)

    layout: Layout

    @property
    def sharding(self) -> Any:
        """How programs divide the value."""
        return xla.sharding.sharding(self.layout.to_string())

    def assign(self, value: Any) -> None:
        """Makes an array the value, of the host or of the mesh, with the variable's layout."""
        if isinstance(value, (np.ndarray, np.generic)):
            super().assign(value)
        placed = xla.sharding.placed(value, self.layout.to_string())
        with self.lock:
            self._value = None
            self._on_device = placed


class DVariable(ResourceVariable):
    """A variable divided among the devices of a mesh.

    The layout is that of the initial value, or `layout`. Raises InvalidArgumentError without
    one, or if the two differ.
    """

    def __init__(
        self,
        initial_value: Any,
        *args: Any,
        dtype: Any = None,
        layout: Layout | None = None,
        **kwargs: Any,
    ) -> None:
        with init_scope():
            if callable(initial_value):
                initial_value = call_with_layout(initial_value, layout)
            found = getattr(initial_value, "_layout", None)
            if layout is None and found is None:
                raise errors.invalid_argument(
                    "Neither layout nor DTensor initial value are provided."
                )
            if layout is not None and found is not None and layout != found:
                raise errors.invalid_argument(
                    f"Conflicting layout are provided for initial value layout ({found}) and "
                    f"variable ({layout})."
                )
            layout = layout or found
            assert layout is not None
            if found is None:
                initial_value = copy_to_mesh(convert.to_tensor(initial_value, dtype), layout)
        self._layout = layout
        super().__init__(initial_value, *args, dtype=dtype, **kwargs)
        plain = self._resource
        self._resource = DResource(plain.spec, plain.name)
        self._resource.layout = layout
        value = initial_value if dtype is None else convert.to_tensor(initial_value, dtype)
        self._resource.assign(value.on_device() if isinstance(value, DTensor) else plain.read())
        self._handle = DTensor(None, layout, self._resource)
        # Whether checkpoints have the value in bfloat16.
        self.save_as_bf16 = False

    @property
    def layout(self) -> Layout:
        """The layout."""
        return self._layout

    @property
    def device(self) -> str:
        """The device of the mesh as a whole."""
        return self._handle.device

    def value(self) -> Any:
        return self._read(None)

    def _read_now(self, here: Any, resource: Any) -> Any:
        tensor = of_result(resource.on_device(), self._layout.mesh)
        if here.watchers:
            tensor._key = fresh()
            for watcher in here.watchers:
                attrs = {"dtype": self._dtype}
                watcher.record(raw.ReadVariableOp, attrs, (self._handle,), (tensor,))
        return tensor

    def numpy(self) -> Any:
        return self.value().numpy()

    def _fits(self, tensor: Any) -> bool:
        return False  # values go through ops, which see to their layouts

    def assign(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Makes a value with any layout the variable's. Raises UnimplementedError for one without."""
        if door.level().eager and isinstance(value, Variable):
            value = value.value()
        is_elsewhere = isinstance(value, DTensor) and value._layout != self._layout
        if is_elsewhere and value.dims == self._dims:
            value = relayout(value, self._layout)
        tensor = convert.to_tensor(value, self._dtype)
        if not shapes.compatible(self._dims, tensor.dims):
            return super().assign(tensor, *args, **kwargs)  # which raises the error
        read_value = kwargs.get("read_value", True)
        done = raw.AssignVariableOp(self._handle, tensor, validate_shape=True)
        return self._changed(done) if read_value else done

    def _changed(self, operation: Any) -> Any:
        unread = object.__new__(UnreadDVariable)
        unread.follow(self if self._parent is None else self._parent, operation)
        return unread

    def _restore(self, value: Any) -> None:
        self._resource.assign(np.asarray(value._array))

    def __repr__(self) -> str:
        shape = shapes.text(self._dims)
        head = f"<tf.Variable '{self.name}' shape={shape} dtype={self._dtype.name}"
        if not door.level().eager:
            return f"{head}>"
        return f"{head}, value={self.value()._text()}>"

    __str__ = __repr__


class UnreadDVariable(UnreadVariable, DVariable):
    """The result of an assignment."""

    __repr__ = DVariable.__repr__
    __str__ = DVariable.__repr__


def enable_save_as_bf16(variables: Any) -> None:
    """Has checkpoints keep the values of float32 variables in bfloat16.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = dtensor.Layout(["x"], mesh)
    >>> v = dtensor.DVariable([1.0, 2.0], layout=layout)
    >>> dtensor.enable_save_as_bf16([v])
    >>> v.save_as_bf16
    True
    """
    for variable in variables:
        if isinstance(variable, DVariable):
            variable.save_as_bf16 = True


def _eager_value(variable: DVariable) -> Any:
    """The present value if ops run eagerly."""
    return variable.value() if door.level().eager and not door.INSPECTORS else None


register_reader((DVariable, UnreadDVariable), _eager_value)

__all__ = ["DVariable", "enable_save_as_bf16"]
