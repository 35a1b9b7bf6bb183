"""What machine code needs to know of eager tensors and arrays: where a tensor has its array, what makes both."""

from __future__ import annotations

import functools

import numpy as np

from intaglio import cpython
from intaglio.cpython import layout
from intaglio.runtime.eager import EagerTensor


@functools.cache
def symbols() -> dict[str, int]:
    """What code refers to that makes and recognises objects."""
    return {
        "tensor": layout.address_of(EagerTensor),
        "slot": _slot(),
        "array": layout.address_of(np.ndarray),
        "tuple": layout.address_of(tuple),
        "list": layout.address_of(list),
        "dict": layout.address_of(dict),
        "new_array": layout.function_address("new_array"),
        "new_object": layout.function_address("allocate_object"),
        "incref": layout.function_address("incref"),
        "decref": layout.function_address("decref"),
        "item": layout.function_address("dict_get"),
        "new_tuple": layout.function_address("new_tuple"),
    }


def _slot() -> int:
    """Where a tensor refers to its array; 0 if that is not to be found."""
    array = np.zeros(1)
    tensor = EagerTensor()
    tensor._array = array
    return layout.slot_offset(tensor, array)


AVAILABLE = cpython.AVAILABLE and _slot() > 0
