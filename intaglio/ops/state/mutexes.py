"""Locks as resources: between MutexLock and ConsumeMutexLock one run has the lock."""

from __future__ import annotations

import threading
from typing import Any

from intaglio.base.dtypes import RESOURCE_MARKER, VARIANT_MARKER, resource, variant
from intaglio.base.locks import lasting_lock
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec


class Mutex:
    """The value behind a lock's handle."""

    dtype = RESOURCE_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    spec = None

    def __init__(self) -> None:
        self.lock = threading.Lock()


class AcquiredLock:
    """A lock that is held until `release`, or until the object is freed."""

    dtype = VARIANT_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1

    def __init__(self, lock: Any) -> None:
        self._lock = lock
        lock.acquire()

    def release(self) -> None:
        """Gives the lock back, once."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()

    def __del__(self) -> None:
        self.release()


_lock = lasting_lock()
_shared: dict[tuple[str, str], Mutex] = {}


@op
class MutexV2(Op):
    """A lock; the one of that name, if it has a name."""

    signature = "; container: str = '', shared_name: str = '' -> resource: resource"
    stateful = True
    on_host = True
    differentiable = False

    def infer(self) -> Spec:
        return Spec(resource, ())

    def kernel(self, container, shared_name):
        if not shared_name:
            return Mutex()
        with _lock:
            return _shared.setdefault((container, shared_name), Mutex())


@op
class MutexLock(Op):
    """Waits for the lock and takes it."""

    signature = "mutex: resource; -> mutex_lock: variant"
    stateful = True
    on_host = True
    differentiable = False

    def infer(self) -> Spec:
        return Spec(variant, ())

    def kernel(self, mutex):
        return AcquiredLock(mutex.lock)


@op
class ConsumeMutexLock(Op):
    """Gives the lock back."""

    signature = "mutex_lock: variant; -> "
    stateful = True
    on_host = True
    differentiable = False

    def infer(self) -> None:
        return None

    def kernel(self, mutex_lock):
        mutex_lock.release()
