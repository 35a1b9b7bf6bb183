"""Forms of values at the boundary of residual branches and loops: the tensors that pass a value.

A constant needs no tensor, as it is known on both sides; a list of known length is passed as its elements;
any other value as itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import DType, from_numpy, resource, variant
from intaglio.base.shapes import Dims
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.spec import Spec
from intaglio.ops.control_flow.list_value import TensorList
from intaglio.optimize.symbolic_arrays import SymbolicArray


class TensorForm(NamedTuple):
    """A tensor. `contents` is what a resource holds."""

    dtype: DType
    dims: Dims
    contents: Spec | None = None

    @property
    def spec(self) -> Spec:
        """The spec of the tensor."""
        return Spec(self.dtype, self.dims, self.contents)


class ConstantForm:
    """A constant."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, ConstantForm) or self.array.dtype != other.array.dtype:
            return False
        if self.array.shape != other.array.shape or self.array.dtype.hasobject:
            return False
        return self.array.tobytes() == other.array.tobytes()

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    @property
    def tensor(self) -> TensorForm:
        """The form of a tensor with the constant's dtype and shape."""
        return TensorForm(from_numpy(self.array.dtype), self.array.shape)


class ListForm(NamedTuple):
    """A list of elements of these forms; None for elements that were never set."""

    element: DType
    limit: int
    dims: Dims
    items: tuple[TensorForm | ConstantForm | None, ...]


Form = TensorForm | ConstantForm | ListForm
HANDLE = TensorForm(variant, ())


def form_of(value: SymbolicTensor | TensorList) -> Form:
    """The most specific form of a value."""
    if isinstance(value, TensorList):
        items = tuple([None if i is None else _form_of_item(i) for i in value.items()])
        return ListForm(value.element, value.limit, value.dims, items)
    if value.node.op is raw.Const and not value.node.attrs["value"].dtype.hasobject:
        return ConstantForm(value.node.attrs["value"])
    contents = value.spec.value if value.dtype is resource else None
    dims = value.dims if value.dtype.is_numpy_compatible else ()
    return TensorForm(value.dtype, dims, contents if isinstance(contents, Spec) else None)


def _form_of_item(item: Any) -> Any:
    """The form of an element; that of one which is a part of an array is found without its tensor."""
    known = item.known if isinstance(item, SymbolicArray) else np.asarray(item)
    if known is not None and not known.dtype.hasobject:
        return ConstantForm(known)
    return TensorForm(from_numpy(item.dtype), item.shape)


def varying(form: Form) -> Form:
    """The form of a value that may vary: a constant becomes a tensor, unless it has no elements."""
    if isinstance(form, ConstantForm):
        return form if not math.prod(form.array.shape) else form.tensor
    if isinstance(form, ListForm):
        return form._replace(items=tuple([i and varying(i) for i in form.items]))
    return form


def general(first: Form, second: Form) -> Form:
    """The least general form of the values of both forms; only constants without elements stay constants."""
    first, second = varying(first), varying(second)
    if first == second:
        return first
    if isinstance(first, ListForm) and isinstance(second, ListForm):
        alike = first._replace(items=(), dims=None) == second._replace(items=(), dims=None)
        set_ = [[i is None for i in form.items] for form in (first, second)]
        if alike and set_[0] == set_[1]:
            pairs = zip(first.items, second.items, strict=True)
            items = [None if a is None or b is None else general(a, b) for a, b in pairs]
            dims = shapes.join(first.dims, second.dims)
            return first._replace(items=tuple(items), dims=dims)  # type: ignore[arg-type]  # elements are no lists
    if isinstance(first, ListForm) or isinstance(second, ListForm):
        return HANDLE
    one, other = [f.tensor if isinstance(f, ConstantForm) else f for f in (first, second)]
    return one._replace(dims=shapes.join(one.dims, other.dims))


def opened(form: Form) -> Form:
    """The form with an unknown shape."""
    if isinstance(form, ListForm):
        return HANDLE
    tensor = form.tensor if isinstance(form, ConstantForm) else form
    return tensor._replace(dims=None) if tensor.dtype.is_numpy_compatible else tensor


def tensors_of(form: Form) -> list[TensorForm]:
    """The forms of the tensors that pass a value."""
    if isinstance(form, ListForm):
        return [tensor for item in form.items if item is not None for tensor in tensors_of(item)]
    return [form] if isinstance(form, TensorForm) else []


def passed(value: SymbolicTensor | TensorList, form: Form, work: Any) -> list[SymbolicTensor]:
    """The tensors that pass a value; `work` adds the nodes."""
    if isinstance(form, ConstantForm):
        return []
    if isinstance(form, TensorForm):
        return [work.tensor(value)]
    assert isinstance(value, TensorList)
    found: list[SymbolicTensor] = []
    for item, inner in zip(value.items(), form.items, strict=True):
        if item is not None and inner is not None:
            found += passed(work.item(item), inner, work)
    return found


def received(form: Form, tensors: Iterator[SymbolicTensor], work: Any) -> Any:
    """The value that these tensors pass."""
    if isinstance(form, ConstantForm):
        return work.constant(form.array)
    if isinstance(form, TensorForm):
        return work.folded(next(tensors))
    items: list[Any] = []
    for inner in form.items:
        if inner is None or isinstance(inner, ConstantForm):
            items.append(inner and inner.array)
        else:
            items.append(SymbolicArray(next(tensors)))
    return TensorList(items, len(items), form.element, form.limit, form.dims)


def known_condition(value: SymbolicTensor | TensorList) -> np.ndarray | None:
    """The value of a condition or an index, if it is known."""
    if isinstance(value, TensorList):
        return None
    if value.node.op is raw.Const:
        return np.asarray(value.node.attrs["value"])
    if value.dims and shapes.known(value.dims):  # the condition is whether there are elements
        return np.broadcast_to(np.zeros((), bool), value.dims)
    return value.spec.value if isinstance(value.spec.value, np.ndarray) else None
