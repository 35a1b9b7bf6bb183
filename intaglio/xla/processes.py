"""Several processes that compute together: `jax.distributed` and collectives over all of them.

A process joins with the addresses of all. jax' coordination service is at the first; collectives between
CPUs are Gloo's. What a process that has died, or does not come, leaves undone, the others say by its name.
https://docs.jax.dev/en/latest/multi_process.html
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax._src import distributed
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from intaglio.base.errors import DeadlineExceededError, UnavailableError
from intaglio.base.shapes import TensorShape

# How long a collective's failure waits for the service to notice who has stopped.
HEARTBEAT_SECONDS = 10
# How long a process that has waited too long waits for the others to say that they did, too.
ANSWER_SECONDS = 1.0
_AXIS = "process"


class Processes:
    """The processes of a cluster, of which this one is number `index`; they wait `seconds` for each other."""

    def __init__(
        self, addresses: Sequence[str], index: int, names: Sequence[str], seconds: float
    ) -> None:
        self.addresses = tuple(addresses)
        self.index = index
        self.names = tuple(names)
        self._seconds = seconds
        # How often `are_alike` was called, and computations of all processes were begun.
        self.comparisons = 0
        self._computations = 0
        # Why there are no more of these.
        self._failure: Exception | None = None
        first = {d.process_index: d for d in reversed(jax.devices("cpu"))}
        devices = [first[i] for i in range(len(addresses))]
        self._mesh = Mesh(np.array(devices), (_AXIS,))
        self._own = first[index]
        # Of arrays of programs of all processes: each has its own numbers in a whole array.
        self._whole = NamedSharding(self._mesh, PartitionSpec())

    def all_reduced(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Arrays summed over all processes, each of one shape in all of them."""
        return self._collective(_summed(self._mesh), [_numeric(a) for a in arrays], arrays)

    def gathered(self, array: np.ndarray) -> np.ndarray:
        """The arrays of all processes, of one shape, stacked in their order."""
        return self._collective(_stacked(self._mesh), [_numeric(array)], [array])[0]

    def gathered_along(self, array: np.ndarray, axis: int) -> np.ndarray:
        """The arrays of all processes along an axis, in which they may have different sizes."""
        sizes = self.gathered(np.array(array.shape[axis], np.int64))
        width = [(0, 0)] * array.ndim
        width[axis] = (0, int(sizes.max()) - array.shape[axis])
        stacked = self.gathered(np.pad(array, width))
        parts = [np.take(a, range(int(n)), axis) for a, n in zip(stacked, sizes, strict=True)]
        return np.concatenate(parts, axis)

    def of_first(self, array: np.ndarray) -> np.ndarray:
        """The array that the first process has."""
        return self.gathered(array)[0]

    def are_alike(self, text: str) -> bool:
        """Whether all processes ask for the same text: each calls this at the same time."""
        self.comparisons += 1
        digest = np.frombuffer(hashlib.sha256(text.encode()).digest()[:16], np.int64)
        found = self.gathered(digest)
        return bool((found == found[0]).all())

    def together(self, program: Callable[..., Any], operands: Any) -> Any:
        """What a program of all processes gives this one, of its own arrays.

        Raises UnavailableError, with the processes that stopped, and DeadlineExceededError, with those that
        do not come.
        """
        placed = jax.tree.map(self._placed, operands)
        return self._computed(
            lambda: jax.tree.map(_own_part, jax.block_until_ready(program(*placed)))
        )

    def _computed(self, compute: Callable[[], Any]) -> Any:
        """The result of a function in which this process waits for all others; raises as `together`."""
        if self._failure is not None:
            raise self._failure
        self._computations += 1
        try:
            return _within(self._seconds, compute)
        except _Late:
            self._failure = self._late()
            raise self._failure from None
        except (jax.errors.JaxRuntimeError, ValueError) as e:
            if not _is_of_others(e):
                raise
            self._failure = self._stopped(e)
            raise self._failure from e

    def mapped(self, body: Callable[..., Any], donated: tuple[int, ...]) -> Any:
        """A function of one process as the program of all, before it is compiled for its arrays."""
        whole = PartitionSpec()
        program = jax.shard_map(
            body, mesh=self._mesh, in_specs=whole, out_specs=whole, check_vma=False
        )
        return jax.jit(program, donate_argnums=donated)

    def lowered(self, program: Any, operands: Any) -> Any:
        """A mapped program for arrays: `jax.stages.Lowered`."""
        return program.lower(*jax.tree.map(self._placed, operands))

    def _placed(self, array: Any) -> Any:
        own = jax.device_put(array, self._own)
        return jax.make_array_from_single_device_arrays(own.shape, self._whole, [own])

    def wait(self, name: str, seconds: float) -> None:
        """Returns once all processes have come here. Raises DeadlineExceededError, with those missing."""
        try:
            _client().wait_at_barrier(name, int(seconds * 1000))
        except jax.errors.JaxRuntimeError as e:
            raise DeadlineExceededError(
                None, None, f"{self._missing()} did not come to {name!r} within {seconds} s: {e}"
            ) from e

    def _collective(
        self, program: Callable[..., Any], arrays: Sequence[np.ndarray], like: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        def compute() -> list[np.ndarray]:
            results = program(*[self._global(a) for a in arrays])
            return [np.asarray(r.addressable_shards[0].data) for r in results]

        found = self._computed(compute)
        return [f.astype(a.dtype) for f, a in zip(found, like, strict=True)]

    def _stopped(self, error: Exception) -> Exception:
        return UnavailableError(
            None,
            None,
            f"{self._missing()} stopped while all workers were computing together: {error}",
        )

    def _late(self) -> Exception:
        """The error of a computation to which a process does not come: those that wait say that they do."""
        waiting = f"waiting/{self._computations}/"
        try:
            _client().key_value_set(f"{waiting}{self.index}", "")
            time.sleep(ANSWER_SECONDS)
            answers = _client().key_value_dir_get(waiting)
            here = {int(key.rpartition("/")[2]) for key, _ in answers}
        except jax.errors.JaxRuntimeError:  # the service was the first's
            here = {*range(1, len(self.addresses))}
        absent = _listed(self, [i for i in range(len(self.addresses)) if i not in here])
        return DeadlineExceededError(
            None,
            None,
            f"{absent} did not come within {self._seconds} s to what all workers compute together.",
        )

    def _global(self, array: np.ndarray) -> Any:
        shape = (len(self.addresses), *array.shape)
        own = jax.device_put(array[None], self._own)
        sharding = NamedSharding(self._mesh, PartitionSpec(_AXIS))
        return jax.make_array_from_single_device_arrays(shape, sharding, [own])

    def _missing(self) -> str:
        """The processes that the service takes for dead, by name and address."""
        numbers = [*range(len(self.addresses))]
        try:  # those that live answer once they ask, too
            alive = _within(2 * HEARTBEAT_SECONDS, lambda: _client().get_live_nodes(numbers))
        except _Late:
            alive = numbers
        except jax.errors.JaxRuntimeError:
            alive = dict.fromkeys(range(1, len(self.addresses)), 0)  # the service was the first's
        return _listed(self, [i for i in numbers if i not in alive])


class AllReduce:
    """Arrays summed over all processes: by the host, or `traced` in a program of all of them."""

    def __init__(self, processes: Processes) -> None:
        self.processes = processes

    def __call__(self, *arrays: Any) -> list[np.ndarray]:
        return self.processes.all_reduced([np.asarray(a) for a in arrays])

    def shapes_of(self, shapes: Sequence[TensorShape]) -> list[TensorShape]:
        """The shapes of the results, as far as they are known."""
        return [*shapes]

    def traced(self, arrays: Sequence[Any]) -> list[Any]:
        """The sums in a program."""
        return [jax.lax.psum(_numeric(a), _AXIS).astype(a.dtype) for a in arrays]


class AllGather:
    """Arrays of all processes along an axis, as `AllReduce`. In a program all have one shape."""

    def __init__(self, processes: Processes, axis: int) -> None:
        self.processes = processes
        self._axis = axis

    def __call__(self, *arrays: Any) -> list[np.ndarray]:
        return [self.processes.gathered_along(np.asarray(a), self._axis) for a in arrays]

    def shapes_of(self, shapes: Sequence[TensorShape]) -> list[TensorShape]:
        """The shapes of the results: how much other processes have is not known."""
        found: list[TensorShape] = []
        for shape in shapes:
            dims = None if shape.rank is None else shape.as_list()
            if dims is not None:
                dims[self._axis] = None
            found.append(TensorShape(dims))
        return found

    def traced(self, arrays: Sequence[Any]) -> list[Any]:
        """The arrays of all in a program."""
        return [jax.lax.all_gather(a, _AXIS, axis=self._axis % a.ndim, tiled=True) for a in arrays]


class _Late(Exception):
    """A function did not return in time."""


# Threads whose computations wait for a process that did not come.
_abandoned: list[threading.Thread] = []


def _within(seconds: float, call: Callable[[], Any]) -> Any:
    """What a function returns or raises in a thread of its own, with numbers of 64 bits.

    Raises _Late if it takes longer, and leaves it to the thread: XLA's computations cannot be ended.
    """
    found: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with jax.enable_x64(True):
                found.append(call())
        except BaseException as e:
            errors.append(e)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not found:
        _abandoned.append(thread)
        raise _Late
    return found[0]


def _join_abandoned(seconds: float) -> None:
    """Waits until the abandoned computations have failed, as they do once this process has left the others.

    A daemon thread that returns from XLA to an interpreter that is being finalized is ended by CPython up
    to 3.13 with `pthread_exit`, which may not unwind XLA's frames and ends the process with SIGABRT.
    """
    end = time.monotonic() + seconds
    while _abandoned:
        _abandoned.pop().join(max(end - time.monotonic(), 0.0))


def _is_of_others(error: Exception) -> bool:
    """Whether the error of a computation says that another process has left it."""
    return "Gloo" in str(error) or str(error).startswith("UNAVAILABLE")


def _own_part(array: Any) -> Any:
    return array.addressable_data(0)


def _listed(processes: Any, numbers: Sequence[int]) -> str:
    shown = [f"{processes.names[i]} ({processes.addresses[i]})" for i in numbers]
    return ", ".join(shown) or "a worker"


def _numeric(array: Any) -> Any:
    return array.astype(np.int8) if array.dtype == np.bool_ else array


@functools.cache
def _summed(mesh: Mesh) -> Callable[..., Any]:
    def body(*values: Any) -> Any:
        return [jax.lax.psum(v[0], _AXIS) for v in values]

    return _mapped(mesh, body)


@functools.cache
def _stacked(mesh: Mesh) -> Callable[..., Any]:
    def body(value: Any) -> Any:
        return [jax.lax.all_gather(value[0], _AXIS)]

    return _mapped(mesh, body)


def _mapped(mesh: Mesh, body: Callable[..., Any]) -> Callable[..., Any]:
    split, whole = PartitionSpec(_AXIS), PartitionSpec()
    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=split, out_specs=whole, check_vma=False))


def _client() -> Any:
    return distributed.global_state.client


_joined: list[Processes] = []


def join(addresses: Sequence[str], index: int, names: Sequence[str], seconds: float) -> Processes:
    """Joins the processes at these addresses, once for a process.

    Raises DeadlineExceededError, with the names of those that have not come within `seconds`, and
    RuntimeError for another cluster than the one joined before, or if jax is in use already.
    """
    if _joined:
        if (_joined[0].addresses, _joined[0].index) != (tuple(addresses), index):
            raise RuntimeError(
                f"This process is worker {_joined[0].index} of {_joined[0].addresses} already; it cannot "
                f"join {tuple(addresses)} too."
            )
        return _joined[0]
    own = _wait_for_all(addresses, index, names, seconds)
    try:
        _initialize(addresses, index, seconds)
    finally:
        if own is not None:
            own.close()
    found = Processes(addresses, index, names, seconds)
    _joined.append(found)
    atexit.register(_leave, found)
    return found


def _initialize(addresses: Sequence[str], index: int, seconds: float) -> None:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    # So that the death of a process is an error in the others, which they can explain. The first has
    # the service: jax ends the others if that stops.
    jax.config.update("jax_enable_recoverability", True)
    jax.distributed.initialize(
        addresses[0],
        len(addresses),
        index,
        cluster_detection_method="deactivate",
        initialization_timeout=max(int(seconds), 1),
        heartbeat_timeout_seconds=HEARTBEAT_SECONDS,
    )


def _wait_for_all(
    addresses: Sequence[str], index: int, names: Sequence[str], seconds: float
) -> socket.socket | None:
    """Returns once every process accepts connections at its address; this one does meanwhile.

    jax would end the process if one is missing, without saying which.
    """
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    own.bind(("", _port(addresses[index])))
    own.listen(len(addresses))
    missing = [i for i in range(len(addresses)) if i != index]
    end = time.monotonic() + seconds
    while missing:
        missing = [i for i in missing if not _answers(addresses[i])]
        if missing and time.monotonic() > end:
            own.close()
            shown = ", ".join([f"{names[i]} ({addresses[i]})" for i in missing])
            raise DeadlineExceededError(
                None,
                None,
                f"{shown} did not come within {seconds} s. Start a process for each worker of "
                "TF_CONFIG, with the same cluster and its own task index.",
            )
        if missing:
            time.sleep(0.1)
    if index == 0:  # the port is the service's from now on
        own.close()
        return None
    return own


def _answers(address: str) -> bool:
    host, port = address.rsplit(":", 1)[0], _port(address)
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def _port(address: str) -> int:
    return int(address.rsplit(":", 1)[1])


def _leave(processes: Processes) -> None:
    """At the end of the program: the first process, which has the service, goes last."""
    if getattr(sys, "last_value", None) is None:
        with contextlib.suppress(DeadlineExceededError):
            processes.wait("end of the program", HEARTBEAT_SECONDS)
    if processes.index == 0:
        time.sleep(0.2)
    jax.distributed.shutdown()
    _join_abandoned(HEARTBEAT_SECONDS)


__all__ = ["AllGather", "AllReduce", "Processes", "join"]
