"""A Python list that grows inside staged control flow: its elements in tensor lists.

Follows Python's `list` where a graph can. AutoGraph replaces by such a list a
`list` that a staged loop or branch appends to; called eagerly, the results of a traced
function hold ordinary lists again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from intaglio.base import nest, shapes
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import DType, int32, variant
from intaglio.base.errors import OperatorNotAllowedInGraphError
from intaglio.base.shapes import TensorShape, as_dims
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import convert, door, raw
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.ops.control_flow.tensor_list import element_form
from intaglio.type_specs.hooks import HOOKS
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec


class Form:
    """What all elements of a list have in common: nesting, dtypes, shapes.

    Lists derived from one another share it, in and out of loops, so that an element
    appended in a loop's body determines the element shape of the list after the loop.
    """

    __slots__ = ("dims", "dtypes", "example")

    def __init__(self, example: Any) -> None:
        tensors = [convert.to_tensor(v) for v in nest.flatten(example)]
        self.example = nest.map_structure(lambda v: 0, example)
        self.dtypes: list[DType] = [t.dtype for t in tensors]
        self.dims = [t.dims for t in tensors]

    @classmethod
    def common(cls, elements: Iterable[Any]) -> Form:
        """The form of all these. Raises ValueError or TypeError if they have none."""
        found: Form | None = None
        for element in elements:
            if found is None:
                found = cls(element)
            else:
                found.tensors(element)
        if found is None:
            raise ValueError("an empty list has no form")
        return found

    def tensors(self, element: Any) -> list[Tensor]:
        """An element's tensors; their shapes are noted. Raises ValueError or TypeError."""
        nest.assert_same_structure(self.example, element)
        result: list[Tensor] = []
        for at, value in enumerate(nest.flatten(element)):
            dtype = self.dtypes[at]
            tensor = convert.to_tensor(value, dtype_hint=dtype)
            if tensor.dtype is not dtype:
                raise TypeError(
                    f"This list holds {dtype.name}, and {tensor.dtype.name} is appended: cast it, "
                    f"for example tf.cast(value, tf.{dtype.name}). Lists that grow in staged control "
                    "flow have elements of one type."
                )
            self.dims[at] = shapes.join(self.dims[at], tensor.dims)
            result.append(tensor)
        return result

    def element_shape(self, at: int) -> np.ndarray:
        """The shape of an element's tensor as list ops take it."""
        return element_form(Spec(int32, self.dims[at]))


# An element that is set to this stays what it is.
UNCHANGED = object()


class ListObserver:
    """The interface of an observer of growing lists; AutoGraph implements it to stage blocks."""

    def created(self, grown: GrownList) -> None:
        """A list was created."""

    def changing(self, grown: GrownList) -> None:
        """The elements of a list are about to change."""

    def replacing(self, grown: GrownList) -> None:
        """A list is about to get the elements that a branch or a loop computes for it."""


class GrownList(CompositeTensor):
    """A list whose length may depend on tensors.

    `append`, `extend`, `insert`, `pop`, `clear`, `reverse`, `copy`, indices, slices, `+`, `*`, `len` in
    converted code, `for`, and conversion to a tensor (the elements stacked) work as those of
    a list. Elements have one structure and one dtype for each of its tensors.

    It is one object for as long as it lasts: what it holds are its `flows`, tensor lists of
    the graph that is recorded, which branches and loops replace.
    """

    __slots__ = ("_flows", "form", "root")

    def __init__(self, form: Form, flows: Sequence[Tensor]) -> None:
        self.form = form
        self._flows = list(flows)
        # The Python list that this one replaced, if any.
        self.root: list[Any] | None = None
        HOOKS.list_observer.created(self)

    @property
    def flows(self) -> list[Tensor]:
        """The tensor lists that hold its elements, one for each tensor of an element."""
        return self._flows

    @flows.setter
    def flows(self, flows: Sequence[Tensor]) -> None:
        HOOKS.list_observer.changing(self)
        self._flows = list(flows)

    def become(self, flows: Sequence[Tensor]) -> None:
        """Holds from now on what these tensor lists do."""
        HOOKS.list_observer.replacing(self)
        self._flows = list(flows)

    def snapshot(self) -> GrownList:
        """The current elements as an independent, unobserved list."""
        result = object.__new__(GrownList)
        result.form, result._flows, result.root = self.form, self.flows, None
        return result

    @classmethod
    def of(cls, form: Form, elements: Iterable[Any] = ()) -> GrownList:
        """A list of these elements."""
        empty = [
            raw.EmptyTensorList(np.int32(-1), -1, element_dtype=dtype) for dtype in form.dtypes
        ]
        result = cls(form, empty)
        result.extend(elements)
        return result

    def copy(self) -> GrownList:
        """An independent list of the same elements."""
        return GrownList(self.form, self.flows)

    # -- growing -----------------------------------------------------------------------

    def append(self, value: Any) -> None:
        """One more element. Raises TypeError or ValueError for one of another type."""
        tensors = self.form.tensors(_plain(value))
        self.flows = [
            raw.TensorListPushBack(flow, t) for flow, t in zip(self.flows, tensors, strict=True)
        ]

    def extend(self, values: Any) -> None:
        """More elements: those of a list, or the rows of a tensor."""
        if isinstance(values, GrownList):
            self._join(values.stacks())
        elif isinstance(values, SymbolicTensor):
            self._join([values])
        else:
            for value in values:
                self.append(value)

    def insert(self, index: Any, value: Any) -> None:
        """An element in front of the one at `index`."""
        after = self[index:]
        self.flows = self[:index].flows
        self.append(value)
        self._join(after.stacks())

    def pop(self, index: Any = -1) -> Any:
        """Takes an element out, by default the last. Fails when run if there is none."""
        if isinstance(index, int) and index == -1:
            taken = [
                raw.TensorListPopBack(flow, self.form.element_shape(at), element_dtype=dtype)
                for at, (flow, dtype) in enumerate(zip(self.flows, self.form.dtypes, strict=True))
            ]
            self.flows = [rest for rest, _ in taken]
            return self._element([last for _, last in taken])
        value = self[index]
        del self[index]
        return value

    def clear(self) -> None:
        """Takes all elements out."""
        self.flows = GrownList.of(self.form).flows

    def _join(self, tensors: Sequence[Tensor]) -> None:
        joined = [
            raw.ConcatV2([own, convert.to_tensor(more, own.dtype)], 0)
            for own, more in zip(self.stacks(), tensors, strict=True)
        ]
        self.flows = self._listed(joined).flows

    def __iadd__(self, other: Any) -> GrownList:
        self.extend(other)
        return self

    def __add__(self, other: Any) -> GrownList:
        result = self.copy()
        result.extend(other)
        return result

    def reverse(self) -> None:
        """The last element becomes the first."""
        self.flows = self[::-1].flows

    def __imul__(self, times: int) -> GrownList:
        self.flows = (self * times).flows
        return self

    def __mul__(self, times: int) -> GrownList:
        result = GrownList.of(self.form)
        for _ in range(times):
            result.extend(self)
        return result

    __rmul__ = __mul__

    def has(self, value: Any) -> Tensor:
        """Whether an element is equal to the value, a bool scalar."""
        equal = raw.Equal(self._alone(), convert.to_tensor(value, self.form.dtypes[0]))
        if self._rank():
            equal = raw.All(equal, list(range(1, self._rank() + 1)))
        return raw.Any(equal, 0)

    def __radd__(self, other: Any) -> GrownList:
        return GrownList.of(self.form, other) + self

    # -- elements ----------------------------------------------------------------------

    def size(self) -> Tensor:
        """The number of elements, an int32 scalar."""
        return raw.TensorListLength(self.flows[0])

    def _position(self, index: Any) -> Any:
        """An index as list ops take it: counted from the front."""
        if isinstance(index, Tensor):
            index = raw.Cast(index, DstT=int32) if index.dtype is not int32 else index
            from_end = raw.AddV2(index, self.size())
            return raw.SelectV2(raw.Less(index, 0), from_end, index)
        index = operator.index(index)
        return raw.AddV2(self.size(), index) if index < 0 else index

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._listed([stack[index] for stack in self.stacks()])
        at = self._position(index)
        return self._element(
            [
                raw.TensorListGetItem(flow, at, self.form.element_shape(i), element_dtype=dtype)
                for i, (flow, dtype) in enumerate(zip(self.flows, self.form.dtypes, strict=True))
            ]
        )

    def __setitem__(self, index: Any, value: Any) -> None:
        if value is UNCHANGED:
            return
        if isinstance(index, slice):
            before, after = self._around(index)
            self.flows = before.flows
            self.extend(value)
            self._join(after.stacks())
            return
        at = self._position(index)
        self.flows = [
            raw.TensorListSetItem(flow, at, t)
            for flow, t in zip(self.flows, self.form.tensors(_plain(value)), strict=True)
        ]

    def _around(self, selected: slice) -> tuple[GrownList, GrownList]:
        """What is in front of a slice, and what is behind it. Raises ValueError for a step."""
        if selected.step not in (None, 1):
            raise ValueError(
                "A slice with a step cannot be set in a list that grows in staged control flow: set "
                "its elements one by one."
            )
        end = self[:0] if selected.stop is None else self[selected.stop :]
        return self[: 0 if selected.start is None else selected.start], end

    def __delitem__(self, index: Any) -> None:
        if isinstance(index, slice):
            self[index] = []
            return
        at = self._position(index)
        self._check_there(at)
        before, after = self[:at], self[at + 1 :]
        self.flows = before.flows
        self._join(after.stacks())

    def _check_there(self, at: Any) -> None:
        """Fails when run, as the list itself would, if it has no such element."""
        size = self.size()
        there = raw.LogicalAnd(raw.GreaterEqual(at, 0), raw.Less(at, size))
        raw.Assert(there, ["This list has no element ", at, ", it has ", size])

    def _element(self, tensors: Sequence[Tensor]) -> Any:
        return nest.pack_sequence_as(self.form.example, list(tensors))

    def _listed(self, stacks: Sequence[Tensor]) -> GrownList:
        """The rows of tensors as a list."""
        flows = [raw.TensorListFromTensor(stack, np.int32(-1)) for stack in stacks]
        return GrownList(self.form, flows)

    # -- all at once -------------------------------------------------------------------

    def stacks(self) -> list[Any]:
        """The elements as rows of a tensor, one for each tensor of an element."""
        return [
            raw.TensorListStack(flow, self.form.element_shape(at), element_dtype=dtype)
            for at, (flow, dtype) in enumerate(zip(self.flows, self.form.dtypes, strict=True))
        ]

    def _alone(self) -> Tensor:
        if nest.is_nested(self.form.example):
            raise ValueError(
                "A list of structures is no tensor: keep a list for each of their parts."
            )
        return self.stacks()[0]

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        return self._alone()

    def stack(self, axis: Any = 0) -> Tensor:
        """The elements along a new dimension. Raises ValueError for one out of range."""
        stack = self._alone()
        if isinstance(axis, int) and axis == 0:
            return stack
        rank = self._rank() + 1
        if not -rank <= axis < rank:
            raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
        at = axis % rank
        return raw.Transpose(stack, [*range(1, at + 1), 0, *range(at + 1, rank)])

    def _rank(self) -> int:
        dims = self.form.dims[0]
        if dims is None:
            raise ValueError("The rank of this list's elements must be known here.")
        return len(dims)

    def concat(self, axis: Any = 0) -> Tensor:
        """The elements joined along a dimension."""
        stack, form = self._alone(), self.form
        if isinstance(axis, int) and axis == 0:
            dims = form.dims[0]
            joined = None if dims is None else (None, *dims[1:])
            return raw.TensorListConcatV2(
                self.flows[0],
                element_form(Spec(int32, joined)),
                np.zeros(0, np.int64),
                element_dtype=form.dtypes[0],
            )[0]
        rank = self._rank()
        at = axis % rank
        order = [*range(1, at + 1), 0, *range(at + 1, rank + 1)]
        moved = raw.Transpose(stack, order)
        sizes = [
            raw.Mul(raw.Shape(moved)[at], raw.Shape(moved)[at + 1])
            if i == at
            else raw.Shape(moved)[i + (i > at)]
            for i in range(rank)
        ]
        return raw.Reshape(moved, raw.Pack(sizes))

    def total(self) -> Tensor:
        """The sum of the elements."""
        return raw.Sum(self._alone(), 0)

    @staticmethod
    def __autograph_builtin__(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if function is len:
            return args[0].size()
        return function(*args, **kwargs)

    # -- what Python must know at once -------------------------------------------------

    def __len__(self) -> int:
        raise _unknown("Its length is a tensor: use len(l) in converted code.")

    def __bool__(self) -> bool:
        raise _unknown("Whether it is empty is a tensor: write `len(l) > 0`.")

    def __iter__(self) -> Any:
        raise _unknown(
            "Its elements are counted when the graph runs: write a `for` statement over it, or "
            "tf.map_fn(f, tf.stack(l)) in the place of a comprehension."
        )

    def __contains__(self, value: Any) -> bool:
        raise _unknown("Write tf.reduce_any(tf.stack(l) == value).")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"A list that grows in staged control flow has no '{name}': go on with tf.stack(l)."
        )

    def __repr__(self) -> str:
        types = ", ".join([d.name for d in self.form.dtypes])
        return f"<list of {types} that grows in a graph>"

    @property
    def _type_spec(self) -> GrownListSpec:
        return GrownListSpec.around(self.form)


class GrownListSpec(TypeSpec):
    """The type of a GrownList: the structure of its elements and their specs."""

    __slots__ = ("_elements", "_form")

    def __init__(self, elements: Any) -> None:
        self._elements = elements
        self._form: Form | None = None

    @classmethod
    def around(cls, form: Form) -> GrownListSpec:
        """The spec of lists of this very form: those rebuilt share it."""
        specs = [
            TensorSpec(TensorShape(dims), dtype)
            for dims, dtype in zip(form.dims, form.dtypes, strict=True)
        ]
        result = cls(nest.pack_sequence_as(form.example, specs))
        result._form = form
        return result

    @property
    def value_type(self) -> Any:
        return GrownList

    def _serialize(self) -> tuple[Any, ...]:
        return (self._elements,)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """True for lists whose elements have the same structure and dtypes."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        if not isinstance(other, GrownListSpec):
            return False
        own, its = nest.flatten(self._elements), nest.flatten(other._elements)
        return len(own) == len(its) and all(
            a.dtype is b.dtype for a, b in zip(own, its, strict=True)
        )

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], variant) for _ in nest.flatten(self._elements)]

    def _to_components(self, value: Any) -> Any:
        return list(value.flows)

    def _from_components(self, components: Any) -> Any:
        grown = GrownList(self._form or self._new_form(), components)
        return grown if not door.level().eager else _listed_now(grown)

    def _new_form(self) -> Form:
        form = Form.__new__(Form)
        specs = nest.flatten(self._elements)
        form.example = nest.map_structure(lambda s: 0, self._elements)
        form.dtypes = [s.dtype for s in specs]
        form.dims = [as_dims(s.shape) for s in specs]
        return form


def _listed_now(grown: GrownList) -> list[Any]:
    """The elements in an ordinary list, where ops are executed eagerly."""
    count: Any = grown.size()
    return [grown[i] for i in range(int(count))]


def _plain(value: Any) -> Any:
    """An element with lists that grow inside it stacked."""
    return nest.map_structure(lambda v: v._alone() if isinstance(v, GrownList) else v, value)


def _unknown(advice: str) -> OperatorNotAllowedInGraphError:
    return OperatorNotAllowedInGraphError(f"This list grows in a staged loop or branch. {advice}")


__all__ = ["UNCHANGED", "Form", "GrownList", "GrownListSpec", "ListObserver"]
