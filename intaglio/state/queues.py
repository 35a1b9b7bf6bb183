"""Queues of tensors between threads: `tf.queue`.

Follows https://www.tensorflow.org/api_docs/python/tf/queue. An element is a tensor, or a
tuple of several; putting one in waits for capacity, taking one out waits for an element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base.dtypes import as_dtype, int32, int64
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import TensorShape
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import public_methods
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.random_state import op_seeds
from intaglio.trace.scopes import executing_eagerly, init_scope


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _shape_list(shapes: Any, count: int) -> list[TensorShape] | None:
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape) or (
        count == 1 and isinstance(shapes, tuple) and all(isinstance(s, int) for s in shapes)
    ):
        shapes = [shapes]
    return [TensorShape(s) for s in shapes]


@public_methods
class QueueBase:
    """The base class of all queues."""

    def __init__(
        self, dtypes: Any, shapes: Any, names: Any, queue_ref: Any, name: str = "queue"
    ) -> None:
        self._dtypes = [as_dtype(t) for t in _listed(dtypes)]
        self._shapes = (
            [TensorShape(None)] * len(self._dtypes)
            if shapes is None
            else [TensorShape(s) for s in shapes]
        )
        if len(self._shapes) != len(self._dtypes):
            raise ValueError(
                "Queue shapes must have the same length as dtypes, received "
                f"len(shapes)={len(self._shapes)}, len(dtypes)={len(self._dtypes)}"
            )
        self._names = None if names is None else _listed(names)
        if self._names is not None and len(self._names) != len(self._dtypes):
            raise ValueError(
                "Queue names must have the same length as dtypes, received "
                f"len(names)={len(self._names)}, len(dtypes)={len(self._dtypes)}"
            )
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name if isinstance(queue_ref, SymbolicTensor) else name

    @staticmethod
    def from_list(index: Any, queues: Sequence[QueueBase]) -> QueueBase:
        """The queue at an index of a list of queues with equal element types.

        Raises TypeError for queues whose elements differ.
        """
        if not queues or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if not all(q.dtypes == first.dtypes for q in queues[1:]):
            raise TypeError("Queues do not have matching component dtypes.")
        if not all(q.names == first.names for q in queues[1:]):
            raise TypeError("Queues do not have matching component names.")
        number = convert.to_tensor(index)
        if not executing_eagerly():
            raise NotImplementedError(
                "tf.queue.QueueBase.from_list: choosing a queue in a graph is not done; use "
                "tf.switch_case with a function for each queue"
            )
        return queues[int(number.numpy())]

    @property
    def queue_ref(self) -> Tensor:
        """The handle: a tensor of dtype resource."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The given name; in a graph, that of the queue's node."""
        return self._name

    @property
    def dtypes(self) -> list[Any]:
        """The dtypes of an element's components."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of an element's components, as far as they are declared."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The names of the components, whose elements are dicts; or None."""
        return self._names

    # -- enqueue -----------------------------------------------------------------------------

    def _components(self, values: Any, many: bool) -> list[Tensor]:
        """An element as tensors. Raises ValueError if it does not fit."""
        if isinstance(values, dict):
            if self._names is None:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names) != sorted(values):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                    f"{sorted(values)},Queue: {sorted(self._names)}"
                )
            values = [values[n] for n in self._names]
        elif self._names is not None:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        found = [
            convert.to_tensor(v, t) for v, t in zip(_listed(values), self._dtypes, strict=False)
        ]
        for tensor, shape in zip(found, self._shapes, strict=False):
            inner = tensor.shape
            if many:
                inner = inner.with_rank_at_least(1)[1:]
            inner.assert_is_compatible_with(shape)
        if many:
            rows = TensorShape([None])
            for tensor in found:
                rows = rows.merge_with(tensor.shape[:1])
        return found

    def enqueue(self, vals: Any, name: str | None = None) -> Any:
        """Adds an element: a tensor, a tuple of tensors, or with names a dict.

        Waits for capacity. Raises CancelledError if the queue is closed.
        """
        return raw.QueueEnqueueV2(self._queue_ref, self._components(vals, False), name=name)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Any:
        """Adds the rows of tensors as elements; waits for capacity as `enqueue` does."""
        return raw.QueueEnqueueManyV2(self._queue_ref, self._components(vals, True), name=name)

    # -- dequeue -----------------------------------------------------------------------------

    def _returned(self, result: Any, rows: tuple[Any, ...] | None) -> Any:
        tensors = [result] if isinstance(result, Tensor) else list(result)
        if not executing_eagerly():
            for tensor, shape in zip(tensors, self._shapes, strict=True):
                if rows is None:
                    tensor.set_shape(shape)
                else:
                    tensor.set_shape(TensorShape(rows).concatenate(shape))
        if self._names is not None:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def dequeue(self, name: str | None = None) -> Any:
        """Removes and returns an element; several components are a list.

        Waits for one. Raises OutOfRangeError if the queue is closed and empty.
        """
        result = raw.QueueDequeueV2(self._queue_ref, component_types=tuple(self._dtypes), name=name)
        return self._returned(result, None)

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Removes and returns `n` elements, stacked; waits for all of them.

        Raises OutOfRangeError if the queue is closed and has fewer, InvalidArgumentError for
        a queue without shapes.
        """
        result = raw.QueueDequeueManyV2(
            self._queue_ref,
            convert.to_tensor(n, int32),
            component_types=tuple(self._dtypes),
            name=name,
        )
        return self._returned(result, (n if isinstance(n, int) else None,))

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """As `dequeue_many`, but a closed queue returns its remaining elements."""
        result = raw.QueueDequeueUpToV2(
            self._queue_ref,
            convert.to_tensor(n, int32),
            component_types=tuple(self._dtypes),
            name=name,
        )
        return self._returned(result, (None,))

    # -- state -------------------------------------------------------------------------------

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """Closes the queue to new elements; `cancel_pending_enqueues` cancels calls that wait for capacity."""
        return raw.QueueCloseV2(
            self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name
        )

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether the queue is closed."""
        return raw.QueueIsClosedV2(self._queue_ref, name=name)

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements in the queue; int32."""
        return raw.QueueSizeV2(self._queue_ref, name=name)


def _new_queue(op: Any, types: Any, shapes: Any, capacity: int, shared: Any, **attrs: Any) -> Any:
    if not types:
        raise invalid_argument("Length for attr 'component_types' of 0 must be at least minimum 1")
    with init_scope():
        return op(
            component_types=tuple(types),
            shapes=tuple([s.as_list() if s.rank is not None else None for s in shapes or ()]),
            capacity=capacity,
            shared_name=shared or "",
            **attrs,
        )


@public_methods
class FIFOQueue(QueueBase):
    """A queue that returns elements in the order in which they were added.

    >>> queue = tf.queue.FIFOQueue(10, tf.int32, shapes=[[]])
    >>> queue.enqueue_many([[1, 2, 3]])
    >>> queue.dequeue_many(2).numpy()
    array([1, 2], dtype=int32)
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        types = [as_dtype(t) for t in _listed(dtypes)]
        listed = _shape_list(shapes, len(types))
        ref = _new_queue(raw.FIFOQueueV2, types, listed, capacity, shared_name, name=name)
        super().__init__(types, listed, names, ref, name)


@public_methods
class PaddingFIFOQueue(QueueBase):
    """As FIFOQueue; elements of different shapes are padded with zeros when they are stacked.

    >>> queue = tf.queue.PaddingFIFOQueue(10, tf.int32, shapes=[[None]])
    >>> queue.enqueue([[1, 2]])
    >>> queue.enqueue([[3]])
    >>> queue.dequeue_many(2).numpy()
    array([[1, 2],
           [3, 0]], dtype=int32)
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        types = [as_dtype(t) for t in _listed(dtypes)]
        if not shapes or None in _listed(shapes):
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
        listed = _shape_list(shapes, len(types))
        ref = _new_queue(raw.PaddingFIFOQueueV2, types, listed, capacity, shared_name, name=name)
        super().__init__(types, listed, names, ref, name)


@public_methods
class PriorityQueue(QueueBase):
    """A queue whose elements begin with a priority, int64; the lowest is returned first.

    >>> queue = tf.queue.PriorityQueue(10, tf.string, shapes=[[]])
    >>> queue.enqueue_many(([3, 1], ["late", "soon"]))
    >>> queue.dequeue()[1].numpy()
    b'soon'
    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        others = [as_dtype(t) for t in _listed(types)]
        listed = _shape_list(shapes, len(others))
        ref = _new_queue(raw.PriorityQueueV2, others, listed, capacity, shared_name, name=name)
        listed = None if listed is None else [TensorShape([]), *listed]
        super().__init__([int64, *others], listed, names, ref, name)


@public_methods
class RandomShuffleQueue(QueueBase):
    """A queue that returns a random element; at least `min_after_dequeue` elements remain.

    >>> queue = tf.queue.RandomShuffleQueue(10, 0, tf.int32, shapes=[[]], seed=1)
    >>> queue.enqueue_many([[1, 2, 3]])
    >>> sorted(queue.dequeue_many(3).numpy().tolist())
    [1, 2, 3]
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        types = [as_dtype(t) for t in _listed(dtypes)]
        listed = _shape_list(shapes, len(types))
        first, second = op_seeds(seed)
        ref = _new_queue(
            raw.RandomShuffleQueueV2,
            types,
            listed,
            capacity,
            shared_name,
            min_after_dequeue=min_after_dequeue,
            seed=first,
            seed2=second,
            name=name,
        )
        super().__init__(types, listed, names, ref, name)


__all__ = ["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue"]
