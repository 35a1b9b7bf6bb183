"""Signals during long native functions: each iteration of a loop checks whether one is pending.

Python runs handlers in the main thread when that executes Python code, which a loop in machine code
does not. So loops read CPython's eval breaker (`cpython/eval_breaker.py`): one load and one branch
for each iteration. If it is set, `poll` takes the interpreter's lock and runs the handlers. If one
raises, as that of Ctrl-C does, the loop ends, and the call raises the exception.

Loops of other threads read a word that is always zero. Threads of the pool that run a part of a
loop look also at STOP, which the thread sets that called it.
"""

from __future__ import annotations

import functools
import time

import numpy as np

from intaglio.base.locks import after_fork
from intaglio.base.memory import aligned
from intaglio.cpython import eval_breaker, layout
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code, module

# The words of a watch: the address of the byte that loops read, and whether loops must end.
BREAKER, STOP = range(2)
# The main thread's watch also has its thread state, the time of its last poll in ns, and functions.
_STATE, _POLLED, _THREAD_STATE, _SAVE, _RESTORE, _CHECK_SIGNALS = range(2, 8)
# The watch of other threads, and its byte.
_IDLE, _QUIET = 8, 10
_WORDS = 16
# Nanoseconds between two acquisitions of the lock, as the eval breaker may be set for a long time for
# reasons other than signals.
_POLL_NS = 50_000_000


class Watch:
    """The words that loops read, and the machine code that polls signals.

    `address` is that of the words. `begin` is a function of it that returns the watch of the calling
    thread; `poll` is a function of a watch that returns 1 if the loop must end, with an exception
    set in the main thread, else 0.
    """

    def __init__(self) -> None:
        code = jit.Module(module([_begin(), _poll()]))
        self._code = code
        self._words = aligned(8 * _WORDS).view(np.int64)
        self.address: int = self._words.ctypes.data
        self.begin, self.poll = code.address("begin"), code.address("poll")
        self._words[:] = 0
        self._words[_IDLE] = self._quiet
        names = {
            _THREAD_STATE: "thread_state",
            _SAVE: "save_thread",
            _RESTORE: "restore_thread",
            _CHECK_SIGNALS: "check_signals",
        }
        for word, name in names.items():
            self._words[word] = layout.function_address(name)
        self.find_main_thread()
        after_fork(self.find_main_thread)

    @property
    def _quiet(self) -> int:
        return self.address + 8 * _QUIET

    def find_main_thread(self) -> None:
        """Looks up the main thread's state, which changes in a child process."""
        state = eval_breaker.main_thread_state()
        self._words[BREAKER] = eval_breaker.eval_breaker(state) or self._quiet
        self._words[_STATE] = state


@functools.cache
def watch() -> Watch:
    """The process's watch, created with the first loop."""
    return Watch()


def _word(code: Code, number: int) -> str:
    return code.at("i64", "%watch", str(number))


def _begin() -> Code:
    """The watch of the calling thread, from that of the main thread."""
    code = Code("begin", ["ptr %watch"], "ptr")
    function = code.load("ptr", _word(code, _THREAD_STATE), 8)
    own = code.let(f"call ptr {function}()")
    main = code.load("ptr", _word(code, _STATE), 8)
    is_main = code.let(f"icmp eq ptr {own}, {main}")
    with code.when(is_main):
        code.do(f"store atomic i64 0, ptr {_word(code, STOP)} monotonic, align 8")
    idle = _word(code, _IDLE)
    code.do(f"ret ptr {code.let(f'select i1 {is_main}, ptr %watch, ptr {idle}')}")
    return code


def _poll() -> Code:
    """Runs the handlers of pending signals, in the main thread; the lock must be released."""
    code = Code("poll", ["ptr %watch"], "i64")
    stop = code.let(f"load atomic i64, ptr {_word(code, STOP)} monotonic, align 8")
    _return_if(code, code.integer("icmp ne", stop, 0), "1")
    main = code.load("ptr", _word(code, _STATE), 8)
    # Another thread's watch has no state, and a thread of the pool is not the main one.
    _return_if(code, code.let(f"icmp eq ptr {main}, null"), "0")
    function = code.load("ptr", _word(code, _THREAD_STATE), 8)
    own = code.let(f"call ptr {function}()")
    _return_if(code, code.let(f"icmp ne ptr {own}, {main}"), "0")
    if hasattr(time, "CLOCK_MONOTONIC"):
        polled = code.load("i64", _word(code, _POLLED), 8)
        passed = code.integer("sub", _now(code), polled)
        _return_if(code, code.integer("icmp slt", passed, _POLL_NS), "0")
    restore, check, save = (
        code.load("ptr", _word(code, n), 8) for n in (_RESTORE, _CHECK_SIGNALS, _SAVE)
    )
    code.do(f"call void {restore}(ptr {own})")
    raised = code.let(f"call i32 {check}()")
    code.let(f"call ptr {save}()")
    if hasattr(time, "CLOCK_MONOTONIC"):
        code.do(f"store i64 {_now(code)}, ptr {_word(code, _POLLED)}, align 8")
    ends = code.let(f"icmp ne i32 {raised}, 0")
    wide = code.let(f"zext i1 {ends} to i64")
    code.do(f"store atomic i64 {wide}, ptr {_word(code, STOP)} monotonic, align 8")
    code.do(f"ret i64 {wide}")
    return code


def _return_if(code: Code, condition: str, value: str) -> None:
    yes, no = code.new_label("return"), code.new_label("else")
    code.branch(condition, yes, no)
    code.label(yes)
    code.do(f"ret i64 {value}")
    code.label(no)


def _now(code: Code) -> str:
    """The time of a clock, in nanoseconds."""
    parts = code.first("alloca [2 x i64]")
    clock = str(time.CLOCK_MONOTONIC)
    code.call("i32", "clock_gettime", ("i32", clock), ("ptr", parts))
    seconds = code.load("i64", parts, 8)
    rest = code.load("i64", code.at("i64", parts, "1"), 8)
    return code.integer("add", code.integer("mul", seconds, 1_000_000_000), rest)
