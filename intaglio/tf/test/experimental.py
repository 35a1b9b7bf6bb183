"""`tf.test.experimental`: waiting for devices.

Follows https://www.tensorflow.org/api_docs/python/tf/test/experimental.
"""

from __future__ import annotations


def sync_devices() -> None:
    """Returns when all ops have been done; they are, because they run on the host, in order.

    >>> tf.test.experimental.sync_devices()
    """


__all__ = ["sync_devices"]
