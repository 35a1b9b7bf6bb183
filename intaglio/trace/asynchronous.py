"""The API of asynchronous execution. Eager ops here are synchronous: done when they return.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/async_scope.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator


@contextlib.contextmanager
def async_scope() -> Generator[None]:
    """A block in which TensorFlow runs ops asynchronously. Here they are synchronous, and so are errors.

    >>> with tf.experimental.async_scope():
    ...     print(tf.constant(1) + 1)
    tf.Tensor(2, shape=(), dtype=int32)
    """
    yield


def async_clear_error() -> None:
    """Clears pending errors of asynchronous ops. There are none.

    >>> tf.experimental.async_clear_error()
    """
