"""`tf.data`: datasets, their stages as ops, iterators. Everything here runs on arrays."""

from intaglio.data import (
    batching,
    files,
    functional,
    iterators,
    rearranging,
    seeds,
    sources,
)

__all__ = [
    "batching",
    "files",
    "functional",
    "iterators",
    "rearranging",
    "seeds",
    "sources",
]
