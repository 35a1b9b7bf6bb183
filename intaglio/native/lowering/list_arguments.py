"""Lists as inputs and results of native functions: TensorLists outside, arrays with a length
inside.

A list that a function returns is one array whose rows are the elements; while it is unchanged, the
next function takes that array. Else the elements are stacked first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.native.analysis.list_elements import element_of
from intaglio.native.analysis.sizes import numeric
from intaglio.native.llvm.vectors import Unsupported, kind_of
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand, known
from intaglio.native.lowering.tensor_lists import MAX_LIST_CAPACITY, Declared, ListOperand
from intaglio.ops.control_flow.list_value import Stacked, TensorList, stacked

# The words of a list input: the address of its elements, its size and its limit.
FORM = (3,)


def list_argument(
    w: FunctionLowering, graph: Any, value: Any, pointer: str, number: int
) -> ListOperand:
    """The list of an input. Raises Unsupported if the spec of its elements is unknown."""
    dtype, dims = element_of(graph, value)
    if dtype is None or not numeric(dtype):
        raise Unsupported("a list from elsewhere")
    element, code = known(dims), w.code
    kind = kind_of(dtype.numpy)
    if not ArrayOperand(kind, element).count:
        raise Unsupported("a list of elements without numbers")
    address = code.load("i64", pointer, 8)
    elements = code.let(f"inttoptr i64 {address} to ptr")
    size = code.load("i64", code.at("i64", pointer, "1"), 8)
    limit = code.load("i64", code.at("i64", pointer, "2"), 8)
    declared = Declared(limit, None, number)
    return ListOperand(kind, element, elements, size, MAX_LIST_CAPACITY, (), declared, owned=False)


def elements_of(value: TensorList, dtype: Any, element: tuple[int, ...]) -> tuple[Any, Any]:
    """The elements of a list as an array, and their address.

    None if they are too many, of several shapes, or unset.
    """
    if value.element.numpy != dtype or value.size > MAX_LIST_CAPACITY:
        return None, None
    array = value.whole()
    if array is None:
        items = value.items()
        if any(item is None or item.shape != element for item in items):
            return None, None
        array = stacked(items, element, value.element) if items else np.empty((0, *element), dtype)
    elif array.shape[1:] != element:
        return None, None
    address = array.__array_interface__["data"][0]
    return array, np.array([address, len(array), value.limit], np.int64)


def list_of_rows(rows: Any, element: DType, declared: Any) -> TensorList:
    """The list of an array's rows, which owns the array.

    Its limit and its elements' shape are `declared`, or those of that list, not those of the rows:
    another shape may be pushed to an empty list.
    """
    limit, dims = int(declared.limit), declared.dims
    return TensorList(Stacked(rows), len(rows), element, limit, dims)
