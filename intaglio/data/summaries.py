"""Summaries as ops on a writer's handle: they run in the order of the program."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from intaglio.base.dtypes import NUMERIC, bool_, resource, string
from intaglio.base.errors import DataLossError
from intaglio.data.event_files import EventWriter
from intaglio.graphdef import event_messages
from intaglio.graphdef.declarations import MalformedError, parsed
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec


def _text(array: Any) -> str:
    return os.fsdecode(bytes(np.asarray(array, object)[()]))


class _Writing(Op):
    """Does something with a writer, and has no result."""

    stateful = True
    on_host = True
    differentiable = False

    def infer(self) -> None:
        return None


@op
class SummaryWriter(Op):
    """A writer without a file."""

    signature = "; shared_name: str = '', container: str = '' -> writer: resource"
    stateful = True
    on_host = True
    differentiable = False

    def infer(self) -> Spec:
        return Spec(resource, ())

    def kernel(self):
        return EventWriter()


@op
class CreateSummaryFileWriter(_Writing):
    """Begins the writer's file, in a folder."""

    signature = (
        "writer: resource, logdir: string, max_queue: int32, flush_millis: int32,"
        " filename_suffix: string; -> "
    )
    path_inputs = ("logdir",)

    def kernel(self, writer, logdir, max_queue, flush_millis, filename_suffix):
        writer.open(_text(logdir), int(max_queue), int(flush_millis), _text(filename_suffix))


@op
class WriteSummary(_Writing):
    """Writes a tensor under a tag."""

    signature = (
        "writer: resource, step: int64, tensor: T, tag: string, summary_metadata: string; -> "
    )
    T = (*NUMERIC, bool_, string)

    def kernel(self, writer, step, tensor, tag, summary_metadata):
        writer.add_tensor(_text(tag), tensor, int(step), np.asarray(summary_metadata, object)[()])


@op
class WriteRawProtoSummary(_Writing):
    """Writes the bytes of a Summary message."""

    signature = "writer: resource, step: int64, tensor: string; -> "

    def kernel(self, writer, step, tensor):
        for data in np.asarray(tensor, object).ravel():
            try:
                parsed(event_messages.Summary, data, "the tensor")
            except MalformedError as e:
                raise DataLossError(None, None, str(e)) from None
            writer.add_summary(data, int(step))


@op
class WriteGraphSummary(_Writing):
    """Writes the bytes of a GraphDef message."""

    signature = "writer: resource, step: int64, tensor: string; -> "

    def kernel(self, writer, step, tensor):
        writer.add_graph(np.asarray(tensor, object)[()], int(step))


@op
class FlushSummaryWriter(_Writing):
    """Writes what waits."""

    signature = "writer: resource; -> "

    def kernel(self, writer):
        writer.flush()


@op
class CloseSummaryWriter(_Writing):
    """Writes what waits and ends the file."""

    signature = "writer: resource; -> "

    def kernel(self, writer):
        writer.close()
