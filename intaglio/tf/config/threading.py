"""`tf.config.threading`: how many threads the runtime may use.

Follows https://www.tensorflow.org/api_docs/python/tf/config/threading.
"""

from __future__ import annotations

from intaglio.base.options import OPTIONS


def get_inter_op_parallelism_threads() -> int:
    """Threads that run independent ops; 0 leaves it to the runtime.

    >>> tf.config.threading.get_inter_op_parallelism_threads()
    0
    """
    return OPTIONS.threads_inter


def get_intra_op_parallelism_threads() -> int:
    """Threads within one op; 0 leaves it to the runtime.

    >>> tf.config.threading.get_intra_op_parallelism_threads()
    0
    """
    return OPTIONS.threads_intra


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Sets the threads that run independent ops.

    >>> tf.config.threading.set_inter_op_parallelism_threads(2)
    >>> tf.config.threading.get_inter_op_parallelism_threads()
    2
    >>> tf.config.threading.set_inter_op_parallelism_threads(0)
    """
    OPTIONS.threads_inter = int(num_threads)


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets the threads within one op.

    >>> tf.config.threading.set_intra_op_parallelism_threads(2)
    >>> tf.config.threading.get_intra_op_parallelism_threads()
    2
    >>> tf.config.threading.set_intra_op_parallelism_threads(0)
    """
    OPTIONS.threads_intra = int(num_threads)


__all__ = [
    "get_inter_op_parallelism_threads",
    "get_intra_op_parallelism_threads",
    "set_inter_op_parallelism_threads",
    "set_intra_op_parallelism_threads",
]
