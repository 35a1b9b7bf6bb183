"""`tf.types.experimental.distributed`: what the values of several replicas are, for `isinstance`.

With one replica values are themselves.

Follows https://www.tensorflow.org/api_docs/python/tf/types/experimental/distributed.

>>> strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
>>> result = strategy.run(lambda: tf.constant(1.0))
>>> isinstance(result, tf.types.experimental.distributed.PerReplica)
False
"""

from __future__ import annotations

from intaglio.distribute.values import Mirrored, PerReplica

__all__ = ["Mirrored", "PerReplica"]
