"""Queues of tensors, which a graph and several threads can share: `tf.queue`.

Follows https://www.tensorflow.org/api_docs/python/tf/queue.
"""

from intaglio.state.queues import (
    FIFOQueue,
    PaddingFIFOQueue,
    PriorityQueue,
    QueueBase,
    RandomShuffleQueue,
)

__all__ = ["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue"]
