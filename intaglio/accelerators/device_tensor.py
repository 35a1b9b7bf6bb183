"""`DeviceTensor`: an eager tensor whose memory devices of XLA have, one of them or a mesh.

The value is an array of jax, or one of the host that goes to the devices when a program takes it.
"""

from __future__ import annotations

from typing import Any

from intaglio import xla
from intaglio.base.dtypes import BY_NUMPY, DType
from intaglio.opdef import operators
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import EagerTensor, from_array
from intaglio.type_specs.type_spec import TensorSpec


class DeviceTensor(EagerTensor):
    """A tensor in the memory of devices. A base class: subclasses say which, and register what runs its ops."""

    __slots__ = ("_buffer", "_host")

    def __init__(self, buffer: Any, host: Any = None) -> None:
        self._buffer = buffer
        self._host = host

    @property
    def _array(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]  # a field elsewhere
        """The value as an array of the host, copied from the devices once; of a handle, the variable."""
        if self._host is None:
            self._host = xla.transfers.fetched(self._buffer)
        return self._host

    @property
    def _stored(self) -> Any:
        return self._host if self._buffer is None else self._buffer

    def on_device(self) -> Any:
        """The array of the devices; of handles and strings, the host's."""
        raise NotImplementedError

    @property
    def dtype(self) -> DType:
        return BY_NUMPY[self._stored.dtype]

    @property
    def dims(self) -> tuple[int, ...]:
        return self._stored.shape

    def _rank(self) -> int:
        return len(self.dims)

    def __len__(self) -> int:
        if not self.dims:
            raise TypeError("Scalar tensor has no `len()`")
        return self.dims[0]

    def __iter__(self) -> Any:
        if not self.dims:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return iter([self[i] for i in range(self.dims[0])])

    def __tf_tracing_type__(self, context: Any) -> Any:
        return TensorSpec(self.dims, self.dtype)

    def __reduce__(self) -> Any:
        return from_array, (self._array,)


def through_the_door(special: str) -> Any:
    """An operator of Tensor, whose op runs where the operands are: those of EagerTensor compute on the host."""

    def operate(self: Any, *others: Any) -> Any:
        return getattr(Tensor, special)(self, *others)

    operate.__name__ = special
    return operate


for _special in ("__getitem__", "__neg__", "__abs__", "__invert__", *operators.FAST):
    setattr(DeviceTensor, _special, through_the_door(_special))
DeviceTensor.__hash__ = Tensor.__hash__  # type: ignore[method-assign]  # Python unsets it with __eq__

__all__ = ["DeviceTensor", "through_the_door"]
