"""The way from Python into machine code: a built-in function that is written in LLVM.

CPython calls it with an array of arguments (METH_FASTCALL); it checks that each is an
ndarray whose elements lie in order, takes the pointers to the data from the objects, and
runs the kernel. Nothing is allocated and no argument is parsed. What it relies on, the
offsets inside of ndarrays and bytes, is verified on live objects when this module is
imported; where it does not hold, `AVAILABLE` is false and kernels are called through ctypes.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.native import llvm
from intaglio.native.buffers import maker
from intaglio.native.code import Code
from intaglio.native.pool import Pool, pool

# Offsets in PyObject, PyBytesObject and PyArrayObject.
TYPE, BYTES, DATA, RANK, LENGTHS, FLAGS = 8, 32, 16, 24, 32, 64
# C_CONTIGUOUS | ALIGNED
IN_ORDER = 0x0001 | 0x0100
FASTCALL = 0x0080
# Kernels with fewer elements than this are done before another thread could help.
LARGE = 1 << 15
# Parts of the work for each thread: more than one, for threads may be kept from running.
PARTS = 4
# The parameters of a kernel: pointers to data, lengths of the loops, range of the outermost.
KERNEL = ("ptr %ins", "ptr %outs", "ptr %dims", "i64 %from", "i64 %to")


class _MethodDef(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def _verified() -> bool:
    """True if objects look as the entries expect."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    word, number = ctypes.c_void_p.from_address, ctypes.c_int.from_address
    for array in (
        np.arange(3.0),
        np.zeros((2, 3), "i4"),
        np.arange(6)[::2],
        np.zeros(()),
    ):
        at, flags = id(array), array.flags
        if word(at + TYPE).value != id(np.ndarray):
            return False
        if word(at + DATA).value != array.ctypes.data:
            return False
        if number(at + RANK).value != array.ndim:
            return False
        lengths = word(at + LENGTHS).value or 0
        length = ctypes.c_ssize_t.from_address
        if array.shape != tuple(
            [length(lengths + 8 * i).value for i in range(array.ndim)]
        ):
            return False
        if (number(at + FLAGS).value & 1 == 1) != flags.c_contiguous:
            return False
        if (number(at + FLAGS).value & 0x100 == 0x100) != flags.aligned:
            return False
    text = b"offsets of bytes"
    return ctypes.string_at(id(text) + BYTES, len(text)) == text


AVAILABLE = _verified()

_new_function = ctypes.pythonapi.PyCFunction_NewEx
_new_function.restype = ctypes.py_object
_new_function.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]


class Definition:
    """A native function from which built-in functions are made."""

    def __init__(self, name: str, address: int, keep: Any) -> None:
        self._method = _MethodDef(name.encode(), address, FASTCALL, None)
        self._keep = keep

    def function(self, held: bytes, keep: Any = None) -> Callable[..., Any]:
        """The built-in function whose `self` is `held`. It keeps alive what it needs.

        A built-in function holds a second object, which is meant for the name of its module.
        """
        made: Callable[..., Any] = _new_function(
            ctypes.addressof(self._method), held, [self, keep]
        )
        return made


# What code needs of the process that it runs in stands before the dims: machine code with
# addresses in it could not be kept on disk.
PROCESS = ("kernel", "array", "none", "refused", "save", "restore", "parallel_for", "pool")  # fmt: skip


def process(threads: Pool | None, kernel: int = 0) -> list[int]:
    """The addresses named in `PROCESS`; `kernel` is what the entry runs, for other code to call."""
    python = [
        ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
        for name in ("PyEval_SaveThread", "PyEval_RestoreThread")
    ]
    shared = [threads.parallel_for, threads.address] if threads else [0, 0]
    objects = [id(np.ndarray), id(None), id(NotImplemented)]
    return [kernel, *objects, *python, *shared]


def of_process(code: Code, name: str, dims: str = "%dims") -> str:
    """An address named in `PROCESS`."""
    offset = PROCESS.index(name) - len(PROCESS)
    return code.load("ptr", code.at("i64", dims, str(offset)), 8)


def numbers(code: Code, names: Sequence[str]) -> dict[str, str]:
    """Reads in a kernel the numbers that it is told, by their names."""
    return {
        name: code.load("i64", code.at("i64", "%dims", str(i)), 8)
        for i, name in enumerate(names)
    }


def write(
    kernel: str, inputs: int, outputs: int, forms: Sequence[tuple[int, ...]] = ()
) -> Code:
    """Writes `kernel_entry`: arguments are the input arrays, then the output arrays.

    Its `self` is a bytes object that holds the dims as int64. The kernel runs over the whole
    of the first. Gives None, or NotImplemented if an argument is no array in order, or an
    input has not the shape that `forms` says.
    """
    code = Code(f"{kernel}_entry", ["ptr %self", "ptr %args", "i64 %count"], "ptr")
    dims = code.at("i8", "%self", str(BYTES + 8 * len(PROCESS)))
    array, refused = (
        of_process(code, "array", dims),
        of_process(code, "refused", dims),
    )
    ins = code.let(f"alloca ptr, i64 {max(inputs, 1)}")
    outs = code.let(f"alloca ptr, i64 {outputs}")
    for i in range(inputs + outputs):
        given = code.load("ptr", code.at("ptr", "%args", str(i)), 8)
        kind = code.load("ptr", code.at("i8", given, str(TYPE)), 8)
        _otherwise(code, code.let(f"icmp eq ptr {kind}, {array}"), refused)
        flags = code.load("i32", code.at("i8", given, str(FLAGS)), 4)
        order = code.let(f"and i32 {flags}, {IN_ORDER}")
        _otherwise(code, code.let(f"icmp eq i32 {order}, {IN_ORDER}"), refused)
        if i < len(forms):
            _check_shape(code, given, forms[i], refused)
        data = code.load("ptr", code.at("i8", given, str(DATA)), 8)
        table, place = (ins, i) if i < inputs else (outs, i - inputs)
        code.do(f"store ptr {data}, ptr {code.at('ptr', table, str(place))}, align 8")
    count = code.load("i64", dims, 8)
    code.do(
        f"call void @{kernel}(ptr {ins}, ptr {outs}, ptr {dims}, i64 0, i64 {count})"
    )
    _return(code, of_process(code, "none", dims))
    return code


def write_shared(kernel: str, unit: int, threads: Pool | None) -> Code:
    """Writes `kernel_shared`: the kernel without the interpreter's lock, on all threads.

    Every thread takes parts of the outermost loop, whole multiples of `unit`.
    """
    code = Code(f"{kernel}_shared", KERNEL)
    state = code.let(f"call ptr {of_process(code, 'save')}()")
    if threads is None:
        code.do(
            f"call void @{kernel}(ptr %ins, ptr %outs, ptr %dims, i64 %from, i64 %to)"
        )
    else:
        context = code.let("alloca [5 x i64]")
        units = code.let(f"sdiv i64 {code.let(f'add i64 %to, {unit - 1}')}, {unit}")
        most = str((threads.workers + 1) * PARTS)
        few = code.let(f"icmp slt i64 {units}, {most}")
        parts = code.let(f"select i1 {few}, i64 {units}, i64 {most}")
        held = [("ptr", "%ins"), ("ptr", "%outs"), ("ptr", "%dims"), ("i64", "%to"), ("i64", parts)]  # fmt: skip
        for i, (kind, value) in enumerate(held):
            code.do(
                f"store {kind} {value}, ptr {code.at('i64', context, str(i))}, align 8"
            )
        run, shared = of_process(code, "parallel_for"), of_process(code, "pool")
        code.do(
            f"call void {run}(ptr {shared}, ptr @{kernel}_part, ptr {context}, i64 {parts})"
        )
    code.do(f"call void {of_process(code, 'restore')}(ptr {state})")
    code.do("ret void")
    return code


def write_part(kernel: str, unit: int) -> Code:
    """Writes `kernel_part`, the task of a thread: one of the parts `write_shared` makes."""
    code = Code(f"{kernel}_part", ["ptr %context", "i64 %part"])
    ins, outs, dims = (
        code.load("ptr", code.at("i64", "%context", str(i)), 8) for i in range(3)
    )
    total, parts = (
        code.load("i64", code.at("i64", "%context", str(i)), 8) for i in (3, 4)
    )
    units = code.let(f"sdiv i64 {code.let(f'add i64 {total}, {unit - 1}')}, {unit}")
    bounds: list[str] = []
    for part in ("%part", code.let("add i64 %part, 1")):
        share = code.let(f"sdiv i64 {code.let(f'mul i64 {units}, {part}')}, {parts}")
        bound = code.let(f"mul i64 {share}, {unit}")
        beyond = code.let(f"icmp sgt i64 {bound}, {total}")
        bounds.append(code.let(f"select i1 {beyond}, i64 {total}, i64 {bound}"))
    code.do(
        f"call void @{kernel}(ptr {ins}, ptr {outs}, ptr {dims}, i64 {bounds[0]}, i64 {bounds[1]})"
    )
    code.do("ret void")
    return code


def _check_shape(code: Code, array: str, form: tuple[int, ...], refused: str) -> None:
    """Refuses an array of another shape."""
    rank = code.load("i32", code.at("i8", array, str(RANK)), 4)
    _otherwise(code, code.let(f"icmp eq i32 {rank}, {len(form)}"), refused)
    lengths = code.load("ptr", code.at("i8", array, str(LENGTHS)), 8)
    for i, wanted in enumerate(form):
        length = code.load("i64", code.at("i64", lengths, str(i)), 8)
        _otherwise(code, code.integer("icmp eq", length, wanted), refused)


def _otherwise(code: Code, holds: str, answer: str) -> None:
    """Returns `answer` unless a condition holds."""
    right, wrong = code.new_label("right"), code.new_label("wrong")
    code.do(f"br i1 {holds}, label %{right}, label %{wrong}")
    code.label(wrong)
    _return(code, answer)
    code.label(right)


def _return(code: Code, answer: str) -> None:
    """Returns an object that lives for ever, with a reference of its own."""
    if sys.version_info < (3, 12):  # from 3.12 on these are not counted
        count = code.load("i64", answer, 8)
        code.do(f"store i64 {code.integer('add', count, 1)}, ptr {answer}, align 8")
    code.do(f"ret ptr {answer}")


class Entry:
    """The compiled entry of a kernel, from which functions are made, one for each tuple of dims."""

    def __init__(self, made: llvm.Module, kernel: str) -> None:
        address = made.address(f"{kernel}_entry")
        self._definition = Definition("kernel", address, made)
        self.kernel = made.address(kernel)

    def for_dims(self, dims: Sequence[int]) -> Callable[..., Any]:
        """The built-in function that runs the kernel on arrays of these dims."""
        words = [*process(pool(), self.kernel), *dims]
        return self._definition.function(np.asarray(words, np.int64).tobytes())


def filling(kernel: Callable[..., Any], shape: tuple[int, ...]) -> Callable[..., Any]:
    """A function of arrays that makes a float32 array of this shape and lets a kernel fill it."""
    empty, in_order = maker(shape, np.float32), np.ascontiguousarray

    # `filling_all` for one result, without its lists: small products spend most of their time here.
    def run(*arrays: Any) -> Any:
        result = empty()
        if kernel(*arrays, result) is NotImplemented:
            kernel(*[in_order(a) for a in arrays], result)
        return result

    return _known(run, Step(kernel, [(shape, _SINGLE)]))


def filling_all(
    kernel: Callable[..., Any], results: Sequence[tuple[tuple[int, ...], Any]]
) -> Callable[..., list[Any]]:
    """The same for several results, of these shapes and dtypes.

    Arrays that do not lie in order, and NumPy scalars, are copied.
    """
    makers = [maker(shape, dtype) for shape, dtype in results]
    in_order = np.ascontiguousarray

    def run(*arrays: Any) -> list[Any]:
        made = [make() for make in makers]
        if kernel(*arrays, *made) is NotImplemented:
            kernel(*[in_order(a) for a in arrays], *made)
        return made

    return _known(run, Step(kernel, results))


class Step(NamedTuple):
    """What a function made by `filling` does, for native code that is to do it by itself:
    the kernel, and shapes and dtypes of the results."""

    kernel: Any
    results: Sequence[tuple[tuple[int, ...], Any]]

    @property
    def words(self) -> list[int]:
        """The addresses named in `PROCESS`, then the dims."""
        return np.frombuffer(self.kernel.__self__, np.int64).tolist()


def _known(run: Any, step: Step) -> Any:
    """The function, with what it does written down."""
    run.steps = [step]
    return run


_SINGLE = np.dtype(np.float32)
