"""The messages that name the processes of a cluster, in the format of `declarations`."""

from __future__ import annotations

from intaglio.graphdef.declarations import declare, message_class

DECLARATIONS = """
message JobDef
  name = 1 string
  tasks = 2 map<int32,string>
message ClusterDef
  job = 1 *JobDef
message ServerDef
  cluster = 1 ClusterDef
  job_name = 2 string
  task_index = 3 int32
  protocol = 5 string
  port = 6 int32
"""

FILE = declare(DECLARATIONS, "intaglio/cluster.proto")

ClusterDef = message_class("ClusterDef")
JobDef = message_class("JobDef")
ServerDef = message_class("ServerDef")
