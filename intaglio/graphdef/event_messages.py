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
message SummaryDescription
  type_hint = 1 string
message HistogramProto
  min = 1 double
  max = 2 double
  num = 3 double
  sum = 4 double
  sum_squares = 5 double
  bucket_limit = 6 *double
  bucket = 7 *double
message Summary
  value = 1 *Summary.Value
message Summary.Image
  height = 1 int32
  width = 2 int32
  colorspace = 3 int32
  encoded_image_string = 4 bytes
message Summary.Audio
  sample_rate = 1 float
  num_channels = 2 int64
  length_frames = 3 int64
  encoded_audio_string = 4 bytes
  content_type = 5 string
message Summary.Value
  tag = 1 string
  simple_value = 2 float |value
  image = 4 Summary.Image |value
  histo = 5 HistogramProto |value
  audio = 6 Summary.Audio |value
  tensor = 8 TensorProto |value
  metadata = 9 SummaryMetadata
  node_name = 7 string
message SourceMetadata
  writer = 1 string
message LogMessage
  level = 1 LogMessage.Level
  message = 2 string
enum LogMessage.Level
  UNKNOWN = 0
  DEBUGGING = 10
  INFO = 20
  WARN = 30
  ERROR = 40
  FATAL = 50
message SessionLog
  status = 1 SessionLog.SessionStatus
  checkpoint_path = 2 string
  msg = 3 string
enum SessionLog.SessionStatus
  STATUS_UNSPECIFIED = 0
  START = 1
  STOP = 2
  CHECKPOINT = 3
message TaggedRunMetadata
  tag = 1 string
  run_metadata = 2 bytes
message Event
  wall_time = 1 double
  step = 2 int64
  file_version = 3 string |what
  graph_def = 4 bytes |what
  summary = 5 Summary |what
  log_message = 6 LogMessage |what
  session_log = 7 SessionLog |what
  tagged_run_metadata = 8 TaggedRunMetadata |what
  meta_graph_def = 9 bytes |what
  source_metadata = 10 SourceMetadata
message AllocationDescription
  requested_bytes = 1 int64
  allocated_bytes = 2 int64
  allocator_name = 3 string
  allocation_id = 4 int64
  has_single_reference = 5 bool
  ptr = 6 uint64
message TensorDescription
  dtype = 1 DataType
  shape = 2 TensorShapeProto
  allocation_description = 4 AllocationDescription
message NodeOutput
  slot = 1 int32
  tensor_description = 3 TensorDescription
message AllocatorMemoryUsed
  allocator_name = 1 string
  total_bytes = 2 int64
  peak_bytes = 3 int64
  live_bytes = 4 int64
  allocator_bytes_in_use = 5 int64
message NodeExecStats
  node_name = 1 string
  all_start_micros = 2 int64
  op_start_rel_micros = 3 int64
  op_end_rel_micros = 4 int64
  all_end_rel_micros = 5 int64
  memory = 6 *AllocatorMemoryUsed
  output = 7 *NodeOutput
  timeline_label = 8 string
  scheduled_micros = 9 int64
  thread_id = 10 uint32
  referenced_tensor = 11 *AllocationDescription
  all_start_nanos = 13 int64
  op_start_rel_nanos = 14 int64
  op_end_rel_nanos = 15 int64
  all_end_rel_nanos = 16 int64
  scheduled_nanos = 17 int64
message DeviceStepStats
  device = 1 string
  node_stats = 2 *NodeExecStats
message StepStats
  dev_stats = 1 *DeviceStepStats
message RunMetadata
  step_stats = 1 StepStats
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
HistogramProto = message_class("HistogramProto")
LogMessage = message_class("LogMessage")
RunMetadata = message_class("RunMetadata")
SessionLog = message_class("SessionLog")
Summary = message_class("Summary")
SummaryDescription = message_class("SummaryDescription")
SummaryMetadata = message_class("SummaryMetadata")
TaggedRunMetadata = message_class("TaggedRunMetadata")
