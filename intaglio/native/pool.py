"""Threads for large kernels: a fork-join pool whose waiting and claiming are machine code.

The workers are Python daemon threads that enter `pool_worker` once and never come back to
Python. A worker looks for work for a short time, then sleeps in the kernel (futex). Tasks are
claimed one by one, by the caller too: a worker that sleeps or is kept from running is not
waited for, its share is done by the others. For a task that a worker has begun the caller
waits as the workers do: it looks for a short time, then sleeps, and the worker may run in its
place. Tasks take about equally long: where the caller waited for longer than it had worked, a
processor was missing, and the next calls do without the workers: one call, then three, seven,
up to 63, as long as it goes on happening. One caller at a time
has the workers; another runs its tasks by itself. What tasks there are does not depend on who
runs them, nor do results.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading

import numpy as np

from intaglio.base.options import OPTIONS
from intaglio.native import llvm

# How often a worker looks before it sleeps: some tens of microseconds.
LOOKS = 2000
# Nanoseconds that a caller waits in any case before it says that a processor is missing.
PATIENCE = 50_000
# A page of shared state; what different threads write is on different cache lines.
EPOCH, SLEEPING, BUSY, DONE, WAITING, TICKET = range(0, 384, 64)
TASK, CONTEXT, COUNT = range(384, 408, 8)
ALONE, PENALTY = BUSY + 8, BUSY + 12
BYTES = 4096

# A ticket is the epoch in its upper and the next task in its lower half. It is exhausted
# before the fields of a new epoch are written, and a worker reads them before the ticket: if
# the ticket is of the worker's epoch, so are the fields.
_TEXT = """
declare i64 @syscall(i64, ...)
declare i32 @clock_gettime(i32, ptr)

define internal i64 @now() {
entry:
  %time = alloca { i64, i64 }
  %none = call i32 @clock_gettime(i32 1, ptr %time)
  %part.at = getelementptr i8, ptr %time, i64 8
  %seconds = load i64, ptr %time
  %part = load i64, ptr %part.at
  %whole = mul i64 %seconds, 1000000000
  %all = add i64 %whole, %part
  ret i64 %all
}

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
  %taken = extractvalue { i64, i1 } %swap, 1
  br i1 %taken, label %work, label %look
work:
  call void %task(ptr %context, i64 %next)
  %before = atomicrmw add ptr %done.at, i64 1 seq_cst
  %waiting = load atomic i32, ptr %waiting.at seq_cst, align 4
  %one.waits = icmp ne i32 %waiting, 0
  br i1 %one.waits, label %tell, label %look
tell:
  %told = call i64 (i64, ...) @syscall(i64 FUTEX, ptr %done.at, i64 129, i32 1)
  br label %look
leave:
  ret void
}

define void @pool_worker(ptr %pool, i64 %looks) {
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
  %looked = phi i64 [ 0, %wait ], [ %more, %again ]
  %epoch = load atomic i32, ptr %pool seq_cst, align 4
  %new = icmp ne i32 %epoch, %seen
  br i1 %new, label %work, label %again
again:
  call void asm sideeffect "PAUSE", ""()
  %more = add i64 %looked, 1
  %patient = icmp ult i64 %more, %looks
  br i1 %patient, label %look, label %asleep
asleep:
  %in = atomicrmw add ptr %sleeping.at, i32 1 seq_cst
  %woken = call i64 (i64, ...) @syscall(i64 FUTEX, ptr %pool, i64 128, i32 %seen, ptr null)
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
  %alone.at = getelementptr i8, ptr %pool, i64 ALONE
  %penalty.at = getelementptr i8, ptr %pool, i64 PENALTY
  %calls = load i32, ptr %alone.at, align 4
  %shunned = icmp ne i32 %calls, 0
  br i1 %shunned, label %shun, label %publish
shun:
  %fewer = sub i32 %calls, 1
  store i32 %fewer, ptr %alone.at, align 4
  store atomic i32 0, ptr %busy.at seq_cst, align 4
  br label %alone
alone:
  %i = phi i64 [ 0, %entry ], [ 0, %shun ], [ %i.next, %one ]
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
  %woken = call i64 (i64, ...) @syscall(i64 FUTEX, ptr %pool, i64 129, i32 2147483647)
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
  %still = icmp ult i64 %checked, LOOKS
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
  %rested = call i64 (i64, ...) @syscall(i64 FUTEX, ptr %done.at, i64 128, i32 %low, ptr null)
  br label %awake
awake:
  store atomic i32 0, ptr %waiting.at seq_cst, align 4
  br label %check
free:
  %over = call i64 @now()
  %worked = sub i64 %joined, %begun
  %waited = sub i64 %over, %joined
  %usual = add i64 %worked, PATIENCE
  %stalled = icmp sgt i64 %waited, %usual
  %old.penalty = load i32, ptr %penalty.at, align 4
  %twice = shl i32 %old.penalty, 1
  %next.penalty = or i32 %twice, 1
  %bounded = and i32 %next.penalty, 63
  %penalty = select i1 %stalled, i32 %bounded, i32 0
  store i32 %penalty, ptr %penalty.at, align 4
  store i32 %penalty, ptr %alone.at, align 4
  store atomic i32 0, ptr %busy.at seq_cst, align 4
  ret void
}
"""
# System call numbers of futex, and what tells the processor that a loop only waits.
_MACHINES = {"x86_64": (202, "pause"), "aarch64": (98, "yield")}


def _text() -> str:
    futex, pause = _MACHINES[os.uname().machine]
    offsets = {
        "EPOCH": EPOCH, "SLEEPING": SLEEPING, "BUSY": BUSY, "DONE": DONE, "TASK": TASK,
        "ALONE": ALONE, "PENALTY": PENALTY, "CONTEXT": CONTEXT, "COUNT": COUNT, "TICKET": TICKET, "WAITING": WAITING, "FUTEX": futex,
    }  # fmt: skip
    text = _TEXT.replace('"PAUSE"', f'"{pause}"')
    for name, value in offsets.items():
        text = text.replace(f"i64 {name}", f"i64 {value}")
    return text.replace("LOOKS", str(LOOKS)).replace("PATIENCE", str(PATIENCE))


AVAILABLE = sys.platform == "linux" and os.uname().machine in _MACHINES


def wanted_threads() -> int:
    """As many as `tf.config.threading` says, or as the process may use processors."""
    asked = OPTIONS.threads_intra
    return asked or len(os.sched_getaffinity(0))


class Pool:
    """The process's pool; made when the first large kernel is compiled."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._module = llvm.Module(_text())
        self._page = np.zeros(BYTES + 64, np.uint8)
        start = self._page.ctypes.data
        self.address = start + (-start) % 64
        self.parallel_for = self._module.address("parallel_for")
        work = self._module.function("pool_worker", ctypes.c_void_p, ctypes.c_int64)
        for number in range(workers):
            threading.Thread(
                target=work, args=(self.address, LOOKS), daemon=True,
                name=f"native-{number}",
            ).start()  # fmt: skip

    def abandon(self) -> None:
        """After a fork: the workers are not in the new process, and callers work alone."""
        busy = ctypes.c_int32.from_address(self.address + BUSY)
        busy.value = 1


_lock = threading.Lock()
_pools: list[Pool] = []


def pool() -> Pool | None:
    """The pool, or None where there is nothing to share work with."""
    if not AVAILABLE:
        return None
    with _lock:
        if not _pools:
            _pools.append(Pool(max(wanted_threads() - 1, 0)))
            os.register_at_fork(after_in_child=_pools[0].abandon)
    return _pools[0] if _pools[0].workers else None
