"""Input pipelines of queues, as programs had them before `tf.data`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/shuffle_batch and its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import later
from intaglio.base.dtypes import float32, int64, string
from intaglio.base.shapes import TensorShape
from intaglio.compat_v1 import summaries
from intaglio.compat_v1.queue_runners import QueueRunner, add_queue_runner
from intaglio.compat_v1.variable_scopes import GraphKeys, VariableV1
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.sparse.tensor import SparseTensor
from intaglio.state.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from intaglio.trace import choices, scopes


def _refuse_eager() -> None:
    if scopes.executing_eagerly():
        raise ValueError(
            "Input pipelines based on Queues are not supported when eager execution is enabled. Please use tf.data to ingest "
            "data into your model instead."
        )


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """The tensor, which gives an OutOfRangeError after `num_epochs` runs. It counts in a local variable.

    Raises ValueError for a number that is not above zero.
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with scopes.name_scope(name or "limit_epochs") as scope:
        epochs = VariableV1(
            convert.to_tensor(0, int64),
            name="epochs",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        with scopes.control_dependencies([epochs.count_up_to(num_epochs)]):
            return raw.Identity(convert.to_tensor(tensor), name=scope)


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> QueueBase:
    """A queue of the rows of a tensor, again and again, or `num_epochs` times.

    Raises ValueError eagerly and for elements of an unknown shape.
    """
    _refuse_eager()
    with scopes.name_scope(name or "input_producer") as scope:
        rows = convert.to_tensor(input_tensor, name="input_tensor")
        shape = rows.shape[1:].merge_with(TensorShape(element_shape))
        if not shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be specified"
            )
        if shuffle:
            rows = later.named("intaglio.tf:random.shuffle")(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        types = [rows.dtype.base_dtype]
        queue = FIFOQueue(capacity, types, [shape], shared_name=shared_name, name=scope)
        _filled(queue, [queue.enqueue_many([rows])], cancel_op)
        if summary_name is not None:
            _fullness(queue, summary_name, capacity)
        return queue


def _filled(queue: QueueBase, operations: list[Any], cancel_op: Any = None) -> None:
    add_queue_runner(QueueRunner(queue, operations, cancel_op=cancel_op))


def _fullness(queue: QueueBase, name: str, capacity: int) -> None:
    size = raw.Cast(queue.size(), DstT=float32)
    summaries.scalar(name, size * convert.to_tensor(1.0 / capacity, float32))


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> QueueBase:
    """A queue of texts, as of file names. Raises ValueError for none, or running it InvalidArgumentError."""
    _refuse_eager()
    none = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor) and not len(string_tensor):
        raise ValueError(none)
    with scopes.name_scope(name or "input_producer") as scope:
        texts = convert.to_tensor(string_tensor, string)
        check = raw.Assert(raw.Greater(raw.Size(texts), 0), [none])
        with scopes.control_dependencies([check]):
            texts = raw.Identity(texts)
        return input_producer(
            texts,
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            scope,
            cancel_op,
        )


def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue of the integers below `limit`."""
    _refuse_eager()
    with scopes.name_scope(name or "input_producer") as scope:
        return input_producer(
            raw.Range(0, convert.to_tensor(limit), 1),
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            scope,
        )


def slice_input_producer(
    tensor_list: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Any]:
    """One row of each tensor: those of one number. Raises ValueError without tensors."""
    _refuse_eager()
    with scopes.name_scope(name or "input_producer"):
        tensors = [convert.to_tensor(t) for t in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        count = raw.Shape(tensors[0])[0]
        queue = range_input_producer(count, num_epochs, shuffle, seed, capacity, shared_name)
        index = queue.dequeue()
        return [raw.GatherV2(t, index, 0) for t in tensors]


class _Elements:
    """What batches are made of: tensors in a list or dict, of one place or several."""

    def __init__(self, sources: Sequence[Any], enqueue_many: bool, shapes: Any) -> None:
        if not sources:
            raise ValueError("Expected at least one tensor in batch().")
        self.names = sorted(sources[0]) if isinstance(sources[0], dict) else None
        self.tensors = [self._listed(s) for s in sources]
        first = self.tensors[0]
        if not first:
            raise ValueError("Expected at least one tensor in batch().")
        if any([len(t) != len(first) for t in self.tensors]):
            raise ValueError("All entries of tensors_list must have the same number of tensors.")
        self.types = [t.dtype.base_dtype for t in first]
        self.many = enqueue_many
        self.shapes = [TensorShape(s) for s in shapes] if shapes else self._common()

    def _listed(self, source: Any) -> list[Any]:
        values = list(source) if self.names is None else [source[n] for n in self.names]
        if any(isinstance(v, SparseTensor) for v in values):
            raise NotImplementedError("batches of sparse tensors by queues: use tf.data")
        return [convert.to_tensor(v) for v in values]

    def _common(self) -> list[TensorShape]:
        """The shapes of the elements, as far as they are the same everywhere."""
        found = list[TensorShape]()
        for column in zip(*self.tensors, strict=True):
            inner = [t.shape.with_rank_at_least(1)[1:] if self.many else t.shape for t in column]
            shape = inner[0]
            for other in inner[1:]:
                shape = shape.most_specific_compatible_shape(other)
            found.append(shape)
        return found

    def put(self, queue: QueueBase, source: int, keep: Any) -> Any:
        """The operation that puts the tensors of one source in."""
        tensors = self.tensors[source]
        if keep is not None and keep.shape.rank == 1:
            rows = raw.Reshape(raw.Where(keep), [-1])
            return queue.enqueue_many([raw.GatherV2(t, rows, 0) for t in tensors])
        many = queue.enqueue_many if self.many else queue.enqueue
        if keep is None:
            return many(tensors)

        def kept() -> Any:
            with scopes.control_dependencies([many(tensors)]):
                return raw.Identity(True)

        return choices.cond(keep, kept, lambda: raw.Identity(False), None).op

    def taken(self, found: Any) -> Any:
        """What a queue gave, in the form of the tensors that went in."""
        if self.names is None:
            return found
        values = [found] if len(self.names) == 1 else found
        return dict(zip(self.names, values, strict=True))


def _batched(
    sources: Sequence[Any],
    batch_size: Any,
    make: Callable[[_Elements], QueueBase],
    *,
    capacity: int,
    threads: int,
    enqueue_many: bool,
    shapes: Any,
    smaller: bool,
    scope: str,
    keep_input: Any = True,
    kept: int = 0,
) -> Any:
    elements = _Elements(sources, enqueue_many, shapes)
    keep = None if keep_input is True else convert.to_tensor(keep_input)
    if keep is not None and keep.shape.rank == 1 and not enqueue_many:
        raise ValueError("keep_input cannot be a vector when not enqueueing many.")
    queue = make(elements)
    numbers = [n for n in range(len(sources)) for _ in range(threads)]
    _filled(queue, [elements.put(queue, n, keep) for n in numbers])
    if kept:
        free = raw.Maximum(0.0, raw.Cast(queue.size() - kept, DstT=float32))
        name = f"fraction_over_{kept}_of_{capacity - kept}_full"
        summaries.scalar(name, free * convert.to_tensor(1.0 / (capacity - kept), float32))
    else:
        _fullness(queue, f"fraction_of_{capacity}_full", capacity)
    take = queue.dequeue_up_to if smaller else queue.dequeue_many
    return elements.taken(take(batch_size, name=scope))


def _plain(capacity: int, dynamic_pad: bool, shared_name: str | None) -> Callable[..., QueueBase]:
    kind: Any = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    return lambda e: kind(capacity, e.types, e.shapes, shared_name=shared_name)


def _shuffled(
    capacity: int, kept: int, seed: int | None, shared_name: str | None
) -> Callable[..., QueueBase]:
    return lambda e: RandomShuffleQueue(
        capacity, kept, e.types, e.shapes, seed=seed, shared_name=shared_name
    )


def batch(
    tensors: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of tensors, which threads put into a queue; a list or dict as they are.

    With `enqueue_many` the tensors are batches already. Raises ValueError eagerly.
    """
    return maybe_batch(
        tensors,
        True,
        batch_size,
        num_threads,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_batch(
    tensors: Any,
    keep_input: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `batch`, of the tensors for which `keep_input` is true; with `enqueue_many` it may be a vector."""
    _refuse_eager()
    with scopes.name_scope(name or "batch") as scope:
        return _batched(
            [tensors],
            batch_size,
            _plain(capacity, dynamic_pad, shared_name),
            capacity=capacity,
            threads=num_threads,
            enqueue_many=enqueue_many,
            shapes=shapes,
            smaller=allow_smaller_final_batch,
            scope=scope,
            keep_input=keep_input,
        )


def batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of tensors of several sources, with a thread for each."""
    return maybe_batch_join(
        tensors_list,
        True,
        batch_size,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_batch_join(
    tensors_list: Any,
    keep_input: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `batch_join`, of the tensors for which `keep_input` is true."""
    _refuse_eager()
    with scopes.name_scope(name or "batch_join") as scope:
        return _batched(
            list(tensors_list),
            batch_size,
            _plain(capacity, dynamic_pad, shared_name),
            capacity=capacity,
            threads=1,
            enqueue_many=enqueue_many,
            shapes=shapes,
            smaller=allow_smaller_final_batch,
            scope=scope,
            keep_input=keep_input,
        )


def shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `batch`, in random order: `min_after_dequeue` elements stay in the queue to choose from."""
    return maybe_shuffle_batch(
        tensors,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        num_threads,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `shuffle_batch`, of the tensors for which `keep_input` is true."""
    _refuse_eager()
    with scopes.name_scope(name or "shuffle_batch") as scope:
        return _batched(
            [tensors],
            batch_size,
            _shuffled(capacity, min_after_dequeue, seed, shared_name),
            capacity=capacity,
            threads=num_threads,
            enqueue_many=enqueue_many,
            shapes=shapes,
            smaller=allow_smaller_final_batch,
            scope=scope,
            keep_input=keep_input,
            kept=min_after_dequeue,
        )


def shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `batch_join`, in random order."""
    return maybe_shuffle_batch_join(
        tensors_list,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `shuffle_batch_join`, of the tensors for which `keep_input` is true."""
    _refuse_eager()
    with scopes.name_scope(name or "shuffle_batch_join") as scope:
        return _batched(
            list(tensors_list),
            batch_size,
            _shuffled(capacity, min_after_dequeue, seed, shared_name),
            capacity=capacity,
            threads=1,
            enqueue_many=enqueue_many,
            shapes=shapes,
            smaller=allow_smaller_final_batch,
            scope=scope,
            keep_input=keep_input,
            kept=min_after_dequeue,
        )
