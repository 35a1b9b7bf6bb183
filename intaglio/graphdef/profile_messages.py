"""The messages of profiles, `xplane.pb`, which TensorBoard's profiler reads, in the format of `declarations`.

Field numbers are those of the published `tsl/profiler/protobuf/xplane.proto`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from intaglio.graphdef.declarations import declare, message_class

DECLARATIONS = """
message XSpace
  planes = 1 *XPlane
  errors = 2 *string
  warnings = 3 *string
  hostnames = 4 *string
message XPlane
  id = 1 int64
  name = 2 string
  lines = 3 *XLine
  event_metadata = 4 map<int64,XEventMetadata>
  stat_metadata = 5 map<int64,XStatMetadata>
  stats = 6 *XStat
message XLine
  id = 1 int64
  display_id = 10 int64
  name = 2 string
  display_name = 11 string
  timestamp_ns = 3 int64
  duration_ps = 9 int64
  events = 4 *XEvent
message XEvent
  metadata_id = 1 int64
  offset_ps = 2 int64 |data
  num_occurrences = 5 int64 |data
  duration_ps = 3 int64
  stats = 4 *XStat
message XStat
  metadata_id = 1 int64
  double_value = 2 double |value
  uint64_value = 3 uint64 |value
  int64_value = 4 int64 |value
  str_value = 5 string |value
  bytes_value = 6 bytes |value
  ref_value = 7 uint64 |value
message XEventMetadata
  id = 1 int64
  name = 2 string
  metadata = 3 bytes
  display_name = 4 string
  stats = 5 *XStat
  child_id = 6 *int64
message XStatMetadata
  id = 1 int64
  name = 2 string
  description = 3 string
"""
declare(DECLARATIONS, "intaglio/xplane.proto")

XSpace = message_class("XSpace")
PICOSECONDS = 1000  # in a nanosecond
# The plane that TensorBoard's profiler takes for the host's threads.
HOST_PLANE = "/host:CPU"


class Event(NamedTuple):
    """Something that took time: its name, the line of a program it belongs to, nanoseconds."""

    name: str
    line: str
    begin: int
    end: int


class ThreadEvents(NamedTuple):
    """The events of a thread, in order of their begin, outer ones before inner ones."""

    ident: int
    name: str
    events: Sequence[Event]


def space_of(host: str, begin: int, threads: Sequence[ThreadEvents]) -> bytes:
    """The events as a serialized XSpace; `begin` is the nanosecond, since 1970, that is their 0."""
    space = XSpace(hostnames=[host])
    plane = space.planes.add(id=1, name=HOST_PLANE)
    plane.stat_metadata[1].id, plane.stat_metadata[1].name = 1, "source"
    known: dict[str, int] = {}
    for thread in threads:
        line = plane.lines.add(id=thread.ident, name=thread.name, timestamp_ns=begin)
        for event in thread.events:
            number = known.setdefault(event.name, len(known) + 1)
            added = line.events.add(
                metadata_id=number,
                offset_ps=event.begin * PICOSECONDS,
                duration_ps=(event.end - event.begin) * PICOSECONDS,
            )
            if event.line:
                added.stats.add(metadata_id=1, str_value=event.line)
    for name, number in known.items():
        plane.event_metadata[number].id, plane.event_metadata[number].name = number, name
    return space.SerializeToString()
