"""Profiles: `tf.profiler`.

Follows https://www.tensorflow.org/api_docs/python/tf/profiler.
"""

from intaglio.tf.profiler import experimental

__all__ = ["experimental"]
