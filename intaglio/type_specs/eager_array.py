"""TensorArrays of eager programs: a Python list of tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/TensorArray.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from intaglio.base import errors, shapes
from intaglio.base.dtypes import int32, string
from intaglio.base.errors import OpError
from intaglio.opdef import convert, door, raw
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.ops.control_flow.tensor_list import element_form
from intaglio.type_specs.array_facts import Facts


class EagerArray:
    """The eager TensorArray: a list of elements; None for those not written, or read and cleared."""

    def __init__(self, facts: Facts, size: Any, clear_after_read: bool) -> None:
        if size is None:
            raise ValueError(
                "Size must be declared for TensorArrays when eager execution is enabled."
            )
        self.facts = facts
        self.elements: list[Any] = [None] * operator.index(size)
        self.clear = clear_after_read
        self.cleared: set[int] = set()
        facts.size = None

    handle = None

    @property
    def flow(self) -> Tensor:
        """A number without meaning: eager arrays are not values of a graph."""
        return convert.to_tensor(0, int32)

    # -- elements --------------------------------------------------------------------

    def read(self, index: Any, name: str | None) -> Tensor:
        """One element, zeros if it was never written."""
        at = operator.index(index)
        if at < 0:
            raise _out_of_range(f"Reading from negative indices (index {at}) is not allowed.")
        if at >= len(self.elements):
            raise _out_of_range(
                f"Tried to read from index {at} but array size is: {len(self.elements)} "
            )
        value = self.elements[at]
        if value is None:
            if at in self.cleared:
                raise _invalid(
                    f"Could not read index {at} twice because it was cleared after a previous read (perhaps try "
                    "setting clear_after_read = false?)"
                )
            value = self.elements[at] = self._zero()
        if self.clear:
            self.elements[at] = None
            self.cleared.add(at)
        return value

    def write(self, index: Any, value: Any, name: str | None) -> EagerArray:
        """Writes an element in place."""
        _refuse_graph()
        at = operator.index(index)
        self._grow_to(at)
        tensor = convert.to_tensor(value, dtype_hint=self.facts.dtype)
        self._check_dtype(tensor)
        if not self.facts.see(tensor.dims):
            raise ValueError(
                f"Incompatible shape for value ({shapes.text(tensor.dims)}), expected "
                f"({shapes.text(self.facts.dims)})"
            )
        self.elements[at] = tensor
        return self

    def _grow_to(self, at: int) -> None:
        size = len(self.elements)
        if at < 0:
            raise _out_of_range(f"Writing to negative indices (index {at}) is not allowed.")
        if at >= size:
            if not self.facts.dynamic:
                raise _out_of_range(
                    f"Tried to write to index {at} but array is not resizeable and size is: {size} "
                )
            self.elements.extend([None] * (at + 1 - size))

    def _check_dtype(self, tensor: Tensor) -> None:
        if tensor.dtype is not self.facts.dtype:
            raise _invalid(
                f"TensorArray dtype is {self.facts.dtype.name} but Op is trying to write dtype {tensor.dtype.name} "
            )

    def _zero(self) -> Tensor:
        dims, dtype = self.facts.dims, self.facts.dtype
        if not shapes.known(dims):
            raise ValueError(
                f"Cannot convert a partially known TensorShape {shapes.text(dims)} to a Tensor."
            )
        if dtype is string:
            return convert.to_tensor(np.full(dims, b"", object))
        return convert.to_tensor(np.zeros(dims, dtype.numpy))

    def _filled(self) -> list[Tensor]:
        return [self._zero() if e is None else e for e in self.elements]

    # -- all at once -----------------------------------------------------------------

    def stack(self, name: str | None) -> Tensor:
        """The elements as rows."""
        if not self.elements:
            tail = self.facts.dims if shapes.known(self.facts.dims) else ()
            return _empty(self.facts, (0, *tail))
        return raw.Pack(self._filled(), axis=0, name=name)

    def gather(self, indices: Any, name: str | None) -> Tensor:
        """The elements at the indices as rows."""
        positions = [operator.index(i) for i in np.asarray(indices)]
        if not positions:
            tail = self.facts.dims if shapes.known(self.facts.dims) else ()
            return _empty(self.facts, (0, *tail))
        for at in positions:
            if not -len(self.elements) <= at < len(self.elements):  # as lists count
                raise IndexError(
                    f"list index out of range: index {at} of a TensorArray of size {len(self.elements)}"
                )
        rows = [self.elements[at] for at in positions]
        return raw.Pack([self._zero() if r is None else r for r in rows], axis=0)

    def concat(self, name: str | None) -> Tensor:
        """The elements joined along their first dimension."""
        if not self.elements:
            dims = self.facts.dims
            rest = dims[1:] if dims else None
            if not shapes.known(rest):
                raise _invalid(
                    "All except the first dimension must be fully defined when concating an empty tensor list. "
                    f"element_shape: {shapes.brackets(dims)}"
                )
            return _empty(self.facts, (0, *rest))
        parts = self._filled()
        for at, part in enumerate(parts):
            if not part.dims:
                raise _invalid(
                    f"Concat saw a scalar shape at index {at} but requires at least vectors."
                )
        if len(parts) == 1:
            return raw.Identity(parts[0])
        return raw.ConcatV2(parts, np.int32(0), name=name)

    def unstack(self, value: Any, name: str | None) -> EagerArray:
        """Takes the rows of a tensor for its elements."""
        _refuse_graph()
        tensor = convert.to_tensor(value, dtype_hint=self.facts.dtype)
        rows = self._rows(tensor)
        if len(rows) > len(self.elements) and not self.facts.dynamic:
            raise ValueError(
                f"Cannot unstack {len(rows)} tensors into a TensorArray of static size {len(self.elements)} "
            )
        self.elements = rows
        self.cleared.clear()
        self.facts.see(tensor.dims[1:])  # type: ignore[index]  # its rank is known here
        return self

    def _rows(self, tensor: Tensor) -> list[Any]:
        self._check_dtype(tensor)
        dims = tensor.dims
        if not dims:
            raise ValueError("Argument `axis` = 0 not in range [0, 0)")
        if not shapes.compatible(self.facts.dims, dims[1:]):
            raise ValueError(
                f"Incompatible shape for value ({shapes.text(dims[1:])}), expected ({shapes.text(self.facts.dims)})"
            )
        return list(raw.Unpack(tensor, num=dims[0], axis=0)) if dims[0] else []

    def scatter(self, indices: Any, value: Any, name: str | None) -> EagerArray:
        """Writes the rows of a tensor at the indices."""
        _refuse_graph()
        tensor = convert.to_tensor(value, dtype_hint=self.facts.dtype)
        positions = [operator.index(i) for i in np.asarray(indices)]
        rows = self._rows(tensor)
        if len(positions) != len(rows):
            raise _invalid(
                f"Expected len(indices) == tensor.shape[0], but saw: {len(positions)} vs. {len(rows)}"
            )
        for at, row in zip(positions, rows, strict=True):
            self.write(at, row, None)
        return self

    def split(self, value: Any, lengths: Any, name: str | None) -> EagerArray:
        """Takes consecutive parts of a tensor for its elements."""
        _refuse_graph()
        tensor = convert.to_tensor(value, dtype_hint=self.facts.dtype)
        self._check_dtype(tensor)
        sizes = np.asarray(lengths)
        if sizes.ndim != 1:
            raise _invalid(f"Expected lengths to be a vector, received shape: {list(sizes.shape)} ")
        dims = tensor.dims
        if not dims:
            raise _invalid("Expected value to be at least a vector, but received shape: [] ")
        total = int(sizes.sum())
        if total != dims[0]:
            raise _invalid(
                f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {total} and "
                f"value's shape is: {list(dims)} "
            )
        if len(sizes) != len(self.elements) and not self.facts.dynamic:
            raise _invalid(
                f"TensorArray's size is not equal to the size of lengths ({len(self.elements)} vs. {len(sizes)}), "
                "and the TensorArray is not marked as dynamically resizeable."
            )
        axis = np.int32(0)
        self.elements = (
            list(raw.SplitV(tensor, sizes, axis, num_split=len(sizes))) if len(sizes) else []
        )
        self.cleared.clear()
        if len(set(sizes.tolist())) == 1:
            self.facts.see((int(sizes[0]), *dims[1:]))
        return self

    # -- the rest --------------------------------------------------------------------

    def size(self, name: str | None) -> Tensor:
        """The number of elements."""
        return convert.to_tensor(len(self.elements), int32)

    def identity(self) -> EagerArray:
        """The array itself."""
        return self

    def close(self, name: str | None) -> None:
        """Lets go of the elements."""
        self.elements.clear()

    def as_list_tensor(self) -> Tensor:
        """The elements as a tensor list, the value that a graph takes."""
        facts = self.facts
        form = element_form(Spec(facts.dtype, facts.dims))
        present = [e for e in self.elements if e is not None]
        alike = present and all(e.dims == present[0].dims for e in present)
        if alike and len(present) == len(self.elements):
            return raw.TensorListFromTensor(raw.Pack(present, axis=0), form)
        size = np.int32(len(self.elements))
        handle = raw.TensorListReserve(form, size, element_dtype=facts.dtype)
        for at, element in enumerate(self.elements):
            if element is not None:
                handle = raw.TensorListSetItem(handle, np.int32(at), element)
        return handle


def _empty(facts: Facts, dims: tuple[int, ...]) -> Tensor:
    return convert.to_tensor(np.zeros(dims, facts.dtype.numpy))


def _out_of_range(message: str) -> OpError:
    return errors.OutOfRangeError(None, None, message)


def _invalid(message: str) -> OpError:
    return errors.InvalidArgumentError(None, None, message)


def _refuse_graph() -> None:
    """Raises NotImplementedError where ops are recorded: the graph would change Python's list."""
    if not door.level().eager:
        raise NotImplementedError(
            "Attempting to build a graph-mode TF2-style TensorArray from either an eager-mode TensorArray or a "
            "TF1-style TensorArray.  This is not currently supported.  You may be attempting to capture a "
            "TensorArray inside a tf.function or tf.data map function. Instead, construct a new TensorArray inside "
            "the function, or pass this one as an argument."
        )


__all__ = ["EagerArray"]
