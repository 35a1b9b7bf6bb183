"""The text of what stands before every kernel: the ways into it from Python, and onto all threads.

They are compiled once: which kernel they run, and on what, stands before the dims that a kernel is
told. Machine code with addresses in it could not be kept on disk.
"""

from __future__ import annotations

from collections.abc import Sequence

from intaglio.cpython import layout
from intaglio.native.llvm.builder import Code, module

# The parameters of a kernel: pointers to data, lengths of the loops, range of the outermost.
KERNEL = ("ptr %ins", "ptr %outs", "ptr %dims", "i64 %from", "i64 %to")
# What stands before the dims. `kernel` is what is called; where that is `shared` or `released`, it
# runs `body`, on parts that are multiples of `unit`, at most `most` of them. `form` says what
# arrays `enter` takes; the others are addresses of the process.
PROCESS = (
    "kernel",
    "body",
    "unit",
    "form",
    "array",
    "none",
    "refused",
    "save",
    "restore",
    "parallel_for",
    "pool",
    "part",
    "most",
)


def of_process(code: Code, name: str, dims: str = "%dims", kind: str = "ptr") -> str:
    """A word named in `PROCESS`."""
    offset = PROCESS.index(name) - len(PROCESS)
    return code.load(kind, code.at("i64", dims, str(offset)), 8)


def numbers(code: Code, names: Sequence[str]) -> dict[str, str]:
    """Reads in a kernel the numbers that it is told, by their names."""
    return {
        name: code.load("i64", code.at("i64", "%dims", str(i)), 8) for i, name in enumerate(names)
    }


def text() -> str:
    """The module."""
    return module([_enter(), _shared(), _part(), _released(), *_nothing(), _sequence()])


def _enter() -> Code:
    """A built-in function: arguments are the input arrays, then the output arrays.

    Its `self` is a bytes object that holds the words named in `PROCESS` and the dims. The kernel
    runs over the whole of the first. Gives None, or NotImplemented if an argument is no array in
    order, or has not the shape that `form` says: how many arrays are inputs, how many there are,
    and for each its rank (or -1) and lengths.
    """
    code = Code("enter", ["ptr %self", "ptr %args", "i64 %count"], "ptr")
    dims = code.at("i8", "%self", str(layout.BYTES_DATA + 8 * len(PROCESS)))
    kernel, form, array, refused = (
        of_process(code, name, dims) for name in ("kernel", "form", "array", "refused")
    )
    inputs, total = (code.load("i64", code.at("i64", form, str(i)), 8) for i in (0, 1))
    table = code.let(f"alloca ptr, i64 {total}")
    first = code.at("i64", form, "2")
    with code.carrying("0", total, 1, ("ptr", first)) as turn:
        given = code.load("ptr", code.at("ptr", "%args", turn.index), 8)
        kind = code.load("ptr", code.at("i8", given, str(layout.TYPE)), 8)
        _otherwise(code, code.let(f"icmp eq ptr {kind}, {array}"), refused)
        flags = code.load("i32", code.at("i8", given, str(layout.ARRAY_FLAGS)), 4)
        order = code.let(f"and i32 {flags}, {layout.ARRAY_IN_ORDER}")
        _otherwise(code, code.let(f"icmp eq i32 {order}, {layout.ARRAY_IN_ORDER}"), refused)
        turn.following = [_check_shape(code, given, turn.values[0], refused)]
        data = code.load("ptr", code.at("i8", given, str(layout.ARRAY_DATA)), 8)
        code.do(f"store ptr {data}, ptr {code.at('ptr', table, turn.index)}, align 8")
    outs, to = code.at("ptr", table, inputs), code.load("i64", dims, 8)
    code.do(f"call void {kernel}(ptr {table}, ptr {outs}, ptr {dims}, i64 0, i64 {to})")
    _return(code, of_process(code, "none", dims))
    return code


def _check_shape(code: Code, array: str, form: str, refused: str) -> str:
    """Refuses an array of another shape; gives where the form of the next stands."""
    wanted = code.load("i64", form, 8)
    lengths = code.at("i64", form, "1")
    free = code.integer("icmp slt", wanted, 0)
    rank = code.let(
        f"sext i32 {code.load('i32', code.at('i8', array, str(layout.ARRAY_RANK)), 4)} to i64"
    )
    same = code.integer("icmp eq", rank, wanted)
    _otherwise(code, code.let(f"or i1 {free}, {same}"), refused)
    there = code.load("ptr", code.at("i8", array, str(layout.ARRAY_LENGTHS)), 8)
    with code.loop("0", wanted) as i:
        length, expected = (code.load("i64", code.at("i64", p, i), 8) for p in (there, lengths))
        _otherwise(code, code.integer("icmp eq", length, expected), refused)
    count = code.let(f"select i1 {free}, i64 0, i64 {wanted}")
    return code.at("i64", lengths, count)


def _otherwise(code: Code, holds: str, answer: str) -> None:
    """Returns `answer` unless a condition holds."""
    right, wrong = code.new_label("right"), code.new_label("wrong")
    code.branch(holds, right, wrong)
    code.label(wrong)
    _return(code, answer)
    code.label(right)


def _return(code: Code, answer: str) -> None:
    """Returns an object that lives for ever, with a reference of its own."""
    if not layout.IMMORTAL_SINGLETONS:
        place = code.at("i8", answer, str(layout.REFERENCE_COUNT))
        count = code.load("i64", place, 8)
        code.do(f"store i64 {code.integer('add', count, 1)}, ptr {place}, align 8")
    code.do(f"ret ptr {answer}")


def _shared() -> Code:
    """A kernel that runs another without the interpreter's lock, on all threads.

    Every thread takes parts of the outermost loop, whole multiples of the unit.
    """
    code = Code("shared", KERNEL)
    state = code.let(f"call ptr {of_process(code, 'save')}()")
    body, pool = of_process(code, "body"), of_process(code, "pool")
    alone = code.let(f"icmp eq ptr {pool}, null")
    with code.when(alone):
        code.do(f"call void {body}(ptr %ins, ptr %outs, ptr %dims, i64 0, i64 %to)")
    with code.when(code.let(f"xor i1 {alone}, true")):
        unit, most = (of_process(code, n, kind="i64") for n in ("unit", "most"))
        rounded = code.integer("add", "%to", code.integer("sub", unit, 1))
        parts = code.least(code.integer("sdiv", rounded, unit), most)
        context = code.first("alloca [5 x i64]")
        held = [("ptr", "%ins"), ("ptr", "%outs"), ("ptr", "%dims"), ("i64", "%to"), ("i64", parts)]
        for i, (kind, value) in enumerate(held):
            place = code.at("i64", context, str(i))
            code.do(f"store {kind} {value}, ptr {place}, align 8")
        run, part = of_process(code, "parallel_for"), of_process(code, "part")
        code.do(f"call void {run}(ptr {pool}, ptr {part}, ptr {context}, i64 {parts})")
    code.do(f"call void {of_process(code, 'restore')}(ptr {state})")
    code.do("ret void")
    return code


def _part() -> Code:
    """The task of a thread: one of the parts that `shared` makes."""
    code = Code("part", ["ptr %context", "i64 %part"])
    ins, outs, dims = (code.load("ptr", code.at("i64", "%context", str(i)), 8) for i in range(3))
    total, parts = (code.load("i64", code.at("i64", "%context", str(i)), 8) for i in (3, 4))
    body, unit = of_process(code, "body", dims), of_process(code, "unit", dims, "i64")
    rounded = code.integer("add", total, code.integer("sub", unit, 1))
    units = code.integer("sdiv", rounded, unit)
    bounds: list[str] = []
    for part in ("%part", code.integer("add", "%part", 1)):
        share = code.integer("sdiv", code.integer("mul", units, part), parts)
        bounds.append(code.least(code.integer("mul", share, unit), total))
    first, last = bounds
    code.do(f"call void {body}(ptr {ins}, ptr {outs}, ptr {dims}, i64 {first}, i64 {last})")
    code.do("ret void")
    return code


def _released() -> Code:
    """A kernel that runs another without the interpreter's lock."""
    code = Code("released", KERNEL)
    state = code.let(f"call ptr {of_process(code, 'save')}()")
    body = of_process(code, "body")
    code.do(f"call void {body}(ptr %ins, ptr %outs, ptr %dims, i64 %from, i64 %to)")
    code.do(f"call void {of_process(code, 'restore')}(ptr {state})")
    code.do("ret void")
    return code


def _nothing() -> list[Code]:
    """What stands for `save` and `restore` where the lock is released already."""
    save = Code("save_nothing", [], "ptr")
    save.do("ret ptr null")
    restore = Code("restore_nothing", ["ptr %state"])
    restore.do("ret void")
    return [save, restore]


def _sequence() -> Code:
    """Calls of kernels that stand in a table, in their order.

    A record is: where the dims of the kernel stand, counted in words from those of the caller, the
    end of its range, how many inputs it has and how many pointers, and for each pointer three
    words: 0, or 1 for one of the caller's inputs, 2 for one of its outputs; which one; and how many
    bytes further. The third word of what is none of the caller's is the address itself.
    """
    code = Code(
        "sequence",
        ["ptr %ins", "ptr %outs", "ptr %dims", "ptr %records", "i64 %count", "i64 %most"],
    )
    table = code.let("alloca ptr, i64 %most")
    nothing = code.let("alloca ptr")
    code.do(f"store ptr null, ptr {nothing}, align 8")
    with code.carrying("0", "%count", 1, ("ptr", "%records")) as record:
        at, to, inputs, total = (
            code.load("i64", code.at("i64", record.values[0], str(i)), 8) for i in range(4)
        )
        first = code.at("i64", record.values[0], "4")
        with code.carrying("0", total, 1, ("ptr", first)) as pointer:
            kind, which, offset = (
                code.load("i64", code.at("i64", pointer.values[0], str(i)), 8) for i in range(3)
            )
            outside = code.integer("icmp eq", kind, 1)
            inside = code.integer("icmp eq", kind, 0)
            array = code.let(f"select i1 {outside}, ptr %ins, ptr %outs")
            array = code.let(f"select i1 {inside}, ptr {nothing}, ptr {array}")
            start = code.load("ptr", code.at("ptr", array, which), 8)
            place = code.let(f"getelementptr i8, ptr {start}, i64 {offset}")
            code.do(f"store ptr {place}, ptr {code.at('ptr', table, pointer.index)}, align 8")
            pointer.following = [code.at("i64", pointer.values[0], "3")]
        dims = code.at("i64", "%dims", at)
        kernel, outs = of_process(code, "kernel", dims), code.at("ptr", table, inputs)
        code.do(f"call void {kernel}(ptr {table}, ptr {outs}, ptr {dims}, i64 0, i64 {to})")
        record.following = [pointer.values[0]]
    code.do("ret void")
    return code
