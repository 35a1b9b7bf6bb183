"""Calls of loops over elements (`ops/restricted.py`) in a kernel that is recorded, as an op of such loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import later
from intaglio.base.dtypes import float64, from_numpy, int64
from intaglio.opdef import raw
from intaglio.ops import restricted
from intaglio.optimize.symbolic_arrays import NotSymbolic, SymbolicArray, tensor_of


def run_loops(function: Callable[..., None], work: int, *arguments: Any, rows: int) -> bool:
    """In the place of `restricted.run_loops`: what the function writes to arrays becomes their elements.

    Raises NotSymbolic for arrays that are no part of the program, or have no elements.
    """
    # The function itself, which may be given with another NumPy in its module.
    name = f"{function.__module__}:{function.__qualname__}"
    written = restricted.written_parameters(later.named(name))
    layout, integers = "", list[int]()
    outputs, inputs, starts, words = [], [], [], []
    for number, argument in enumerate(arguments):
        array = argument
        is_array = isinstance(array, np.ndarray) and array.ndim
        if isinstance(array, SymbolicArray) and array.ndim and array.number is None:
            is_array = True
        if not is_array:
            letter, word = _number(argument)
            layout += letter
            words.append(word)
            continue
        if number in written and not isinstance(array, SymbolicArray):
            raise NotSymbolic("an array that is no part of the program is written to")
        if not math.prod(array.shape):
            raise NotSymbolic("loops over arrays without elements")
        layout += "o" if number in written else "i"
        flat = tensor_of(array.reshape(-1))
        if number in written:
            outputs.append(array)
            starts.append(flat)
        else:
            inputs.append(flat)
    if all(isinstance(w, int) for w in words):
        layout, integers, words = layout.replace("N", "n"), words, []
    last = [raw.Pack([_word(w) for w in words], axis=0)] if words else []
    found = raw._ElementLoops(
        [*inputs, *starts, *last],
        function=name,
        integers=integers,
        shapes=[(math.prod(a.shape),) for a in outputs],
        Tout=[from_numpy(a.dtype) for a in outputs],
        owned_sizes=[],
        Towned=[],
        layout=layout,
        begun=list(range(len(outputs))),
        rows=int(rows),
    )
    for array, value in zip(outputs, found, strict=True):
        array.become(SymbolicArray(value).reshape(array.shape))
    return True


def _number(argument: Any) -> tuple[str, Any]:
    """How a number is passed, and the integer or the symbolic number that it is."""
    if isinstance(argument, SymbolicArray):
        known = argument.known
        if known is None:
            return ("D" if argument.dtype.kind == "f" else "N"), argument.reshape(())
        argument = known[()] if not known.ndim else known.reshape(())[()]
    if isinstance(argument, (float, np.floating)):
        return "D", np.float64(argument)
    number = int(argument)
    return "N", (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _word(number: Any) -> Any:
    """A number as a word of 64 bits."""
    if isinstance(number, SymbolicArray):
        if number.dtype.kind == "f":
            return raw.Bitcast(raw.Cast(number.value, DstT=float64), type=int64)
        return raw.Cast(number.value, DstT=int64)
    return np.asarray(number).view(np.int64) if isinstance(number, np.float64) else np.int64(number)
