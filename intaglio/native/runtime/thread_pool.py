"""Threads for large kernels: a fork-join pool whose waiting and claiming are machine code.

The workers are Python daemon threads that enter `pool_worker` once and never return to Python. A
worker spins for a short time, then sleeps: on a futex where the system has them (Linux), elsewhere on
a lock of the interpreter, in a slot of its own. Threads claim tasks one by one, and the caller is one
of them: no thread waits for a worker that sleeps or is preempted, since the others do its share. For a
task that a worker has begun the caller waits as workers do: it spins, then sleeps, so that the worker
may run on its processor.

Tasks take about equally long. A caller that waited longer than it computed assumes that a processor
was missing, and the next calls run serially: one call, then three, seven, up to 63, as long as that
continues. One caller at a time has the workers; any other runs its tasks by itself. Neither the tasks
nor the results depend on which thread runs them.
"""

from __future__ import annotations

import re
import sys
import threading
import time

import numpy as np

from intaglio.base.locks import after_fork, lasting_lock
from intaglio.base.memory import aligned
from intaglio.base.options import OPTIONS
from intaglio.base.processors import cores
from intaglio.cpython import layout
from intaglio.cpython.thread_locks import new_acquired_lock
from intaglio.native.llvm import jit

# Iterations of spinning before a thread sleeps; they take some tens of microseconds.
MAX_SPINS = 2000
# Nanoseconds of waiting below which a caller never assumes that a processor is missing.
STALL_NS = 50_000
# Offsets in the shared state, in bytes; what different threads write is on different cache lines.
EPOCH, SLEEPING, BUSY, DONE, WAITING, TICKET = range(0, 384, 64)
TASK, CONTEXT, COUNT = range(384, 408, 8)
# The number of next calls that run serially, and that number when a processor was last missing.
SERIAL_CALLS, BACKOFF = BUSY + 8, BUSY + 12
# A slot of the caller, then one of each worker: a flag that is set while its owner sleeps, and a lock
# that a sleeping owner waits for. Before them are the functions that acquire and release locks.
WORKERS, ACQUIRE, RELEASE = range(408, 432, 8)
SLOTS, LINE, LOCK = 448, 64, 8

# A ticket is the epoch in its upper and the next task in its lower half. It is exhausted
# before the fields of a new epoch are written, and a worker reads them before the ticket: if
# the ticket is of the worker's epoch, so are the fields.
_TEXT = """
define internal void @claim(ptr %pool, i32 %epoch, ptr %task, ptr %context, i64 %count) {
entry:
  %ticket.at = getelementptr i8, ptr %pool, i64 TICKET
  %done.at = getelementptr i8, ptr %pool, i64 DONE
  %waiting.at = getelementptr i8, ptr %pool, i64 WAITING
  %mine = zext i32 %epoch to i64
  br label %look
look:
  %ticket = load atomic i64, ptr %ticket.at seq_cst, align 8
  %theirs = lshr i64 %ticket, 32
  %current = icmp eq i64 %theirs, %mine
  %next = and i64 %ticket, 4294967295
  %left = icmp ult i64 %next, %count
  %go = and i1 %current, %left
  br i1 %go, label %take, label %leave
take:
  %after = add i64 %ticket, 1
  %swap = cmpxchg ptr %ticket.at, i64 %ticket, i64 %after seq_cst seq_cst
  %claimed = extractvalue { i64, i1 } %swap, 1
  br i1 %claimed, label %work, label %look
work:
  call void %task(ptr %context, i64 %next)
  %before = atomicrmw add ptr %done.at, i64 1 seq_cst
  %waiting = load atomic i32, ptr %waiting.at seq_cst, align 4
  %one.waits = icmp ne i32 %waiting, 0
  br i1 %one.waits, label %notify, label %look
notify:
  %slot = getelementptr i8, ptr %pool, i64 SLOTS
  call void @wake(ptr %pool, ptr %done.at, ptr %slot, i64 1)
  br label %look
leave:
  ret void
}

define void @pool_worker(ptr %pool, ptr %slot) {
entry:
  %sleeping.at = getelementptr i8, ptr %pool, i64 SLEEPING
  %task.at = getelementptr i8, ptr %pool, i64 TASK
  %context.at = getelementptr i8, ptr %pool, i64 CONTEXT
  %count.at = getelementptr i8, ptr %pool, i64 COUNT
  br label %wait
wait:
  %seen = phi i32 [ 0, %entry ], [ %seen, %asleep ], [ %epoch, %work ]
  br label %look
look:
  %spun = phi i64 [ 0, %wait ], [ %more, %again ]
  %epoch = load atomic i32, ptr %pool seq_cst, align 4
  %new = icmp ne i32 %epoch, %seen
  br i1 %new, label %work, label %again
again:
  call void asm sideeffect "PAUSE", ""()
  %more = add i64 %spun, 1
  %patient = icmp ult i64 %more, SPINS
  br i1 %patient, label %look, label %asleep
asleep:
  %in = atomicrmw add ptr %sleeping.at, i32 1 seq_cst
  call void @sleep(ptr %pool, ptr %pool, ptr %slot, i32 %seen)
  %out = atomicrmw sub ptr %sleeping.at, i32 1 seq_cst
  br label %wait
work:
  %task = load atomic ptr, ptr %task.at seq_cst, align 8
  %context = load atomic ptr, ptr %context.at seq_cst, align 8
  %count = load atomic i64, ptr %count.at seq_cst, align 8
  call void @claim(ptr %pool, i32 %epoch, ptr %task, ptr %context, i64 %count)
  br label %wait
}

define void @parallel_for(ptr %pool, ptr %task, ptr %context, i64 %count) {
entry:
  %busy.at = getelementptr i8, ptr %pool, i64 BUSY
  %swap = cmpxchg ptr %busy.at, i32 0, i32 1 seq_cst seq_cst
  %mine = extractvalue { i32, i1 } %swap, 1
  br i1 %mine, label %decide, label %alone
decide:
  %serial.at = getelementptr i8, ptr %pool, i64 SERIAL_CALLS
  %backoff.at = getelementptr i8, ptr %pool, i64 BACKOFF
  %calls = load i32, ptr %serial.at, align 4
  %is_serial = icmp ne i32 %calls, 0
  br i1 %is_serial, label %serial, label %publish
serial:
  %fewer = sub i32 %calls, 1
  store i32 %fewer, ptr %serial.at, align 4
  store atomic i32 0, ptr %busy.at seq_cst, align 4
  br label %alone
alone:
  %i = phi i64 [ 0, %entry ], [ 0, %serial ], [ %i.next, %one ]
  %some = icmp ult i64 %i, %count
  br i1 %some, label %one, label %gone
one:
  call void %task(ptr %context, i64 %i)
  %i.next = add i64 %i, 1
  br label %alone
gone:
  ret void
publish:
  %sleeping.at = getelementptr i8, ptr %pool, i64 SLEEPING
  %done.at = getelementptr i8, ptr %pool, i64 DONE
  %task.at = getelementptr i8, ptr %pool, i64 TASK
  %context.at = getelementptr i8, ptr %pool, i64 CONTEXT
  %count.at = getelementptr i8, ptr %pool, i64 COUNT
  %ticket.at = getelementptr i8, ptr %pool, i64 TICKET
  %workers.at = getelementptr i8, ptr %pool, i64 WORKERS
  %old = load atomic i32, ptr %pool seq_cst, align 4
  %epoch = add i32 %old, 1
  %wide = zext i32 %epoch to i64
  %first = shl i64 %wide, 32
  %exhausted = or i64 %first, 4294967295
  %begun = call i64 @now()
  store atomic i64 %exhausted, ptr %ticket.at seq_cst, align 8
  store atomic i64 0, ptr %done.at seq_cst, align 8
  store atomic ptr %task, ptr %task.at seq_cst, align 8
  store atomic ptr %context, ptr %context.at seq_cst, align 8
  store atomic i64 %count, ptr %count.at seq_cst, align 8
  store atomic i64 %first, ptr %ticket.at seq_cst, align 8
  store atomic i32 %epoch, ptr %pool seq_cst, align 4
  %asleep = load atomic i32, ptr %sleeping.at seq_cst, align 4
  %any = icmp ne i32 %asleep, 0
  br i1 %any, label %wake, label %join
wake:
  %slots = getelementptr i8, ptr %pool, i64 WORKER_SLOTS
  %workers = load i64, ptr %workers.at, align 8
  call void @wake(ptr %pool, ptr %pool, ptr %slots, i64 %workers)
  br label %join
join:
  call void @claim(ptr %pool, i32 %epoch, ptr %task, ptr %context, i64 %count)
  %waiting.at = getelementptr i8, ptr %pool, i64 WAITING
  %joined = call i64 @now()
  br label %check
check:
  %checked = phi i64 [ 0, %join ], [ %again, %idle ], [ %again, %awake ]
  %done = load atomic i64, ptr %done.at seq_cst, align 8
  %all = icmp eq i64 %done, %count
  br i1 %all, label %free, label %patience
patience:
  %again = add i64 %checked, 1
  %still = icmp ult i64 %checked, SPINS
  br i1 %still, label %idle, label %rest
idle:
  call void asm sideeffect "PAUSE", ""()
  br label %check
rest:
  store atomic i32 1, ptr %waiting.at seq_cst, align 4
  %now = load atomic i64, ptr %done.at seq_cst, align 8
  %late = icmp eq i64 %now, %count
  br i1 %late, label %awake, label %sleep
sleep:
  %low = trunc i64 %now to i32
  %slot = getelementptr i8, ptr %pool, i64 SLOTS
  call void @sleep(ptr %pool, ptr %done.at, ptr %slot, i32 %low)
  br label %awake
awake:
  store atomic i32 0, ptr %waiting.at seq_cst, align 4
  br label %check
free:
  %over = call i64 @now()
  %worked = sub i64 %joined, %begun
  %waited = sub i64 %over, %joined
  %usual = add i64 %worked, STALL_NS
  %stalled = icmp sgt i64 %waited, %usual
  %old.backoff = load i32, ptr %backoff.at, align 4
  %twice = shl i32 %old.backoff, 1
  %next.backoff = or i32 %twice, 1
  %bounded = and i32 %next.backoff, 63
  %backoff = select i1 %stalled, i32 %bounded, i32 0
  store i32 %backoff, ptr %backoff.at, align 4
  store i32 %backoff, ptr %serial.at, align 4
  store atomic i32 0, ptr %busy.at seq_cst, align 4
  ret void
}
"""
# The clock measures whether a processor is missing; without a clock none ever is.
_CLOCK = """
declare i32 @clock_gettime(i32, ptr)

define internal i64 @now() {
entry:
  %time = alloca { i64, i64 }
  %none = call i32 @clock_gettime(i32 CLOCK, ptr %time)
  %part.at = getelementptr i8, ptr %time, i64 8
  %seconds = load i64, ptr %time
  %part = load i64, ptr %part.at
  %whole = mul i64 %seconds, 1000000000
  %all = add i64 %whole, %part
  ret i64 %all
}
"""
_NO_CLOCK = """
define internal i64 @now() {
  ret i64 0
}
"""

# `sleep` returns when the word is no longer what was seen, or earlier; `wake` is called when the
# word has been changed, and wakes the threads that sleep on it.
_FUTEX = """
declare i64 @syscall(i64, ...)

define internal void @sleep(ptr %pool, ptr %word, ptr %slot, i32 %seen) {
  %woken = call i64 (i64, ...) @syscall(i64 FUTEX, ptr %word, i64 128, i32 %seen, ptr null)
  ret void
}

define internal void @wake(ptr %pool, ptr %word, ptr %slots, i64 %count) {
  %woken = call i64 (i64, ...) @syscall(i64 FUTEX, ptr %word, i64 129, i32 2147483647)
  ret void
}
"""

# The thread that sets a slot's word back from one to zero decides: a waker that did so releases the
# lock, and the owner waits for it, once. The owner reads the word that it waits for after it has set
# that of its slot, and wakers look at the slots after they have changed that word: so one of the two
# sees the other.
_LOCKS = """
define internal void @sleep(ptr %pool, ptr %word, ptr %slot, i32 %seen) {
entry:
  store atomic i32 1, ptr %slot seq_cst, align 4
  %now = load atomic i32, ptr %word seq_cst, align 4
  %same = icmp eq i32 %now, %seen
  br i1 %same, label %rest, label %back
back:
  %swap = cmpxchg ptr %slot, i32 1, i32 0 seq_cst seq_cst
  %mine = extractvalue { i32, i1 } %swap, 1
  br i1 %mine, label %leave, label %rest
rest:
  %acquire.at = getelementptr i8, ptr %pool, i64 ACQUIRE
  %acquire = load ptr, ptr %acquire.at, align 8
  %lock.at = getelementptr i8, ptr %slot, i64 LOCK
  %lock = load ptr, ptr %lock.at, align 8
  %acquired = call i32 %acquire(ptr %lock, i32 1)
  br label %leave
leave:
  ret void
}

define internal void @wake(ptr %pool, ptr %word, ptr %slots, i64 %count) {
entry:
  %release.at = getelementptr i8, ptr %pool, i64 RELEASE
  %release = load ptr, ptr %release.at, align 8
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %next, %ring ], [ %next, %one ]
  %some = icmp ult i64 %i, %count
  br i1 %some, label %one, label %leave
one:
  %next = add i64 %i, 1
  %offset = mul i64 %i, LINE
  %slot = getelementptr i8, ptr %slots, i64 %offset
  %swap = cmpxchg ptr %slot, i32 1, i32 0 seq_cst seq_cst
  %asleep = extractvalue { i32, i1 } %swap, 1
  br i1 %asleep, label %ring, label %look
ring:
  %lock.at = getelementptr i8, ptr %slot, i64 LOCK
  %lock = load ptr, ptr %lock.at, align 8
  call void %release(ptr %lock)
  br label %look
leave:
  ret void
}
"""

# The instruction for loops that only wait.
_PAUSES = {"x86_64": "pause", "aarch64": "yield", "arm64": "yield"}
# System call numbers of futex.
_FUTEXES = {"x86_64": 202, "aarch64": 98}
FUTEX = _FUTEXES.get(jit.MACHINE) if sys.platform == "linux" else None


def _text() -> str:
    numbers = {
        "EPOCH": EPOCH, "SLEEPING": SLEEPING, "BUSY": BUSY, "DONE": DONE, "TASK": TASK,
        "SERIAL_CALLS": SERIAL_CALLS, "BACKOFF": BACKOFF, "CONTEXT": CONTEXT, "COUNT": COUNT, "TICKET": TICKET,
        "WAITING": WAITING, "WORKERS": WORKERS, "ACQUIRE": ACQUIRE, "RELEASE": RELEASE,
        "SLOTS": SLOTS, "WORKER_SLOTS": SLOTS + LINE, "LINE": LINE, "LOCK": LOCK,
        "SPINS": MAX_SPINS, "STALL_NS": STALL_NS, "FUTEX": FUTEX,
        "CLOCK": getattr(time, "CLOCK_MONOTONIC", None),
    }  # fmt: skip
    clock = _CLOCK if hasattr(time, "CLOCK_MONOTONIC") else _NO_CLOCK
    text = clock + (_FUTEX if FUTEX else _LOCKS) + _TEXT
    text = text.replace('"PAUSE"', f'"{_PAUSES.get(jit.MACHINE, "")}"')
    return re.sub(r"\b[A-Z]+(?:_[A-Z]+)?\b", lambda m: str(numbers[m[0]]), text)


def thread_count() -> int:
    """The number of threads: that of `tf.config.threading`, or of the processors of the process."""
    return OPTIONS.threads_intra or cores()


class Pool:
    """Worker threads and their shared state, whose address is `address`."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._module = jit.Module(_text(), jit.GLUE_EFFORT)
        self._state = aligned(SLOTS + LINE * (workers + 1))
        self._state[:] = 0
        self.address = self._state.ctypes.data
        self._write(WORKERS, workers)
        if not FUTEX:
            self._create_locks()
        self.parallel_for = self._module.address("parallel_for")
        work = self._module.function("pool_worker", *[jit.POINTER] * 2)
        for number in range(workers):
            slot = self.address + SLOTS + LINE * (number + 1)
            threading.Thread(
                target=work, args=(self.address, slot), daemon=True, name=f"native-{number}"
            ).start()

    def _write(self, offset: int, value: int) -> None:
        self._state[offset : offset + 8].view(np.int64)[0] = value

    def _create_locks(self) -> None:
        """An acquired lock in each slot: its owner waits in acquiring it until another thread releases it."""
        self._write(ACQUIRE, layout.function_address("acquire_lock"))
        self._write(RELEASE, layout.function_address("release_lock"))
        for number in range(self.workers + 1):
            self._write(SLOTS + LINE * number + LOCK, new_acquired_lock())

    def after_fork(self) -> None:
        """Resets the pool in a child process, which has no workers: every call runs serially."""
        self._state[BUSY : BUSY + 4].view(np.int32)[0] = 1


_lock = lasting_lock()
_pools: list[Pool] = []


def pool() -> Pool | None:
    """The process's pool, created when it is first needed; None without workers."""
    with _lock:
        if not _pools:
            _pools.append(Pool(max(thread_count() - 1, 0)))
            after_fork(_pools[0].after_fork)
    return _pools[0] if _pools[0].workers else None
