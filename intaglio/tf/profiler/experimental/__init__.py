"""Times of named blocks, for TensorBoard's trace viewer: `tf.profiler.experimental`.

Follows https://www.tensorflow.org/api_docs/python/tf/profiler/experimental. What a profile
holds are the blocks of `Trace`; single ops are not timed.
"""

from intaglio.runtime.profile_recording import Profile, ProfilerOptions, Trace, start, stop
from intaglio.tf.profiler.experimental import client, server

__all__ = ["Profile", "ProfilerOptions", "Trace", "client", "server", "start", "stop"]
