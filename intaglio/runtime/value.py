"""The protocols of Python and NumPy on tensors that have a value.

Follows https://www.tensorflow.org/api_docs/python/tf/Tensor and
https://data-apis.org/array-api/latest/API_specification/generated/array_api.array.__dlpack__.html.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from intaglio.base import errors, shapes
from intaglio.base.devices import DEVICE, is_host, placed
from intaglio.base.dtypes import BY_NUMPY, DType, as_numbers, resource, variant
from intaglio.base.shapes import TensorShape, as_dims
from intaglio.opdef.door import STATE
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.display import eager_repr, eager_str
from intaglio.runtime.hooks import HOOKS


class Valued(Tensor):
    """A tensor around `_array`: an ndarray, a NumPy scalar, or a resource's object."""

    __slots__ = ()

    _array: Any
    # Set on tensors of devices other than the host's first (`runtime.placement`).
    _device = DEVICE

    @property
    def dtype(self) -> DType:
        return BY_NUMPY[self._array.dtype]

    @property
    def dims(self) -> tuple[int, ...]:
        return self._array.shape

    # -- as an array -----------------------------------------------------------------

    def numpy(self) -> Any:
        """The value: a copy as an array, or a NumPy scalar (bytes) for shape ().

        Quantised dtypes are returned as their integers. Raises InvalidArgumentError for resources and
        variants.
        """
        array = self._array
        if type(array) is np.ndarray:
            array = as_numbers(array)
            return array.copy() if array.ndim else array[()]
        return self._numpy()

    def _numpy(self) -> Any:
        """The value without a copy, as a read-only array."""
        array = self._array
        if isinstance(array, (np.ndarray, np.generic)):
            array = as_numbers(array)
            return array if array.ndim else array[()]
        raise errors.InvalidArgumentError(
            None, None, f"Cannot convert a Tensor of dtype {self.dtype.name} to a NumPy array."
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self._array
        if not isinstance(array, np.ndarray) or array.dtype.names is not None:
            array = np.asarray(self._numpy())
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(
                    f"a tensor of dtype {self.dtype.name} is no array of {dtype} without a copy"
                )
            return array.astype(dtype)
        if copy:
            return array.copy()
        view = array.view()
        view.flags.writeable = False
        return view

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self.__array__())  # type: ignore[arg-type]  # an array has a buffer

    def __bytes__(self) -> bytes:
        array = np.asarray(self._numpy())
        return array.tobytes() if array.ndim else bytes(self.__index__())

    def __dlpack__(self, **options: Any) -> Any:
        """The value in a DLPack capsule; the memory is shared."""
        return HOOKS.dlpack_capsule(self, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """(1, 0): host memory."""
        return (1, 0)

    # -- as a Python number or sequence ------------------------------------------------

    def __bool__(self) -> bool:
        value = self._numpy()
        if isinstance(value, np.ndarray) and not value.size:
            return False
        return bool(value)

    def __int__(self) -> int:
        return int(self._numpy())

    def __float__(self) -> float:
        return float(self._numpy())

    def __complex__(self) -> complex:
        return complex(self._numpy())

    def __index__(self) -> int:
        return self._numpy().__index__()

    def __format__(self, spec: str) -> str:
        return self._numpy().__format__(spec)

    def __len__(self) -> int:
        dims = self._array.shape
        if not dims:
            raise TypeError("Scalar tensor has no `len()`")
        return dims[0]

    def __iter__(self) -> Iterator[Any]:
        dims = self._array.shape
        if not dims:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return _rows(self, dims[0])

    def __contains__(self, item: Any) -> bool:
        if not self._array.shape:
            raise TypeError(f"argument of type '{type(self).__name__}' is not iterable")
        return any(row is item or bool(row == item) for row in self)

    def __repr__(self) -> str:
        return eager_repr(self)

    def __str__(self) -> str:
        return eager_str(self)

    # -- copies ------------------------------------------------------------------------

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        if self.dtype is resource or self.dtype is variant:
            raise NotImplementedError(f"a tensor of dtype {self.dtype.name} cannot be copied")
        return self

    # -- devices -------------------------------------------------------------------------

    @property
    def device(self) -> str:
        """The device that holds the value."""
        return self._device

    @property
    def backing_device(self) -> str:
        """The device that holds the memory."""
        return self._device

    @property
    def is_packed(self) -> bool:
        """False: a tensor is on one device."""
        return False

    def cpu(self) -> Any:
        """The tensor on the host's first device."""
        return self if self._device == DEVICE else self._copy(device_name=DEVICE)

    def _copy(self, ctx: Any = None, device_name: str | None = None) -> Any:
        """The tensor on a device. Host devices share memory. Raises RuntimeError for an absent device."""
        found = placed(device_name or DEVICE)
        if found is None:
            raise RuntimeError(f"{device_name} unknown device.")
        if not (is_host(found) and is_host(self._device)):
            return HOOKS.moved(self, found)
        copied = type(self)()
        copied._array = self._array
        if found != DEVICE:
            copied._device = found  # type: ignore[misc]  # in the tensor's own dict
        return copied

    def gpu(self, gpu_index: int = 0) -> Any:
        """The tensor on a GPU. Raises RuntimeError if it is not there."""
        if placed(f"GPU:{gpu_index}") is None:
            raise RuntimeError(f"GPU:{gpu_index} unknown device.")
        return self._copy(device_name=f"GPU:{gpu_index}")

    # -- operations of symbolic tensors only ---------------------------------------------

    @property
    def name(self) -> str:
        raise _undefined("name")

    @property
    def op(self) -> Any:
        raise _undefined("op")

    @property
    def graph(self) -> Any:
        raise _undefined("graph")

    @property
    def value_index(self) -> int:
        raise _undefined("value_index")

    def consumers(self) -> NoReturn:
        """Raises NotImplementedError: eager tensors do not record their consumers."""
        raise NotImplementedError("Tensor.consumers is undefined when eager execution is enabled.")

    def eval(self, feed_dict: Any = None, session: Any = None) -> NoReturn:
        """Raises NotImplementedError: sessions run graphs."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what "
            "you're looking for?"
        )

    def set_shape(self, shape: Any) -> None:
        """Raises ValueError if the tensor's shape is not one of `shape`."""
        wanted = as_dims(shape)
        if not shapes.compatible(self.dims, wanted):
            raise ValueError(
                f"Tensor's shape {shapes.text(self.dims)} is not compatible with "
                f"supplied shape {TensorShape(wanted)}."
            )

    # -- TensorFlow's inner names that programs nevertheless use --------------------------

    @property
    def _id(self) -> int:
        return id(self)

    def _rank(self) -> int:
        return len(self._array.shape)

    def _num_elements(self) -> int:
        return shapes.count(self.dims) or 0

    def _datatype_enum(self) -> int:
        return self.dtype.as_datatype_enum


def _undefined(name: str) -> AttributeError:
    return AttributeError(f"Tensor.{name} is undefined when eager execution is enabled.")


def _rows(tensor: Valued, count: int) -> Iterator[Any]:
    """The tensor's rows: slices by ops if a tape watches, else plain views."""
    kind = type(tensor)
    for i in range(count):
        if STATE.unusual:
            yield tensor[i]
        else:
            row = kind()
            row._array = tensor._array[i, ...]
            yield row


def exportable(tensor: Any) -> np.ndarray:
    """The value as an array that DLPack can describe.

    Raises InvalidArgumentError for strings, resources and variants.
    """
    array = tensor.__array__()  # not the buffer protocol, which hides the owner of the memory
    if array.dtype == object:
        raise errors.InvalidArgumentError(
            None, None, f"{tensor.dtype.name} is not supported by dlpack"
        )
    return array if array.flags.writeable else _writeable(array)


def _writeable(view: np.ndarray) -> np.ndarray:
    """A writeable view of the same memory: older consumers refuse read-only arrays."""
    base = view.base
    if not isinstance(base, np.ndarray) or not base.flags.writeable:
        return view.copy()
    if not base.flags.c_contiguous:
        return view.copy()
    # A result may be a view of a larger block, whose start and elements are not its own.
    offset = view.ctypes.data - base.ctypes.data
    memory = base.reshape(-1).view(np.uint8)
    return np.ndarray(view.shape, view.dtype, memory, offset, view.strides)
