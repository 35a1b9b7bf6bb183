"""The messages by which TensorFlow 1's sessions are configured, in the format of `declarations`.

Programs build and pass them. `tf.compat.v1.Session` accepts them; of its own it reads CallableOptions only.
"""

from __future__ import annotations

from intaglio.graphdef import event_messages
from intaglio.graphdef.declarations import declare, message_class

DECLARATIONS = """
message AutoParallelOptions
  enable = 1 bool
  num_replicas = 2 int32
message ScopedAllocatorOptions
  enable_op = 1 *string
message RewriterConfig
  cpu_layout_conversion = 50 RewriterConfig.CpuLayout
  layout_optimizer = 1 RewriterConfig.Toggle
  constant_folding = 3 RewriterConfig.Toggle
  shape_optimization = 13 RewriterConfig.Toggle
  remapping = 14 RewriterConfig.Toggle
  common_subgraph_elimination = 24 RewriterConfig.Toggle
  arithmetic_optimization = 7 RewriterConfig.Toggle
  dependency_optimization = 8 RewriterConfig.Toggle
  loop_optimization = 9 RewriterConfig.Toggle
  function_optimization = 10 RewriterConfig.Toggle
  debug_stripper = 11 RewriterConfig.Toggle
  disable_model_pruning = 2 bool
  scoped_allocator_optimization = 15 RewriterConfig.Toggle
  pin_to_host_optimization = 18 RewriterConfig.Toggle
  implementation_selector = 22 RewriterConfig.Toggle
  auto_mixed_precision = 23 RewriterConfig.Toggle
  auto_mixed_precision_mkl = 25 RewriterConfig.Toggle
  auto_mixed_precision_onednn_bfloat16 = 31 RewriterConfig.Toggle
  auto_mixed_precision_cpu = 29 RewriterConfig.Toggle
  disable_meta_optimizer = 19 bool
  disable_tfg_optimizer = 32 bool
  use_plugin_optimizers = 28 RewriterConfig.Toggle
  experimental_conditional_code_motion = 30 RewriterConfig.Toggle
  meta_optimizer_iterations = 12 RewriterConfig.NumIterationsType
  min_graph_nodes = 17 int32
  experimental_disable_compressed_tensor_optimization = 26 bool
  experimental_disable_folding_quantization_emulation = 27 bool
  memory_optimization = 4 RewriterConfig.MemOptType
  memory_optimizer_target_node_name_scope = 6 string
  meta_optimizer_timeout_ms = 20 int64
  auto_parallel = 5 AutoParallelOptions
  fail_on_optimizer_errors = 21 bool
  scoped_allocator_opts = 16 ScopedAllocatorOptions
  optimizers = 100 *string
  custom_optimizers = 200 *RewriterConfig.CustomGraphOptimizer
enum RewriterConfig.Toggle
  DEFAULT = 0
  ON = 1
  OFF = 2
  AGGRESSIVE = 3
  EXPERIMENTAL_MLIR = 4
  EXPERIMENTAL_BOTH = 5
enum RewriterConfig.CpuLayout
  NO_CONVERSION_ON_CPU = 0
  NCHW_TO_NHWC = 1
  NHWC_TO_NCHW = 2
enum RewriterConfig.NumIterationsType
  DEFAULT_NUM_ITERS = 0
  ONE = 1
  TWO = 2
enum RewriterConfig.MemOptType
  DEFAULT_MEM_OPT = 0
  NO_MEM_OPT = 1
  MANUAL = 2
  SWAPPING_HEURISTICS = 4
  RECOMPUTATION_HEURISTICS = 5
  SCHEDULING_HEURISTICS = 6
  HEURISTICS = 3
message RewriterConfig.CustomGraphOptimizer
  name = 1 string
message OptimizerOptions
  do_common_subexpression_elimination = 1 bool
  do_constant_folding = 2 bool
  max_folded_constant_in_bytes = 6 int64
  do_function_inlining = 4 bool
  opt_level = 3 OptimizerOptions.Level
  global_jit_level = 5 OptimizerOptions.GlobalJitLevel
  cpu_global_jit = 7 bool
enum OptimizerOptions.Level
  L1 = 0
  L0 = -1
enum OptimizerOptions.GlobalJitLevel
  DEFAULT = 0
  OFF = -1
  ON_1 = 1
  ON_2 = 2
message ThreadPoolOptionProto
  num_threads = 1 int32
  global_name = 2 string
message GraphOptions
  enable_recv_scheduling = 2 bool
  optimizer_options = 3 OptimizerOptions
  build_cost_model = 4 int64
  build_cost_model_after = 9 int64
  infer_shapes = 5 bool
  place_pruned_graph = 6 bool
  enable_bfloat16_sendrecv = 7 bool
  timeline_step = 8 int32
  rewrite_options = 10 RewriterConfig
message GPUOptions
  per_process_gpu_memory_fraction = 1 double
  allow_growth = 4 bool
  allocator_type = 2 string
  deferred_deletion_bytes = 3 int64
  visible_device_list = 5 string
  polling_active_delay_usecs = 6 int32
  polling_inactive_delay_msecs = 7 int32
  force_gpu_compatible = 8 bool
message ConfigProto
  device_count = 1 map<string,int32>
  intra_op_parallelism_threads = 2 int32
  inter_op_parallelism_threads = 5 int32
  use_per_session_threads = 9 bool
  session_inter_op_thread_pool = 12 *ThreadPoolOptionProto
  placement_period = 3 int32
  device_filters = 4 *string
  gpu_options = 6 GPUOptions
  allow_soft_placement = 7 bool
  log_device_placement = 8 bool
  graph_options = 10 GraphOptions
  operation_timeout_in_ms = 11 int64
  isolate_session_state = 15 bool
  share_cluster_devices_in_session = 17 bool
message RunOptions
  trace_level = 1 RunOptions.TraceLevel
  timeout_in_ms = 2 int64
  inter_op_thread_pool = 3 int32
  output_partition_graphs = 5 bool
  report_tensor_allocations_upon_oom = 7 bool
enum RunOptions.TraceLevel
  NO_TRACE = 0
  SOFTWARE_TRACE = 1
  HARDWARE_TRACE = 2
  FULL_TRACE = 3
message CallableOptions
  feed = 1 *string
  fetch = 2 *string
  target = 3 *string
  run_options = 4 RunOptions
  tensor_connection = 5 *TensorConnection
  feed_devices = 6 map<string,string>
  fetch_devices = 7 map<string,string>
  fetch_skip_sync = 8 bool
message TensorConnection
  from_tensor = 1 string
  to_tensor = 2 string
"""

assert event_messages  # its declarations come first
FILE = declare(DECLARATIONS, "intaglio/config.proto")

CallableOptions = message_class("CallableOptions")
ConfigProto = message_class("ConfigProto")
GPUOptions = message_class("GPUOptions")
GraphOptions = message_class("GraphOptions")
OptimizerOptions = message_class("OptimizerOptions")
RunOptions = message_class("RunOptions")
