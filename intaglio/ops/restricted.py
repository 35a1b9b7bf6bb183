"""Loops over elements that NumPy has no function for, as Python functions that become machine code.

Such a function has parameters for arrays, which it reads and writes one element at a time in C
order, for numbers, and at the end for the range of rows to compute: rows are independent of each
other, and threads divide them. It returns None. It may call functions of the same form, which
return numbers, and consists of:

- numbers: integers of 64 bits, which wrap around, floats of the dtypes of arrays, and tests. A
  variable has the type of its first value; an integer combined with a float becomes one.
- `a[i]` of flat arrays, and `a[start:]`, the array from there on;
- assignments, `for` over `range`, `while`, `if`, `break`, `continue`, `return`;
- arithmetic, where `>>` fills with zeros, comparisons, `and`, `or`, `not`, `x if test else y`;
- `min`, `max`, `abs`, `int`, `float`, `math.sqrt`, `log`, `log1p`, `exp`, `lgamma`, `sin`, `cos`, `floor`,
  and the functions below. Names of the module are constants.

`native/kernels/restricted_python.py` translates it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import struct
import textwrap
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
    """Runs machine code of a function of these arrays and numbers over so many rows, if there is
    any.

    False without a compiler, while the code is being compiled, and for arrays that are not
    contiguous. `work` is the cost of the call without it, in multiplications.
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


@functools.cache
def tree_of(function: Any) -> ast.FunctionDef:
    """The syntax tree of a function. Raises ValueError for other objects."""
    body = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(body, ast.FunctionDef):
        raise ValueError(f"{function} is no function")
    return body


@functools.cache
def written_parameters(function: Any) -> frozenset[int]:
    """The numbers of the parameters whose elements a function writes, itself or by others that it calls."""
    tree = tree_of(function)
    names = [a.arg for a in tree.args.args]
    scope = inspect.getclosurevars(function).globals
    # What each variable is a part of: `rows = found[start:]`.
    roots = {name: {number} for number, name in enumerate(names)}
    pairs = [p for n in ast.walk(tree) if isinstance(n, ast.Assign) for p in _assigned(n)]
    while True:
        before = {name: set(found) for name, found in roots.items()}
        for target, value in pairs:
            roots.setdefault(target, set()).update(_roots(value, roots))
        if roots == before:
            break
    found: set[int] = set()
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = [
                e for t in node.targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])
            ]
        elif isinstance(node, ast.AugAssign):
            targets = [node.target]
        for target in targets:
            if isinstance(target, ast.Subscript):
                found |= _roots(target.value, roots)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = scope.get(node.func.id)
            if (
                inspect.isfunction(called)
                and called is not function
                and called.__module__ != __name__
            ):
                for number in written_parameters(called):
                    found |= _roots(node.args[number], roots)
    return frozenset(found)


def _assigned(node: ast.Assign) -> list[tuple[str, ast.expr]]:
    """The variables of an assignment with their values, one by one."""
    (target,) = node.targets
    if isinstance(target, ast.Name):
        return [(target.id, node.value)]
    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
        pairs = zip(target.elts, node.value.elts, strict=True)
        return [(t.id, v) for t, v in pairs if isinstance(t, ast.Name)]
    return []


def _roots(value: ast.expr, roots: dict[str, set[int]]) -> set[int]:
    """The parameters that an array may be a part of."""
    while isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        value = value.value
    if isinstance(value, ast.IfExp):
        return _roots(value.body, roots) | _roots(value.orelse, roots)
    return roots.get(value.id, set()) if isinstance(value, ast.Name) else set()
