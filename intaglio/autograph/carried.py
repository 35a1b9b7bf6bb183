"""The values that a graph can carry through a block: tensors, numbers, growing lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.autograph.containers import Contents, contents
from intaglio.autograph.optional import Maybe, known
from intaglio.autograph.values import Undefined
from intaglio.autograph.watches import Seen
from intaglio.base import nest, shapes
from intaglio.base.composite import CompositeTensor
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import convert, door
from intaglio.opdef.tensor import Tensor
from intaglio.type_specs.grown_list import Form, GrownList


def now(seen: Seen) -> Any:
    """The current value of a location; of a changed list or other container its contents."""
    value = seen.location.get()
    if type(value) is GrownList:
        return value.snapshot()
    # An inner loop may have replaced the growing list by another.
    same = type(value) is list or value is seen.value
    return contents(value) if same and seen.is_grown() else value


def is_carried(value: Any) -> bool:
    """True for tensors of graphs that are open, numbers, and structures of these."""
    leaves = _leaves(value)
    return bool(leaves) and all(
        _is_open(v)
        if isinstance(v, Tensor)
        else isinstance(v, (bool, int, float, complex, np.ndarray, np.generic))
        for v in leaves
    )


def may_be_state(seen: Seen, ends: Any, form: Form | None, in_loop: bool) -> bool:
    """True if both values are of one type: before and after an iteration, or after two branches."""
    before, after = ends
    if seen.elements is not None:
        return form is not None
    if type(before) is Undefined:
        return in_loop and is_carried(after) and _is_of_known_shapes(after)
    if any(v is None or type(v) is Maybe for v in ends):
        return _may_be_optional(seen, before, after)
    if any(v is seen.before and not is_carried(v) for v in (before, after)):
        return False
    if type(after) is Undefined:
        return False
    if not (has_tensor(before) or has_tensor(after)) and _is_equal(before, after):
        return False
    return _types(before) == _types(after)


def _is_of_known_shapes(value: Any) -> bool:
    return all(shapes.known(t.dims) for t in nest.flatten(value) if isinstance(t, Tensor))


def _may_be_optional(seen: Seen, *ends: Any) -> bool:
    """True if both are None, a Maybe, or what a tensor can be; and one has a tensor."""
    there = [v for v in ends if v is not None]
    if any(v is seen.before and not is_carried(known(v)) for v in there):
        return False
    if any(type(v) is Undefined for v in there):
        return False
    types = [_types(known(v)) for v in there]
    return any(map(has_tensor, there)) and types == types[:1] * len(there)


def _is_equal(before: Any, after: Any) -> bool:
    one, other = nest.flatten(before), nest.flatten(after)
    return len(one) == len(other) and all(
        np.array_equal(a, b) for a, b in zip(one, other, strict=True)
    )


def _leaves(value: Any) -> list[Any]:
    try:
        return nest.flatten(value, expand_composites=True)
    except (AttributeError, TypeError, ValueError):  # an array of eager tensors
        return [value]


def _is_open(tensor: Any) -> bool:
    if not isinstance(tensor, SymbolicTensor):
        return True
    graph = tensor.graph
    return any(getattr(lv, "graph", None) is graph for lv in door.stack().levels)


def has_tensor(value: Any) -> bool:
    """True for symbolic tensors and structures with one."""
    return any(isinstance(v, SymbolicTensor) for v in _leaves(value))


def _types(value: Any) -> Any:
    """The structure and dtypes of a value; branches and loops compare shapes."""
    leaves = [
        v.dtype if isinstance(v, Tensor) else convert.to_tensor(v).dtype for v in _leaves(value)
    ]
    outer = nest.map_structure(
        lambda v: type(v).__name__ if isinstance(v, CompositeTensor) else "", value
    )
    return repr(outer), leaves


def list_form(seen: Seen, *values: Any) -> Form | None:
    """The form of the elements of a list that grows; None if it cannot be carried.

    Lists that outlive the trace and get only Python values are the user's logs.
    """
    if seen.elements is None:
        return None
    elements = list(seen.elements)
    for value in values:
        if type(value) is GrownList:
            return value.form
        if isinstance(value, Contents):
            elements += value
        elif value is not seen.value:
            return None
    if not elements or (seen.location.outlives and not has_tensor(elements[-1])):
        return None
    try:
        return Form.common(elements)
    except (TypeError, ValueError):
        return None
