"""Summaries for TensorBoard: `tf.summary`.

Follows https://www.tensorflow.org/api_docs/python/tf/summary. Summaries go to the thread's
default writer; without one they are not computed.
"""

from intaglio.summaries.kinds import audio, histogram, image, scalar, text
from intaglio.summaries.traces import trace_export, trace_off, trace_on
from intaglio.summaries.writers import (
    SummaryWriter,
    create_file_writer,
    create_noop_writer,
    flush,
    graph,
    record_if,
    should_record_summaries,
    write,
)
from intaglio.tf.summary import experimental

__all__ = [
    "SummaryWriter",
    "audio",
    "create_file_writer",
    "create_noop_writer",
    "experimental",
    "flush",
    "graph",
    "histogram",
    "image",
    "record_if",
    "scalar",
    "should_record_summaries",
    "text",
    "trace_export",
    "trace_off",
    "trace_on",
    "write",
]
