"""Calls of Python functions from machine code, with or without the interpreter's lock.

An exception that such a function raises, as Ctrl-C may in any, stays set in the thread: the machine
code has to end, and its caller in Python raises the exception. (A ctypes callback prints it instead.)
"""

from __future__ import annotations

import functools

import numpy as np

from intaglio.cpython import layout
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code, module

# Results of machine code besides 0, which is success: the interpreter has to repeat the work, or an
# exception is set.
REFUSED, RAISED = 1, 2
# The functions of CPython that the code calls, in the order of their table.
_FUNCTIONS = (
    "ensure_lock",
    "release_ensured",
    "int_from_address",
    "call",
    "int_as_int64",
    "decref",
)


class PythonCall:
    """The machine code `int64 (function, void *one, void *two, table, int64 count)`.

    It calls a Python function with the first `count` addresses as ints, one or two, and returns the
    int that this returns, or RAISED. `address` is that of the code, `table` that of its table.
    """

    def __init__(self) -> None:
        self._code = jit.Module(module([_call()]))
        self._table = np.array([layout.function_address(n) for n in _FUNCTIONS], np.int64)
        self.address = self._code.address("python_call")
        self.table: int = self._table.ctypes.data


@functools.cache
def python_call() -> PythonCall:
    """The process's code, created when it is first needed."""
    return PythonCall()


def _call() -> Code:
    parameters = ["ptr %function", "ptr %one", "ptr %two", "ptr %table", "i64 %count"]
    code = Code("python_call", parameters, "i64")

    def function(name: str) -> str:
        return code.load("ptr", code.at("ptr", "%table", str(_FUNCTIONS.index(name))), 8)

    overflow = code.first("alloca i32")
    lock = code.let(f"call i32 {function('ensure_lock')}()")
    one, two = (
        code.let(f"call ptr {function('int_from_address')}(ptr {p})") for p in ("%one", "%two")
    )
    is_one = code.integer("icmp eq", "%count", 1)
    second = code.let(f"select i1 {is_one}, ptr null, ptr {two}")
    result = code.let(
        f"call ptr (ptr, ...) {function('call')}(ptr %function, ptr {one}, ptr {second}, ptr null)"
    )
    returned, raised, after = code.new_label("returned"), code.new_label("raised"), "after"
    code.branch(code.let(f"icmp eq ptr {result}, null"), raised, returned)
    code.label(returned)
    number = code.let(f"call i64 {function('int_as_int64')}(ptr {result}, ptr {overflow})")
    code.jump(after)
    code.label(raised)
    code.jump(after)
    code.label(after)
    status = code.phi("i64")
    code.arrive(status, (number, returned), (str(RAISED), raised))
    for object_ in (result, one, two):
        code.do(f"call void {function('decref')}(ptr {object_})")
    code.do(f"call void {function('release_ensured')}(i32 {lock})")
    code.do(f"ret i64 {status.name}")
    return code
