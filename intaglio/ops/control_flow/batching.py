"""Batches of calls: concurrent calls of several threads are computed together."""

from __future__ import annotations

import bisect
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base.errors import FailedPreconditionError, UnavailableError, invalid_argument
from intaglio.base.locks import lasting_lock
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.control_flow.graph_arguments import check_arguments, check_results

POLICIES = (
    "low_priority_padding_with_max_batch_size",
    "low_priority_padding_with_next_allowed_batch_size",
    "priority_isolation",
    "priority_merge",
)

Run = Callable[[list[Any]], list[Any]]


class Limits(NamedTuple):
    """The size of batches, their waiting time, and the number in progress."""

    threads: int
    largest: int
    wait: float
    enqueued: int
    allowed: tuple[int, ...]

    def padded(self, size: int) -> int:
        """The size that a batch is brought to."""
        at = bisect.bisect_left(self.allowed, size)
        return self.allowed[at] if at < len(self.allowed) else size


class _Batch:
    """Calls that are computed together, by the thread of the first."""

    def __init__(self) -> None:
        self.tasks: list[list[Any]] = []
        self.size = 0
        self.closed = False
        self.done = threading.Event()
        self.results: list[list[Any]] = []
        self.error: BaseException | None = None

    def add(self, arrays: list[Any]) -> int:
        """Adds a call; gives its number."""
        self.tasks.append(arrays)
        self.size += len(arrays[0])
        return len(self.tasks) - 1


class Queue:
    """The calls of one function."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._changed = threading.Condition()
        self._free = threading.Semaphore(max(limits.threads, 1))
        self._open: _Batch | None = None
        self._waiting = 0

    def call(self, arrays: list[Any], run: Run) -> list[Any]:
        """The results for a call's arrays, computed alone or with those of other calls.

        Raises UnavailableError if too many batches wait.
        """
        batch, number = self._joined(arrays)
        if number == 0:
            self._lead(batch, run)
        batch.done.wait()
        if batch.error is not None:
            raise batch.error
        return batch.results[number]

    def _joined(self, arrays: list[Any]) -> tuple[_Batch, int]:
        size = len(arrays[0])
        with self._changed:
            batch = self._open
            if batch is not None and batch.size + size > self.limits.largest:
                self._close(batch)
                batch = None
            if batch is None:
                if self._waiting >= self.limits.enqueued:
                    raise UnavailableError(
                        None,
                        None,
                        "The batch scheduling queue to which this task was submitted is full: "
                        f"{self._waiting} batches wait; `max_enqueued_batches` allows more",
                    )
                batch = self._open = _Batch()
                self._waiting += 1
            number = batch.add(arrays)
            if batch.size >= self.limits.largest:
                self._close(batch)
        return batch, number

    def _close(self, batch: _Batch) -> None:
        """Closes a batch to further calls."""
        batch.closed = True
        if self._open is batch:
            self._open = None
        self._changed.notify_all()

    def _lead(self, batch: _Batch, run: Run) -> None:
        """Waits for others, then computes for all."""
        with self._changed:
            self._changed.wait_for(lambda: batch.closed, self.limits.wait)
            self._close(batch)
        try:
            with self._free:
                batch.results = self._computed(batch, run)
        except BaseException as e:
            batch.error = e
        finally:
            with self._changed:
                self._waiting -= 1
            batch.done.set()

    def _computed(self, batch: _Batch, run: Run) -> list[list[Any]]:
        sizes = [len(task[0]) for task in batch.tasks]
        padding = self.limits.padded(batch.size) - batch.size
        columns: list[Any] = []
        for parts in zip(*batch.tasks, strict=True):
            shapes = {part.shape[1:] for part in parts}
            if len(shapes) > 1:
                raise invalid_argument(
                    "Calls in one batch differ in more than the first dimension: "
                    f"{', '.join(sorted(map(str, shapes)))}"
                )
            rest = [np.repeat(parts[0][:1], padding, axis=0)] if padding else []
            together = len(parts) + len(rest) > 1
            columns.append(np.concatenate([*parts, *rest]) if together else parts[0])
        cuts = np.cumsum(sizes)
        split_columns = [_parts(x, batch.size, padding, cuts) for x in run(columns)]
        return [list(row) for row in zip(*split_columns, strict=True)]


def _parts(whole: Any, size: int, padding: int, cuts: Any) -> list[Any]:
    """The slices of a result that belong to each call."""
    array = np.asarray(whole)
    if not array.ndim:
        raise FailedPreconditionError(None, None, "Batched output tensor has 0 dimensions")
    if len(array) != size + padding:
        raise FailedPreconditionError(
            None,
            None,
            "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the "
            f"input tensors. 0th dimension size: {len(array)}; batch size: {size}; padding size: {padding}",
        )
    return np.split(array[:size], cuts[:-1])


_lock = lasting_lock()
_queues: dict[tuple[str, str, Limits], Queue] = {}


def _queue(container: str, name: str, limits: Limits) -> Queue:
    with _lock:
        key = (container, name, limits)
        found = _queues.get(key)
        if found is None:
            found = _queues[key] = Queue(limits)
        return found


@op
class BatchFunction(Op):
    """f of the tensors of several calls, joined along the first axis and cut again."""

    signature = (
        "in_tensors: *Tin, captured_tensors: *Tcaptured; f: func, num_batch_threads: int,"
        " max_batch_size: int, batch_timeout_micros: int, Tout: list(type),"
        " max_enqueued_batches: int = 10, allowed_batch_sizes: list(int) = [],"
        " container: str = '', shared_name: str = '', batching_queue: str = '',"
        " low_priority_max_batch_size: int = 0,"
        " low_priority_batch_timeout_micros: int = 0,"
        " low_priority_allowed_batch_sizes: list(int) = [],"
        " low_priority_max_enqueued_batches: int = 0,"
        " mixed_priority_policy: str = 'low_priority_padding_with_max_batch_size',"
        " batch_padding_policy: str = 'PAD_UP',"
        " enable_large_batch_splitting: bool = False"
        " -> out_tensors: *Tout"
    )
    mixed_priority_policy = POLICIES
    batch_padding_policy = ("PAD_UP", "BATCH_DOWN", "MINIMIZE_TPU_COST_PER_REQUEST")

    def infer(self, in_tensors, captured_tensors, f: Any, Tout) -> Any:
        operands = [*[s.like(shape=None) for s in in_tensors], *captured_tensors]
        check_arguments(f, operands, "Function")
        check_results(f, Tout, "Function")
        sizes = {s.shape[0] for s in in_tensors if s.shape}
        size = sizes.pop() if len(sizes) == 1 else None
        return [[_resized(spec, size) for spec in f.output_specs]]

    def kernel(
        self,
        in_tensors,
        captured_tensors,
        f,
        num_batch_threads,
        max_batch_size,
        batch_timeout_micros,
        max_enqueued_batches,
        allowed_batch_sizes,
        container,
        shared_name,
        enable_large_batch_splitting,
        Tout,
        run,
    ):
        allowed = tuple(allowed_batch_sizes)
        _check_allowed(allowed, max_batch_size, enable_large_batch_splitting)
        arrays = [np.asarray(x) for x in in_tensors]
        size = _size(arrays)
        if size > max_batch_size:
            raise invalid_argument(
                f"Task size {size} is larger than maximum input batch size {max_batch_size}"
            )
        if not size:
            return [np.zeros(0, dtype.numpy) for dtype in Tout]
        largest = min(max_batch_size, allowed[-1]) if allowed else max_batch_size
        wait = batch_timeout_micros / 1e6
        limits = Limits(num_batch_threads, largest, wait, max_enqueued_batches, allowed)
        queue = _queue(container, shared_name or f.name, limits)

        def compute(columns: list[Any]) -> list[Any]:
            return run(f, [*columns, *captured_tensors])

        parts = [
            queue.call([x[i : i + largest] for x in arrays], compute)
            for i in range(0, size, largest)
        ]
        if len(parts) == 1:
            return parts[0]
        return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _resized(spec: Spec, size: int | None) -> Spec:
    if not spec.shape:
        return Spec(spec.dtype, spec.shape)
    return Spec(spec.dtype, (size, *spec.shape[1:]))


def _size(arrays: Sequence[Any]) -> int:
    """The number of rows. Raises InvalidArgumentError if arrays have none, or differ."""
    if any(not x.ndim for x in arrays):
        raise invalid_argument("Batching input tensors must have at least one dimension")
    sizes = {len(x) for x in arrays}
    if len(sizes) > 1:
        raise invalid_argument(
            "Batching input tensors supplied in a given op invocation must have equal "
            f"0th-dimension size, got {sorted(sizes)}"
        )
    return sizes.pop()


def _check_allowed(allowed: tuple[int, ...], most: int, splitting: bool) -> None:
    """Raises InvalidArgumentError unless the sizes rise, to the largest one."""
    if any(a >= b for a, b in itertools.pairwise(allowed)):
        raise invalid_argument("allowed_batch_sizes entries must be monotonically increasing")
    if allowed and not splitting and allowed[-1] != most:
        raise invalid_argument(
            "final entry in allowed_batch_sizes must equal max_batch_size when "
            "enable_large_batch_splitting is False"
        )
