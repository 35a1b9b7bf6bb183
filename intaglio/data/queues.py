"""Queues of elements between threads, as resources and ops.

Follows https://www.tensorflow.org/api_docs/python/tf/queue. Enqueueing waits for
free capacity, dequeueing for an element.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from intaglio.base.dtypes import RESOURCE_MARKER, bool_, int32, int64, resource
from intaglio.base.errors import CancelledError, OutOfRangeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.random import philox
from intaglio.runtime import random_state

Element = tuple[Any, ...]
_numbers = itertools.count()
_BLOCKS_PER_BATCH = 16  # of random numbers, generated at a time


class Queue:
    """The value of a queue's handle: a first-in, first-out queue."""

    kind = "FIFOQueue"
    dtype = RESOURCE_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    spec = None

    def __init__(self, types: Any, shapes: Any, capacity: int, name: str) -> None:
        if shapes and len(shapes) != len(types):
            raise invalid_argument(
                "Different number of component types.  Types: "
                f"{', '.join(t.name for t in types)}, Shapes: {[list(s or ()) for s in shapes]}"
            )
        self._shapes = shapes
        self._capacity = capacity if capacity >= 0 else float("inf")
        self._name = name or str(next(_numbers))
        self._changed = threading.Condition()
        self._closed = self._cancelled = False
        self._items: Any = deque()

    # What each kind of queue does differently.

    def _put(self, element: Element) -> None:
        self._items.append(element)

    def _take(self) -> Element:
        return self._items.popleft()

    def _put_back(self, elements: list[Element]) -> None:
        self._items.extendleft(reversed(elements))

    def _kept(self) -> int:
        """The minimum number of elements that remain while the queue is open."""
        return 0

    def _stacked(self, column: list[Any]) -> Any:
        return np.stack(column)

    # -- from here on all are the same -------------------------------------------------------

    def __len__(self) -> int:
        return len(self._items)

    @property
    def closed(self) -> bool:
        """True if the queue accepts no more elements."""
        return self._closed

    def enqueue(self, elements: list[Element]) -> None:
        """Enqueues the elements, one by one, when there is capacity.

        Raises CancelledError if the queue is closed, or closed meanwhile with cancelling.
        """
        with self._changed:
            if self._closed:
                raise CancelledError(None, None, f"{self.kind} '{self._name}' is closed.")
            for element in elements:
                while len(self._items) >= self._capacity and not self._cancelled:
                    self._changed.wait()
                if self._cancelled:
                    raise CancelledError(None, None, "Enqueue operation was cancelled")
                self._put(element)
                self._changed.notify_all()

    def dequeue(self, count: int, up_to: bool = False) -> list[Element]:
        """Removes and returns `count` elements; waits for them.

        Raises OutOfRangeError if the queue is closed and has fewer; with `up_to` only if it
        has none.
        """
        found: list[Element] = []
        with self._changed:
            while len(found) < count:
                kept = 0 if self._closed else self._kept()
                if len(self._items) > kept:
                    found.append(self._take())
                    self._changed.notify_all()
                elif not self._closed:
                    self._changed.wait()
                elif up_to and found:
                    break
                else:
                    self._put_back(found)
                    raise OutOfRangeError(
                        None,
                        None,
                        f"{self.kind} '{self._name}' is closed and has insufficient elements "
                        f"(requested {count}, current size {len(self._items)})",
                    )
        return found

    def dequeue_batch(self, count: int, up_to: bool) -> list[Any]:
        """Removes elements, and returns each component stacked."""
        if not self._shapes:
            raise invalid_argument(
                f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have "
                "specified shapes."
            )
        if count < 0:
            raise invalid_argument(f"DequeueManyOp requested {count} < 0 elements")
        elements = self.dequeue(count, up_to)
        return [self._stacked(list(c)) for c in zip(*elements, strict=True)]

    def close(self, cancel: bool) -> None:
        """Closes the queue to new elements; pending enqueues fail at once with `cancel`."""
        with self._changed:
            self._closed = True
            self._cancelled = self._cancelled or cancel
            self._changed.notify_all()


class PaddingQueue(Queue):
    """A queue that pads elements of different shapes with zeros when they are stacked."""

    kind = "PaddingFIFOQueue"

    def _stacked(self, column: list[Any]) -> Any:
        dims = np.max([a.shape for a in column], 0)
        filler: Any = b"" if column[0].dtype == object else 0
        found = np.full((len(column), *dims), filler, column[0].dtype)
        for row, array in zip(found, column, strict=True):
            row[tuple([slice(d) for d in array.shape])] = array
        return found


class PriorityQueue(Queue):
    """A queue that returns the element with the lowest first component."""

    kind = "PriorityQueue"

    def __init__(self, types: Any, shapes: Any, capacity: int, name: str) -> None:
        super().__init__(types, shapes, capacity, name)
        self._items = []
        self._order = itertools.count()

    def _put(self, element: Element) -> None:
        heapq.heappush(self._items, (int(element[0]), next(self._order), element))

    def _take(self) -> Element:
        return heapq.heappop(self._items)[2]

    def _put_back(self, elements: list[Element]) -> None:
        for element in elements:
            self._put(element)


class ShuffleQueue(Queue):
    """A queue that returns a random element, as long as enough remain."""

    kind = "RandomShuffleQueue"

    def __init__(
        self, types: Any, shapes: Any, capacity: int, name: str, kept: int, seeds: Any
    ) -> None:
        super().__init__(types, shapes, capacity, name)
        self._items = []
        self._least = kept
        self._random = _random_numbers(*seeds)

    def _take(self) -> Element:
        at = next(self._random) % len(self._items)
        self._items[at], self._items[-1] = self._items[-1], self._items[at]
        return self._items.pop()

    def _put_back(self, elements: list[Element]) -> None:
        self._items.extend(elements)

    def _kept(self) -> int:
        return self._least


def _random_numbers(seed: int, seed2: int) -> Iterator[int]:
    if not seed and not seed2:
        seed, seed2 = random_state.fresh_bits(64), random_state.fresh_bits(64)
    stream = philox.from_seed(seed, seed2)
    while True:
        yield from philox.bits32(stream, 4 * _BLOCKS_PER_BATCH).tolist()
        stream = stream.skipped(_BLOCKS_PER_BATCH)


class QueueTable:
    """Queues that are found by name."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Queue] = {}
        self._lock = threading.Lock()

    def get(self, container: str, name: str, make: Callable[[], Queue]) -> Queue:
        """The queue of that name, created if there is none; a new one without a name."""
        if not name:
            return make()
        with self._lock:
            return self._found.setdefault((container, name), make())


TABLE = QueueTable()
_ATTRS = (
    "component_types: list(type), shapes: list(shape) = (), capacity: int = -1, {}"
    "container: str = '', shared_name: str = ''"
)


class _Making(Op):
    stateful = True
    on_host = True
    differentiable = False

    def infer(self) -> Spec:
        return Spec(resource, ())


@op
class FIFOQueueV2(_Making):
    """A first-in, first-out queue."""

    signature = f"; {_ATTRS.format('')} -> handle: resource"

    def kernel(self, component_types, shapes, capacity, container, shared_name):
        return TABLE.get(
            container, shared_name, lambda: Queue(component_types, shapes, capacity, shared_name)
        )


@op
class PaddingFIFOQueueV2(_Making):
    """As FIFOQueueV2, for elements whose shapes differ."""

    signature = f"; {_ATTRS.format('')} -> handle: resource"

    def kernel(self, component_types, shapes, capacity, container, shared_name):
        return TABLE.get(
            container,
            shared_name,
            lambda: PaddingQueue(component_types, shapes, capacity, shared_name),
        )


@op
class PriorityQueueV2(_Making):
    """A queue that returns the element with the lowest priority number first."""

    signature = (
        "; shapes: list(shape), component_types: list(type) = (), capacity: int = -1,"
        " container: str = '', shared_name: str = '' -> handle: resource"
    )

    def kernel(self, component_types, shapes, capacity, container, shared_name):
        return TABLE.get(
            container,
            shared_name,
            lambda: PriorityQueue(
                (int64, *component_types), shapes and ((), *shapes), capacity, shared_name
            ),
        )


@op
class RandomShuffleQueueV2(_Making):
    """A queue that returns a random element."""

    signature = "; {} -> handle: resource".format(
        _ATTRS.format("min_after_dequeue: int = 0, seed: int = 0, seed2: int = 0, ")
    )

    def kernel(
        self,
        component_types,
        shapes,
        capacity,
        min_after_dequeue,
        seed,
        seed2,
        container,
        shared_name,
    ):
        return TABLE.get(
            container,
            shared_name,
            lambda: ShuffleQueue(
                component_types, shapes, capacity, shared_name, min_after_dequeue, (seed, seed2)
            ),
        )


class _Doing(Op):
    stateful = True
    on_host = True
    differentiable = False


@op
class QueueEnqueueV2(_Doing):
    """Enqueues one element."""

    signature = "handle: resource, components: *Tcomponents; timeout_ms: int = -1 -> "

    def infer(self) -> None:
        return None

    def kernel(self, handle, components):
        handle.enqueue([tuple(map(np.asarray, components))])


@op
class QueueEnqueueManyV2(_Doing):
    """Enqueues the rows of the components."""

    signature = "handle: resource, components: *Tcomponents; timeout_ms: int = -1 -> "

    def infer(self) -> None:
        return None

    def kernel(self, handle, components):
        rows = zip(*[list(map(_row, c)) for c in components], strict=True)
        handle.enqueue(list(rows))


def _row(value: Any) -> Any:
    if isinstance(value, bytes):
        found = np.empty((), object)
        found[()] = value
        return found
    return np.asarray(value)


@op
class QueueDequeueV2(_Doing):
    """Dequeues one element."""

    signature = (
        "handle: resource; component_types: list(type), timeout_ms: int = -1"
        " -> components: *component_types"
    )

    def infer(self, component_types: Any) -> list[Spec]:
        return [Spec(t, None) for t in component_types]

    def kernel(self, handle):
        return list(handle.dequeue(1)[0])


class _Batch(_Doing):
    signature = (
        "handle: resource, n: int32; component_types: list(type), timeout_ms: int = -1"
        " -> components: *component_types"
    )

    def infer(self, component_types: Any) -> list[Spec]:
        return [Spec(t, None) for t in component_types]


@op
class QueueDequeueManyV2(_Batch):
    """Dequeues n elements, stacked."""

    def kernel(self, handle, n, component_types):
        found = handle.dequeue_batch(int(n), False)
        return found or [np.zeros(0, t.numpy) for t in component_types]


@op
class QueueDequeueUpToV2(_Batch):
    """Dequeues n elements, or the remaining ones of a closed queue; stacked."""

    def kernel(self, handle, n, component_types):
        found = handle.dequeue_batch(int(n), True)
        return found or [np.zeros(0, t.numpy) for t in component_types]


@op
class QueueCloseV2(_Doing):
    """Closes a queue."""

    signature = "handle: resource; cancel_pending_enqueues: bool = False -> "

    def infer(self) -> None:
        return None

    def kernel(self, handle, cancel_pending_enqueues):
        handle.close(cancel_pending_enqueues)


@op
class QueueSizeV2(_Doing):
    """The number of elements in the queue."""

    signature = "handle: resource; -> size: int32"

    def infer(self) -> Spec:
        return Spec(int32, ())

    def kernel(self, handle):
        return np.asarray(len(handle), np.int32)


@op
class QueueIsClosedV2(_Doing):
    """Whether the queue is closed."""

    signature = "handle: resource; -> is_closed: bool"

    def infer(self) -> Spec:
        return Spec(bool_, ())

    def kernel(self, handle):
        return np.asarray(handle.closed)
