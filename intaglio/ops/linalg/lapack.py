"""NumPy's LAPACK, on one thread where several would not make it faster.

The threads of OpenBLAS, which NumPy's wheels bring, share factorisations in small steps and wait
for each other after each. For matrices of some hundred rows that takes longer than one thread
needs alone, and a hundred times as long where another program has one of the processors. NumPy
built with another library is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.locks import after_fork, lasting_lock
from intaglio.base.options import OPTIONS
from intaglio.cpython.numpy_libraries import openblas_thread_count

# From so many elements on several threads are faster (measured with two: by a tenth to a third
# at 512 rows, while at 128 they take up to three times as long). Where there are as many right
# sides as rows, most of the work is products, for which they pay earlier. Of the smallest matrices
# OpenBLAS itself makes one thread's work.
SHARED_FROM, PRODUCTS_SHARED_FROM, ALONE_FROM = 512 * 512, 256 * 256, 48 * 48
_PRODUCTS = (np.linalg.inv, np.linalg.solve)


class OneThread:
    """A context in which OpenBLAS takes one thread, in the whole process: its setting is one."""

    def __init__(self, get: Callable[[], int], set: Callable[[int], Any]) -> None:
        self._get, self._set = get, set
        self._lock = lasting_lock()
        self._inside, self._before = 0, 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = self._get()
                self._set(1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._set(self._before)

    def after_fork(self) -> None:
        """In a new process: the threads that were inside are not there to leave."""
        if self._inside:
            self._inside = 0
            self._set(self._before)


def _found() -> OneThread | None:
    """The context for the library that NumPy has loaded; None if that is not OpenBLAS."""
    functions = openblas_thread_count()
    return OneThread(*functions) if functions else None


ONE_THREAD = _found()
if ONE_THREAD is not None:
    after_fork(ONE_THREAD.after_fork)


def lapack(function: Callable[..., Any], matrix: Any, *others: Any) -> Any:
    """What a function of `numpy.linalg` gives for matrices, and further arguments."""
    if ONE_THREAD is None or not _alone(function, matrix.shape):
        return function(matrix, *others)
    with ONE_THREAD:
        return function(matrix, *others)


def _alone(function: Callable[..., Any], shape: tuple[int, ...]) -> bool:
    """Whether matrices of this shape are for one thread."""
    if OPTIONS.threads_intra == 1:
        return True
    shared = PRODUCTS_SHARED_FROM if function in _PRODUCTS else SHARED_FROM
    return ALONE_FROM <= shape[-1] * shape[-2] < shared
