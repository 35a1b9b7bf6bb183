"""The way from Python into machine code: a built-in function that is written in LLVM.

CPython calls it with an array of arguments (METH_FASTCALL); it checks that each is an
ndarray whose elements lie in order, takes the pointers to the data from the objects, and
runs the kernel. Nothing is allocated and no argument is parsed. Offsets and addresses are those
of `cpython.layout`; where that may not be used, `AVAILABLE` is false.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio import cpython
from intaglio.cpython import layout
from intaglio.cpython.methods import FunctionDefinition
from intaglio.native.llvm import jit
from intaglio.native.runtime import entry_code
from intaglio.native.runtime.buffers import maker
from intaglio.native.runtime.entry_code import KERNEL, PROCESS, numbers, of_process
from intaglio.native.runtime.thread_pool import pool

# Whether Python calls kernels by machine code; where not, elementwise kernels are called by ctypes.
AVAILABLE = cpython.AVAILABLE
# Kernels with fewer elements than this are done before another thread could help.
LARGE = 1 << 15
# Parts of the work for each thread: more than one, for threads may be kept from running.
PARTS = 4


class _Ways(NamedTuple):
    """Addresses of the functions of `entry_code`, and the module that they are in."""

    enter: int
    shared: int
    part: int
    released: int
    save_nothing: int
    restore_nothing: int
    sequence: int
    made: jit.Module


_ways: list[_Ways] = []
_ways_lock = threading.Lock()


def ways() -> _Ways:
    """What stands before every kernel, compiled when it is first asked for."""
    if not _ways:
        with _ways_lock:
            # Code has its addresses: there must be one that stays.
            if not _ways:
                made = jit.Module(entry_code.text())
                names = [name for name in _Ways._fields if name != "made"]
                _ways.append(_Ways(**{n: made.address(n) for n in names}, made=made))
    return _ways[0]


@functools.cache
def _python() -> dict[str, int]:
    """Addresses of the interpreter."""
    return {
        "save": layout.function_address("save_thread"),
        "restore": layout.function_address("restore_thread"),
        "array": layout.address_of(np.ndarray),
        "none": layout.address_of(None),
        "refused": layout.address_of(NotImplemented),
    }


def process(kernel: int = 0, body: int = 0, unit: int = 1, form: int = 0) -> list[int]:
    """The words named in `PROCESS`."""
    threads = pool()
    words = {
        **_python(),
        "kernel": kernel,
        "body": body,
        "unit": unit,
        "form": form,
        "part": ways().part,
        "parallel_for": threads.parallel_for if threads else 0,
        "pool": threads.address if threads else 0,
        "most": (threads.workers + 1) * PARTS if threads else 1,
    }
    return [words[name] for name in PROCESS]


class Entry:
    """The way into a kernel, from which functions are made, one for each tuple of dims."""

    def __init__(
        self,
        made: jit.Module,
        name: str,
        inputs: int,
        outputs: int,
        *,
        forms: Sequence[tuple[int, ...]] = (),
        unit: int = 0,
        released: bool = False,
    ) -> None:
        """Inputs of other shapes than `forms` says are refused. With a `unit` all threads take part."""
        self._form = np.array(_form(inputs, outputs, forms), np.int64)
        self._definition = FunctionDefinition("kernel", ways().enter, (made, self._form))
        body = made.address(name)
        self.kernel = ways().shared if unit else ways().released if released else body
        self._words = process(self.kernel, body, unit or 1, self._form.ctypes.data)

    def for_dims(self, dims: Sequence[int], parts: int = 0) -> Callable[..., Any]:
        """The built-in function that runs the kernel on arrays of these dims.

        Threads claim up to so many parts, if that is more than usual.
        """
        words = [*self._words, *dims]
        most = PROCESS.index("most")
        words[most] = max(words[most], parts)
        return self._definition.function(np.asarray(words, np.int64).tobytes())


def _form(inputs: int, outputs: int, forms: Sequence[tuple[int, ...]]) -> list[int]:
    """How many arrays there are, and which shapes: as `entry_code` reads it."""
    words = [inputs, inputs + outputs]
    for form in forms:
        words += [len(form), *form]
    return words + [-1] * (inputs + outputs - len(forms))


def filling(
    kernel: Callable[..., Any], shape: tuple[int, ...], dtype: Any = np.float32
) -> Callable[..., Any]:
    """A function of arrays that makes an array of this shape and lets a kernel fill it."""
    empty, in_order = maker(shape, dtype), np.ascontiguousarray

    # `filling_all` for one result, without its lists: small products spend most of their time here.
    def run(*arrays: Any) -> Any:
        result = empty()
        if kernel(*arrays, result) is NotImplemented:
            kernel(*[in_order(a) for a in arrays], result)
        return result

    return _known(run, Step(kernel, [(shape, np.dtype(dtype))]))


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
    the kernel, and shapes and dtypes of the results.

    It takes the results of the step before, or the arguments; or, where `takes` says which, some of
    them all: numbers of the arguments and then of all results, or arrays. The result of one that
    is `kept` is worth to be kept for an argument that stays the same.
    """

    kernel: Any
    results: Sequence[tuple[tuple[int, ...], Any]]
    takes: Sequence[Any] | None = None
    kept: bool = False

    def made(self, array: Any) -> Any:
        """The only result for the only argument."""
        ((shape, dtype),) = self.results
        result = np.empty(shape, dtype)
        self.kernel(np.ascontiguousarray(array), result)
        return result

    @property
    def words(self) -> list[int]:
        """The addresses named in `PROCESS`, then the dims."""
        return np.frombuffer(self.kernel.__self__, np.int64).tolist()


def _known(run: Any, step: Step) -> Any:
    """The function, with what it does written down."""
    run.steps = [step]
    return run


__all__ = ["KERNEL", "PROCESS", "numbers", "of_process"]
