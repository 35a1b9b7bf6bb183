"""`tf.version`: the TensorFlow whose behaviour is followed.

Follows https://www.tensorflow.org/api_docs/python/tf/version. The version of this package
itself is `intaglio.__version__`.
"""

VERSION = "2.21.0"
GIT_VERSION = "intaglio"
COMPILER_VERSION = "none"
GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0

__all__ = [
    "COMPILER_VERSION",
    "GIT_VERSION",
    "GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER",
    "VERSION",
]
