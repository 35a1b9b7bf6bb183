"""Asynchronous execution as programs ask for it: ops here are done when they return.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/async_scope.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator


@contextlib.contextmanager
def async_scope() -> Generator[None]:
    """A block whose ops may still run when Python goes on. They are done here, and so are errors.

    >>> with tf.experimental.async_scope():
    ...     print(tf.constant(1) + 1)
    tf.Tensor(2, shape=(), dtype=int32)
    """
    yield


def async_clear_error() -> None:
    """Forgets errors of ops that have not been reported. There are none.

    >>> tf.experimental.async_clear_error()
    """
