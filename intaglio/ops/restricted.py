"""Loops over elements that NumPy has no function for, as Python functions that become machine code.

Such a function takes arrays, which it reads and writes one element at a time in C order, numbers,
and at last the range of rows that it is to do: rows are independent of each other, and threads share
them. It returns nothing. It may call functions of the same kind, which return numbers, and is made of:

- numbers: integers of 64 bits, which wrap around, floats of the dtypes of arrays, and tests. A
  variable has the type of what it is assigned first; an integer beside a float becomes one.
- `a[i]` of flat arrays, and `a[start:]`, the array from there on;
- assignments, `for` over `range`, `while`, `if`, `break`, `continue`, `return`;
- arithmetic, where `>>` fills with zeros, comparisons, `and`, `or`, `not`, `x if test else y`;
- `min`, `max`, `abs`, `int`, `float`, `math.sqrt`, `log`, `log1p`, `exp`, `lgamma`, `sin`, `cos`, `floor`,
  and what is below. Names of the module are constants.

`native/kernels/restricted_python.py` translates it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.opdef.machine_code import exact_kernel

# Work that is shared by threads, which takes about as long as waking them.
SHARED_WORK = 1 << 18
# Work that takes NumPy longer than the compiler takes for the function: such a call waits for it.
WAITING_WORK = 1 << 28


def single(x: Any) -> Any:
    """A number as float32."""
    return np.float32(x)


def bits_to_double(word: int) -> float:
    """The float64 of these 64 bits."""
    return struct.unpack("<d", struct.pack("<q", word))[0]


def _kind_of(argument: Any) -> str:
    """How a function's argument is passed."""
    if isinstance(argument, np.ndarray) and argument.ndim:
        dtype = argument.dtype
        return f"{dtype.kind}{dtype.itemsize}"
    return "double" if isinstance(argument, (float, np.floating)) else "i64"


def run_loops(function: Callable[..., None], work: int, *arguments: Any, rows: int) -> bool:
    """Runs machine code of a function of these arrays and numbers over so many rows, if there is any.

    False where there is no compiler, as long as the code is being compiled, and where arrays are not
    in order. `work` is what the call costs without it, in multiplications.
    """
    kinds = tuple([_kind_of(argument) for argument in arguments])
    run = exact_kernel("loops", work, function, kinds, quick=work < WAITING_WORK)
    if run is None or not all(map(_in_order, arguments)):
        return False
    run(*arguments, rows=rows, shared=rows > 1 and work >= SHARED_WORK)
    return True


def _in_order(argument: Any) -> bool:
    if not isinstance(argument, np.ndarray) or not argument.ndim:
        return True
    flags = argument.flags
    return bool(flags.c_contiguous and flags.aligned and argument.dtype.isnative)
