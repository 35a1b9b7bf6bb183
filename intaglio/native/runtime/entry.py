"""Entries: built-in functions of machine code through which Python calls kernels.

CPython calls an entry with an array of arguments. It checks that each is an ndarray whose elements
are contiguous, and that it has the dtype and shape which the kernel was compiled for, if any; it
reads the pointers to their data, and runs the kernel. Nothing is allocated and no
argument is parsed. Offsets and addresses are those of `cpython.layout`; where that may not be used,
`AVAILABLE` is false.

The code of all entries is the same and is compiled once. What an entry runs is in its *frame*,
the `bytes` object that is its `self`: the words named in `HEADER`, then the dims that its kernel
reads. Machine code that contains addresses could not be kept on disk.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio import cpython
from intaglio.base.dtypes import from_numpy
from intaglio.base.errors import InternalError
from intaglio.base.locks import lasting_lock
from intaglio.cpython import layout
from intaglio.cpython.methods import FunctionDefinition
from intaglio.native.llvm import jit, target
from intaglio.native.llvm.builder import Code, module
from intaglio.native.runtime.buffers import allocator
from intaglio.native.runtime.thread_pool import pool, thread_count

# Whether Python calls kernels through entries. If not, elementwise kernels are called through ctypes,
# and all other ops are NumPy's.
AVAILABLE = cpython.AVAILABLE
# Number of elements below which a kernel finishes before another thread could take a part.
MIN_PARALLEL_ELEMENTS = 1 << 15
# Tasks for each thread: several, as the system may preempt a thread.
TASKS_PER_THREAD = 4
# The parameters of a kernel: pointers to data, dims, range of the outermost loop.
KERNEL = ("ptr %ins", "ptr %outs", "ptr %dims", "i64 %from", "i64 %to")
# The words before the dims, eight bytes each. `kernel` is called; where that is a trampoline, it
# runs `body`: `parallel` in at most `max_tasks` tasks, whose sizes are multiples of `unit`.
# `shapes` points to what arrays `enter` accepts (see `_shapes`). All others are addresses of the
# process.
HEADER = (
    "kernel",
    "body",
    "unit",
    "shapes",
    "array_type",
    "none",
    "not_implemented",
    "save",
    "restore",
    "error_occurred",
    "parallel_for",
    "pool",
    "task",
    "max_tasks",
)


def load_header(code: Code, name: str, dims: str = "%dims", kind: str = "ptr") -> str:
    """Loads a word named in `HEADER`, of an LLVM type, in code that has a pointer to the dims."""
    offset = HEADER.index(name) - len(HEADER)
    return code.load(kind, code.at("i64", dims, str(offset)), 8)


def load_dims(code: Code, names: Sequence[str]) -> dict[str, str]:
    """Loads the first dims of a kernel, int64 each, by their names."""
    return {
        name: code.load("i64", code.at("i64", "%dims", str(i)), 8) for i, name in enumerate(names)
    }


def header(kernel: int = 0, body: int = 0, unit: int = 1, shapes: int = 0) -> list[int]:
    """The values of the words named in `HEADER`."""
    # Code for another process runs with the number of threads that its caller requests.
    threads = None if target.FREESTANDING else pool()
    most = thread_count() if target.FREESTANDING else threads.workers + 1 if threads else 1
    words = {
        **_process_addresses(),
        "kernel": kernel,
        "body": body,
        "unit": unit,
        "shapes": shapes,
        "task": trampolines().task,
        "parallel_for": threads.parallel_for if threads else 0,
        "pool": threads.address if threads else 0,
        "max_tasks": most * TASKS_PER_THREAD if most > 1 else 1,
    }
    return [words[name] for name in HEADER]


@functools.cache
def _process_addresses() -> dict[str, int]:
    return {
        "save": layout.function_address("save_thread"),
        "restore": layout.function_address("restore_thread"),
        "error_occurred": layout.function_address("error_occurred"),
        "array_type": layout.address_of(np.ndarray),
        "none": layout.address_of(None),
        "not_implemented": layout.address_of(NotImplemented),
    }


class Entry:
    """The entry of a kernel, which creates functions, one for each tuple of dims."""

    def __init__(
        self,
        code: jit.Module,
        name: str,
        inputs: int,
        outputs: int,
        *,
        shapes: Sequence[tuple[int, ...]] = (),
        dtypes: Sequence[Any] = (),
        unit: int = 0,
        unlocked: bool = False,
        raises: bool = False,
        flagged: bool = False,
    ) -> None:
        """`name` is the kernel in `code`, with so many input and output arrays.

        The first arrays must have the `shapes`, and the NumPy `dtypes`. With a `unit`, all threads
        run the kernel on ranges that are multiples of it. `unlocked` runs it without the
        interpreter's lock; after a kernel that `raises`, the function raises the exception that is
        set, if one is. Threads are not asked for one that is `flagged` (see `return_unless_flagged`)
        where no flag is set.
        """
        self._shapes = np.array(_shapes(inputs, outputs, shapes, dtypes), np.int64)
        keep = (code, self._shapes, tuple(dtypes))
        enter = trampolines().enter_raising if raises else trampolines().enter
        self._definition = FunctionDefinition("kernel", enter, keep)
        body = code.address(name)
        parallel = trampolines().parallel_if_flagged if flagged else trampolines().parallel
        self.kernel = parallel if unit else trampolines().unlocked if unlocked else body
        self._header = header(self.kernel, body, unit or 1, self._shapes.ctypes.data)

    def for_dims(self, dims: Sequence[int], tasks: int = 0) -> Callable[..., Any]:
        """The function of input and output arrays that runs the kernel with these dims.

        It returns None, or NotImplemented if an argument is no array in order or has another dtype
        or shape than it must have. Threads claim up to `tasks` tasks, if that is more than usual.
        """
        frame = [*self._header, *dims]
        at = HEADER.index("max_tasks")
        frame[at] = max(frame[at], tasks)
        if target.FREESTANDING:
            return OtherProcess(np.asarray(frame, np.int64).tobytes())
        return self._definition.function(np.asarray(frame, np.int64).tobytes())


class OtherProcess:
    """Replaces a kernel's function where code is written for another process: only its frame is used."""

    def __init__(self, frame: bytes) -> None:
        self.__self__ = frame

    def __call__(self, *arrays: Any) -> Any:
        raise InternalError(None, None, f"Machine code for {target.NAME} cannot be run here.")


def _shapes(
    inputs: int, outputs: int, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[Any]
) -> list[int]:
    """The table of arrays that `enter` accepts: the numbers of inputs and of arrays, a record for each array.

    A record is the address of the dtype, or 0 for any; the rank, or -1 for any shape; the lengths.
    """
    words = [inputs, inputs + outputs]
    for i in range(inputs + outputs):
        words.append(layout.address_of(dtypes[i]) if i < len(dtypes) else 0)
        words += [len(shapes[i]), *shapes[i]] if i < len(shapes) else [-1]
    return words


def in_order(array: Any) -> Any:
    """The array as kernels require it: aligned, in C order, with NumPy's canonical dtype object."""
    dtype = from_numpy(array.dtype).numpy
    if type(array) is np.ndarray and array.dtype is dtype:
        flags = array.flags
        return array if flags.c_contiguous and flags.aligned else array.copy()
    ordered = np.empty(array.shape, dtype)
    ordered[...] = array
    return ordered


def call_in_order(kernel: Any, arrays: Sequence[Any], rest: Sequence[Any]) -> None:
    """Calls a kernel again with ordered copies of the arrays that it refused; `rest` are constants and results.

    Raises InternalError if it still refuses: then an array has not the dtype or shape that the
    kernel was compiled for, and the memory of the results holds nothing.
    """
    if kernel(*[in_order(a) for a in arrays], *rest) is NotImplemented:
        shown = ", ".join([f"{a.dtype}{list(a.shape)}" for a in arrays])
        raise InternalError(None, None, f"A kernel was compiled for other arrays than {shown}.")


# -- functions that allocate their results --------------------------------------------------


class Step(NamedTuple):
    """A call of a kernel that allocates its results, for native code that calls it by itself.

    `results` are their shapes and dtypes. The operands are the results of the step before, or the
    arguments; where `operands` is given, it has the number of each, counted over the arguments and
    then the results of all steps, or a constant array. A `cacheable` result may be kept for an
    operand that stays the same.
    """

    kernel: Any
    results: Sequence[tuple[tuple[int, ...], Any]]
    operands: Sequence[Any] | None = None
    cacheable: bool = False

    def run(self, array: Any) -> Any:
        """The only result for the only operand."""
        ((shape, dtype),) = self.results
        result = np.empty(shape, dtype)
        self.kernel(np.ascontiguousarray(array), result)
        return result

    @property
    def frame(self) -> list[int]:
        """The words named in `HEADER`, then the dims."""
        return np.frombuffer(self.kernel.__self__, np.int64).tolist()


def filling(
    kernel: Callable[..., Any], shape: tuple[int, ...], dtype: Any = np.float32
) -> Callable[..., Any]:
    """The function of input arrays that allocates the result, which the kernel fills, and returns it.

    Non-contiguous arrays, and NumPy scalars, are copied. The function's `steps` describe what
    it does.
    """
    allocate = allocator(shape, dtype)

    # A copy of `filling_all` for one result, without lists: it dominates the time of small products.
    def run(*arrays: Any) -> Any:
        result = allocate()
        if kernel(*arrays, result) is NotImplemented:
            call_in_order(kernel, arrays, [result])
        return result

    return _with_step(run, Step(kernel, [(shape, np.dtype(dtype))]))


def updating(kernel: Callable[..., Any]) -> Callable[..., None]:
    """The function of arrays some of which the kernel overwrites; it allocates nothing."""

    def run(*arrays: Any) -> None:
        kernel(*arrays)

    return _with_step(run, Step(kernel, []))


def filling_all(
    kernel: Callable[..., Any], results: Sequence[tuple[tuple[int, ...], Any]]
) -> Callable[..., list[Any]]:
    """As `filling`, for several results of these shapes and dtypes."""
    allocators = [allocator(shape, dtype) for shape, dtype in results]

    def run(*arrays: Any) -> list[Any]:
        filled = [allocate() for allocate in allocators]
        if kernel(*arrays, *filled) is NotImplemented:
            call_in_order(kernel, arrays, filled)
        return filled

    return _with_step(run, Step(kernel, results))


def _with_step(run: Any, step: Step) -> Any:
    run.steps = [step]
    return run


# -- the code of entries ---------------------------------------------------------------------


class _Trampolines(NamedTuple):
    """Addresses of the functions below, and the module that they are in."""

    enter: int
    enter_raising: int
    parallel: int
    parallel_if_flagged: int
    task: int
    unlocked: int
    save_nothing: int
    restore_nothing: int
    sequence: int
    code: jit.Module


_trampolines: list[_Trampolines] = []
_trampolines_lock = lasting_lock()


def trampolines() -> _Trampolines:
    """The functions that run before kernels, compiled when they are first needed."""
    if not _trampolines:
        with _trampolines_lock:
            # Frames contain these addresses: there must be one module, which is never freed.
            if not _trampolines:
                code = jit.Module(_text(), jit.GLUE_EFFORT)
                names = [name for name in _Trampolines._fields if name != "code"]
                _trampolines.append(_Trampolines(**{n: code.address(n) for n in names}, code=code))
    return _trampolines[0]


def _text() -> str:
    """The module."""
    return module(
        [
            _enter("enter", False),
            _enter("enter_raising", True),
            _parallel("parallel"),
            _parallel("parallel_if_flagged", flagged=True),
            _task(),
            _unlocked(),
            *_nothing(),
            _sequence(),
        ]
    )


def _enter(name: str, raises: bool) -> Code:
    """The built-in function: its arguments are the input arrays, then the output arrays.

    It runs the kernel over the first dim, and returns None; or NotImplemented if an argument is no
    contiguous array, or has another dtype or shape than in the frame. If a kernel `raises`, it
    returns null when an exception is set.
    """
    code = Code(name, ["ptr %self", "ptr %args", "i64 %count"], "ptr")
    dims = code.at("i8", "%self", str(layout.BYTES_DATA + 8 * len(HEADER)))
    kernel, shapes, array_type, refused = (
        load_header(code, name, dims)
        for name in ("kernel", "shapes", "array_type", "not_implemented")
    )
    inputs, total = (code.load("i64", code.at("i64", shapes, str(i)), 8) for i in (0, 1))
    table = code.let(f"alloca ptr, i64 {total}")
    first = code.at("i64", shapes, "2")
    with code.carrying("0", total, 1, ("ptr", first)) as loop:
        array = code.load("ptr", code.at("ptr", "%args", loop.index), 8)
        own_type = code.load("ptr", code.at("i8", array, str(layout.TYPE)), 8)
        _return_unless(code, code.let(f"icmp eq ptr {own_type}, {array_type}"), refused)
        flags = code.load("i32", code.at("i8", array, str(layout.ARRAY_FLAGS)), 4)
        order = code.let(f"and i32 {flags}, {layout.ARRAY_IN_ORDER}")
        in_order = code.let(f"icmp eq i32 {order}, {layout.ARRAY_IN_ORDER}")
        _return_unless(code, in_order, refused)
        _check_dtype(code, array, loop.values[0], refused)
        shape = code.at("i64", loop.values[0], "1")
        loop.following = [_check_shape(code, array, shape, refused)]
        data = code.load("ptr", code.at("i8", array, str(layout.ARRAY_DATA)), 8)
        code.do(f"store ptr {data}, ptr {code.at('ptr', table, loop.index)}, align 8")
    outs, to = code.at("ptr", table, inputs), code.load("i64", dims, 8)
    code.do(f"call void {kernel}(ptr {table}, ptr {outs}, ptr {dims}, i64 0, i64 {to})")
    if raises:
        error = code.let(f"call ptr {load_header(code, 'error_occurred', dims)}()")
        _return_unless(code, code.let(f"icmp eq ptr {error}, null"), "null")
    _return(code, load_header(code, "none", dims))
    return code


def _check_dtype(code: Code, array: str, record: str, refused: str) -> None:
    """Emits the guard on an array's dtype."""
    wanted = code.load("ptr", record, 8)
    own = code.load("ptr", code.at("i8", array, str(layout.ARRAY_DTYPE)), 8)
    is_any, same = code.let(f"icmp eq ptr {wanted}, null"), code.let(f"icmp eq ptr {own}, {wanted}")
    _return_unless(code, code.let(f"or i1 {is_any}, {same}"), refused)


def _check_shape(code: Code, array: str, shape: str, refused: str) -> str:
    """Emits the guard on an array's shape; returns the pointer to the next array's record."""
    wanted = code.load("i64", shape, 8)
    wanted_lengths = code.at("i64", shape, "1")
    is_any = code.integer("icmp slt", wanted, 0)
    narrow = code.load("i32", code.at("i8", array, str(layout.ARRAY_RANK)), 4)
    same = code.integer("icmp eq", code.let(f"sext i32 {narrow} to i64"), wanted)
    _return_unless(code, code.let(f"or i1 {is_any}, {same}"), refused)
    lengths = code.load("ptr", code.at("i8", array, str(layout.ARRAY_LENGTHS)), 8)
    with code.loop("0", wanted) as i:
        length, expected = (
            code.load("i64", code.at("i64", p, i), 8) for p in (lengths, wanted_lengths)
        )
        _return_unless(code, code.integer("icmp eq", length, expected), refused)
    count = code.let(f"select i1 {is_any}, i64 0, i64 {wanted}")
    return code.at("i64", wanted_lengths, count)


def _return_unless(code: Code, condition: str, answer: str) -> None:
    """Emits a return of `answer` unless a condition holds."""
    holds, fails = code.new_label("holds"), code.new_label("fails")
    code.branch(condition, holds, fails)
    code.label(fails)
    _return(code, answer)
    code.label(holds)


def _return(code: Code, singleton: str) -> None:
    """Emits a return of None or NotImplemented as a new reference, or of null."""
    if singleton != "null" and not layout.IMMORTAL_SINGLETONS:
        pointer = code.at("i8", singleton, str(layout.REFERENCE_COUNT))
        count = code.load("i64", pointer, 8)
        code.do(f"store i64 {code.integer('add', count, 1)}, ptr {pointer}, align 8")
    code.do(f"ret ptr {singleton}")


def return_unless_flagged(code: Code) -> None:
    """Emits a return of a kernel unless one of the flags is set that its first input holds, int64 each,
    as many as its second dim says."""
    flags = code.load("ptr", "%ins", 8)
    count = code.load("i64", code.at("i64", "%dims", "1"), 8)
    with code.carrying("0", count, 1, ("i64", "0")) as loop:
        flag = code.load("i64", code.at("i64", flags, loop.index), 8)
        loop.following = [code.integer("or", loop.values[0], flag)]
    unset, flagged = code.new_label("unset"), code.new_label("flagged")
    code.branch(code.integer("icmp eq", loop.values[0], 0), unset, flagged)
    code.label(unset)
    code.do("ret void")
    code.label(flagged)


def _parallel(name: str, flagged: bool = False) -> Code:
    """A kernel that runs another, its body, on all threads, without the interpreter's lock.

    Every task is a range of the outermost loop, a multiple of the unit.
    """
    code = Code(name, KERNEL)
    if flagged:
        return_unless_flagged(code)
    state = code.let(f"call ptr {load_header(code, 'save')}()")
    body, threads = load_header(code, "body"), load_header(code, "pool")
    alone = code.let(f"icmp eq ptr {threads}, null")
    with code.when(alone):
        code.do(f"call void {body}(ptr %ins, ptr %outs, ptr %dims, i64 0, i64 %to)")
    with code.when(code.let(f"xor i1 {alone}, true")):
        unit, max_tasks = (load_header(code, n, kind="i64") for n in ("unit", "max_tasks"))
        rounded = code.integer("add", "%to", code.integer("sub", unit, 1))
        tasks = code.least(code.integer("sdiv", rounded, unit), max_tasks)
        context = code.first("alloca [5 x i64]")
        words = [
            ("ptr", "%ins"),
            ("ptr", "%outs"),
            ("ptr", "%dims"),
            ("i64", "%to"),
            ("i64", tasks),
        ]
        for i, (kind, value) in enumerate(words):
            pointer = code.at("i64", context, str(i))
            code.do(f"store {kind} {value}, ptr {pointer}, align 8")
        run, task = load_header(code, "parallel_for"), load_header(code, "task")
        code.do(f"call void {run}(ptr {threads}, ptr {task}, ptr {context}, i64 {tasks})")
    code.do(f"call void {load_header(code, 'restore')}(ptr {state})")
    code.do("ret void")
    return code


def _task() -> Code:
    """One task of `parallel`, given its number."""
    code = Code("task", ["ptr %context", "i64 %task"])
    ins, outs, dims = (code.load("ptr", code.at("i64", "%context", str(i)), 8) for i in range(3))
    total, tasks = (code.load("i64", code.at("i64", "%context", str(i)), 8) for i in (3, 4))
    body, unit = load_header(code, "body", dims), load_header(code, "unit", dims, "i64")
    rounded = code.integer("add", total, code.integer("sub", unit, 1))
    units = code.integer("sdiv", rounded, unit)
    bounds: list[str] = []
    for task in ("%task", code.integer("add", "%task", 1)):
        share = code.integer("sdiv", code.integer("mul", units, task), tasks)
        bounds.append(code.least(code.integer("mul", share, unit), total))
    first, last = bounds
    code.do(f"call void {body}(ptr {ins}, ptr {outs}, ptr {dims}, i64 {first}, i64 {last})")
    code.do("ret void")
    return code


def _unlocked() -> Code:
    """A kernel that runs another, its body, without the interpreter's lock."""
    code = Code("unlocked", KERNEL)
    state = code.let(f"call ptr {load_header(code, 'save')}()")
    body = load_header(code, "body")
    code.do(f"call void {body}(ptr %ins, ptr %outs, ptr %dims, i64 %from, i64 %to)")
    code.do(f"call void {load_header(code, 'restore')}(ptr {state})")
    code.do("ret void")
    return code


def _nothing() -> list[Code]:
    """No-op replacements of `save` and `restore`, for callers that have released the lock already."""
    save = Code("save_nothing", [], "ptr")
    save.do("ret ptr null")
    restore = Code("restore_nothing", ["ptr %state"])
    restore.do("ret void")
    return [save, restore]


def _sequence() -> Code:
    """Calls of kernels that a table lists, in their order.

    A record is: the offset of the kernel's dims, counted in words from the caller's; the end of its
    range; its numbers of inputs and of pointers; and for each pointer three words: 0, or 1 for one
    of the caller's inputs, 2 for one of its outputs; its number; and an offset in bytes. For 0 the
    offset is the address itself.
    """
    code = Code(
        "sequence",
        ["ptr %ins", "ptr %outs", "ptr %dims", "ptr %records", "i64 %count", "i64 %pointers"],
    )
    table = code.let("alloca ptr, i64 %pointers")
    null = code.let("alloca ptr")
    code.do(f"store ptr null, ptr {null}, align 8")
    with code.carrying("0", "%count", 1, ("ptr", "%records")) as record:
        at, to, inputs, total = (
            code.load("i64", code.at("i64", record.values[0], str(i)), 8) for i in range(4)
        )
        first = code.at("i64", record.values[0], "4")
        with code.carrying("0", total, 1, ("ptr", first)) as pointer:
            kind, number, offset = (
                code.load("i64", code.at("i64", pointer.values[0], str(i)), 8) for i in range(3)
            )
            is_input = code.integer("icmp eq", kind, 1)
            is_address = code.integer("icmp eq", kind, 0)
            array = code.let(f"select i1 {is_input}, ptr %ins, ptr %outs")
            array = code.let(f"select i1 {is_address}, ptr {null}, ptr {array}")
            start = code.load("ptr", code.at("ptr", array, number), 8)
            address = code.let(f"getelementptr i8, ptr {start}, i64 {offset}")
            code.do(f"store ptr {address}, ptr {code.at('ptr', table, pointer.index)}, align 8")
            pointer.following = [code.at("i64", pointer.values[0], "3")]
        dims = code.at("i64", "%dims", at)
        kernel, outs = load_header(code, "kernel", dims), code.at("ptr", table, inputs)
        code.do(f"call void {kernel}(ptr {table}, ptr {outs}, ptr {dims}, i64 0, i64 {to})")
        record.following = [pointer.values[0]]
    code.do("ret void")
    return code
