"""TensorArrays of graphs: a tensor list and the ops on it.

Follows https://www.tensorflow.org/api_docs/python/tf/TensorArray.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import errors, shapes
from intaglio.base.dtypes import int32, int64
from intaglio.base.shapes import Dims
from intaglio.opdef import convert, door, raw
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.ops.control_flow.tensor_list import element_form
from intaglio.trace.scopes import name_scope
from intaglio.type_specs.array_facts import Facts


class ListedArray:
    """A tensor list, `flow`, and what is known of it. Every change makes a new array.

    `certain` is True as long as the list is known to have the size in the facts: what a
    loop or branch returns may have another.
    """

    def __init__(self, facts: Facts, flow: Tensor, certain: bool = False) -> None:
        self.facts = facts
        self.flow = flow
        self.certain = certain

    handle = None

    @classmethod
    def reserved(cls, facts: Facts, size: Any, name: str | None) -> ListedArray:
        """A new array. Raises ValueError without a size."""
        if size is None:
            raise ValueError("Argument `size` must be provided if argument `flow` is not provided.")
        known = getattr(getattr(size, "spec", None), "value", size)
        plain = isinstance(known, (int, np.integer)) or (
            isinstance(known, np.ndarray) and known.ndim == 0
        )
        facts.size = int(known) if plain else size
        flow = raw.TensorListReserve(
            _form(facts.dims), size, element_dtype=facts.dtype, name=name or "TensorArrayV2"
        )
        return cls(facts, flow, True)

    def _with(self, flow: Tensor) -> ListedArray:
        if door.level().eager:  # eager arrays change in place
            self.flow = flow
            return self
        return ListedArray(self.facts, flow, self.certain)

    def _tensor(self, value: Any, name: str | None = None) -> Tensor:
        dtype = self.facts.dtype
        tensor = convert.to_tensor(value, None, name, dtype_hint=dtype)
        if tensor.dtype is not dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Invalid data types; TensorArray dtype is {dtype.name} but Op is trying to write dtype "
                f"{tensor.dtype.name}",
            )
        return tensor

    def _see(self, dims: Dims) -> None:
        if not self.facts.see(dims):
            raise ValueError(
                f"Inconsistent shapes: saw {shapes.text(dims)} but expected {shapes.text(self.facts.dims)} "
            )

    # -- elements --------------------------------------------------------------------

    def read(self, index: Any, name: str | None) -> Tensor:
        """One element, zeros if it was never written."""
        with name_scope(name or "TensorArrayV2Read"):
            return raw.TensorListGetItem(
                self.flow, index, _form(self.facts.dims), element_dtype=self.facts.dtype
            )

    def write(self, index: Any, value: Any, name: str | None) -> ListedArray:
        """The array with another element."""
        with name_scope(name or "TensorArrayV2Write"):
            tensor = self._tensor(value, "value")
            self._see(tensor.dims)
            flow = raw.TensorListSetItem(
                self.flow, index, tensor, resize_if_index_out_of_bounds=self.facts.dynamic
            )
        return self._with(flow)

    # -- all at once -----------------------------------------------------------------

    def stack(self, name: str | None) -> Tensor:
        """The elements as rows."""
        count = self.facts.fixed_size()
        with name_scope(name or "TensorArrayV2Stack"):
            return raw.TensorListStack(
                self.flow,
                _form(self.facts.dims),
                element_dtype=self.facts.dtype,
                num_elements=-1 if count is None else count,
            )

    def gather(self, indices: Any, name: str | None) -> Tensor:
        """The elements at the indices as rows."""
        return raw.TensorListGather(
            self.flow, indices, _form(self.facts.dims), element_dtype=self.facts.dtype, name=name
        )

    def concat(self, name: str | None) -> Tensor:
        """The elements joined along their first dimension."""
        dims = self.facts.dims
        if dims == ():
            raise ValueError(
                "Shapes must be equal rank, but are 1 and 0: a TensorArray of scalars cannot be concatenated; "
                "stack() makes a vector of them."
            )
        joined = None if dims is None else (None, *dims[1:])
        return raw.TensorListConcatV2(
            self.flow,
            _form(joined),
            np.zeros(0, np.int64),
            element_dtype=self.facts.dtype,
            name=name,
        )[0]

    def unstack(self, value: Any, name: str | None) -> ListedArray:
        """The array with the rows of a tensor as elements."""
        with name_scope(name or "TensorArrayUnstack"):
            tensor = self._tensor(value, "value")
            if tensor.dims is not None:
                self._see(tensor.dims[1:])
            dims = None if tensor.dims is None else tensor.dims[1:]
            flow = raw.TensorListFromTensor(tensor, _form(dims))
        return self._with(flow)

    def scatter(self, indices: Any, value: Any, name: str | None) -> ListedArray:
        """The array with the rows of a tensor at the indices."""
        with name_scope(name or "TensorArrayScatter"):
            tensor = self._tensor(value, "value")
            if tensor.dims is not None:
                self._see(tensor.dims[1:])
            flow = raw.TensorListScatterIntoExistingList(self.flow, tensor, indices)
        return self._with(flow)

    def split(self, value: Any, lengths: Any, name: str | None) -> ListedArray:
        """The array with consecutive parts of a tensor as elements."""
        with name_scope(name or "TensorArraySplit"):
            tensor = self._tensor(value, "value")
            sizes = convert.to_tensor(lengths)
            known = getattr(getattr(sizes, "spec", None), "value", None)
            if sizes.dtype is not int64:
                sizes = raw.Cast(sizes, DstT=int64)
            if tensor.dims and known is not None and np.ndim(known) == 1:
                first = set(np.asarray(known).tolist())
                if self.facts.infer and len(first) == 1:
                    self._see((first.pop(), *tensor.dims[1:]))
            flow = raw.TensorListSplit(tensor, _form(self.facts.dims), sizes)
        return self._with(flow)

    # -- the rest --------------------------------------------------------------------

    def size(self, name: str | None) -> Tensor:
        """The number of elements."""
        if self.certain and not self.facts.dynamic and self.facts.size is not None:
            return convert.to_tensor(self.facts.size, int32)
        return raw.TensorListLength(self.flow, name=name)

    def identity(self) -> ListedArray:
        """The same array; its ops run in the current control dependencies."""
        return ListedArray(self.facts, raw.Identity(self.flow), self.certain)

    def close(self, name: str | None) -> Any:
        """Nothing: the graph frees the list after its last use."""
        return raw.NoOp(name=name)

    def as_list_tensor(self) -> Tensor:
        """The tensor list."""
        return self.flow


def _form(dims: Dims) -> np.ndarray:
    return element_form(Spec(int32, dims))


__all__ = ["ListedArray"]
