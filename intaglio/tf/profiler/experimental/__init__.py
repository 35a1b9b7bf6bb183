"""Times of named blocks, for TensorBoard's trace viewer: `tf.profiler.experimental`.

Follows https://www.tensorflow.org/api_docs/python/tf/profiler/experimental. What a profile
holds are the blocks of `Trace`; single ops are not timed.
"""

from intaglio.tf.profiler.experimental import client, server
from intaglio.tf.profiler.experimental.recording import Profile, ProfilerOptions, Trace, start, stop

__all__ = ["Profile", "ProfilerOptions", "Trace", "client", "server", "start", "stop"]
