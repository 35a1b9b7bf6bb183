"""The messages of event files, which TensorBoard reads, in the format of `declarations`."""

from __future__ import annotations

from intaglio.graphdef import messages
from intaglio.graphdef.declarations import declare, message_class

DECLARATIONS = """
enum DataClass
  DATA_CLASS_UNKNOWN = 0
  DATA_CLASS_SCALAR = 1
  DATA_CLASS_TENSOR = 2
  DATA_CLASS_BLOB_SEQUENCE = 3
message SummaryMetadata
  plugin_data = 1 SummaryMetadata.PluginData
  display_name = 2 string
  summary_description = 3 string
  data_class = 4 DataClass
message SummaryMetadata.PluginData
  plugin_name = 1 string
  content = 2 bytes
message Summary
  value = 1 *Summary.Value
message Summary.Value
  tag = 1 string
  simple_value = 2 float |value
  tensor = 8 TensorProto |value
  metadata = 9 SummaryMetadata
  node_name = 7 string
message SourceMetadata
  writer = 1 string
message Event
  wall_time = 1 double
  step = 2 int64
  file_version = 3 string |what
  graph_def = 4 bytes |what
  summary = 5 Summary |what
  source_metadata = 10 SourceMetadata
message RunMetadata
  partition_graphs = 3 *GraphDef
  function_graphs = 4 *RunMetadata.FunctionGraphs
message RunMetadata.FunctionGraphs
  partition_graphs = 1 *GraphDef
  pre_optimization_graph = 2 GraphDef
  post_optimization_graph = 3 GraphDef
"""

assert messages  # its declarations come first
FILE = declare(DECLARATIONS, "intaglio/event.proto")

Event = message_class("Event")
RunMetadata = message_class("RunMetadata")
Summary = message_class("Summary")
SummaryMetadata = message_class("SummaryMetadata")
