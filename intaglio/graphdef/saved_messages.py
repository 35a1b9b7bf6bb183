"""The messages of saved models and checkpoints, in the format of `declarations`.

Names and field numbers are those of TensorFlow's published `.proto` files. `AnyValue` and
`BoolValue` are protobuf's own wrappers of the same form.
"""

from __future__ import annotations

from intaglio.graphdef import messages
from intaglio.graphdef.declarations import declare, message_class

DECLARATIONS = """
message AnyValue
  type_url = 1 string
  value = 2 bytes
message BoolValue
  value = 1 bool
message OpList
  op = 1 *OpDef
message TensorSliceProto
  extent = 1 *TensorSliceProto.Extent
message TensorSliceProto.Extent
  start = 1 int64
  length = 2 int64 |has_length
message SavedModel
  saved_model_schema_version = 1 int64
  meta_graphs = 2 *MetaGraphDef
message MetaGraphDef
  meta_info_def = 1 MetaGraphDef.MetaInfoDef
  graph_def = 2 GraphDef
  saver_def = 3 SaverDef
  collection_def = 4 map<string,CollectionDef>
  signature_def = 5 map<string,SignatureDef>
  asset_file_def = 6 *AssetFileDef
  object_graph_def = 7 SavedObjectGraph
message MetaGraphDef.MetaInfoDef
  meta_graph_version = 1 string
  stripped_op_list = 2 OpList
  any_info = 3 AnyValue
  tags = 4 *string
  tensorflow_version = 5 string
  tensorflow_git_version = 6 string
  stripped_default_attrs = 7 bool
  function_aliases = 8 map<string,string>
message CollectionDef
  node_list = 1 CollectionDef.NodeList |kind
  bytes_list = 2 CollectionDef.BytesList |kind
  int64_list = 3 CollectionDef.Int64List |kind
  float_list = 4 CollectionDef.FloatList |kind
  any_list = 5 CollectionDef.AnyList |kind
message CollectionDef.NodeList
  value = 1 *string
message CollectionDef.BytesList
  value = 1 *bytes
message CollectionDef.Int64List
  value = 1 *int64
message CollectionDef.FloatList
  value = 1 *float
message CollectionDef.AnyList
  value = 1 *AnyValue
message TensorInfo
  name = 1 string |encoding
  coo_sparse = 4 TensorInfo.CooSparse |encoding
  composite_tensor = 5 TensorInfo.CompositeTensor |encoding
  dtype = 2 DataType
  tensor_shape = 3 TensorShapeProto
message TensorInfo.CooSparse
  values_tensor_name = 1 string
  indices_tensor_name = 2 string
  dense_shape_tensor_name = 3 string
message TensorInfo.CompositeTensor
  type_spec = 1 TypeSpecProto
  components = 2 *TensorInfo
message SignatureDef
  inputs = 1 map<string,TensorInfo>
  outputs = 2 map<string,TensorInfo>
  method_name = 3 string
  defaults = 4 map<string,TensorProto>
message AssetFileDef
  tensor_info = 1 TensorInfo
  filename = 2 string
message SavedObjectGraph
  nodes = 1 *SavedObject
  concrete_functions = 2 map<string,SavedConcreteFunction>
message SavedObject
  children = 1 *TrackableObjectGraph.TrackableObject.ObjectReference
  dependencies = 15 *TrackableObjectGraph.TrackableObject.ObjectReference
  slot_variables = 3 *TrackableObjectGraph.TrackableObject.SlotVariableReference
  user_object = 4 SavedUserObject |kind
  asset = 5 SavedAsset |kind
  function = 6 SavedFunction |kind
  variable = 7 SavedVariable |kind
  bare_concrete_function = 8 SavedBareConcreteFunction |kind
  constant = 9 SavedConstant |kind
  resource = 10 SavedResource |kind
  captured_tensor = 12 CapturedTensor |kind
  saveable_objects = 11 map<string,SaveableObject>
  registered_name = 13 string
  serialized_user_proto = 14 AnyValue
  registered_saver = 16 string
message SavedUserObject
  identifier = 1 string
  version = 2 VersionDef
  metadata = 3 string
message SavedAsset
  asset_file_def_index = 1 int32
message SavedFunction
  concrete_functions = 1 *string
  function_spec = 2 FunctionSpec
message CapturedTensor
  name = 1 string
  concrete_function = 2 string
message SavedConcreteFunction
  bound_inputs = 2 *int32
  canonicalized_input_signature = 3 StructuredValue
  output_signature = 4 StructuredValue
message SavedBareConcreteFunction
  concrete_function_name = 1 string
  argument_keywords = 2 *string
  allowed_positional_arguments = 3 int64
  function_spec = 4 FunctionSpec
message SavedConstant
  operation = 1 string
message SavedVariable
  dtype = 1 DataType
  shape = 2 TensorShapeProto
  trainable = 3 bool
  synchronization = 4 VariableSynchronization
  aggregation = 5 VariableAggregation
  name = 6 string
  device = 7 string
  experimental_distributed_variable_components = 8 *SavedVariable
message FunctionSpec
  fullargspec = 1 StructuredValue
  is_method = 2 bool
  input_signature = 5 StructuredValue
  jit_compile = 6 FunctionSpec.JitCompile
enum FunctionSpec.JitCompile
  DEFAULT = 0
  ON = 1
  OFF = 2
message SavedResource
  device = 1 string
message SaveableObject
  save_function = 2 int32
  restore_function = 3 int32
message StructuredValue
  none_value = 1 NoneValue |kind
  float64_value = 11 double |kind
  int64_value = 12 sint64 |kind
  string_value = 13 string |kind
  bool_value = 14 bool |kind
  tensor_shape_value = 31 TensorShapeProto |kind
  tensor_dtype_value = 32 DataType |kind
  tensor_spec_value = 33 TensorSpecProto |kind
  type_spec_value = 34 TypeSpecProto |kind
  bounded_tensor_spec_value = 35 BoundedTensorSpecProto |kind
  list_value = 51 ListValue |kind
  tuple_value = 52 TupleValue |kind
  dict_value = 53 DictValue |kind
  named_tuple_value = 54 NamedTupleValue |kind
  tensor_value = 55 TensorProto |kind
  numpy_value = 56 TensorProto |kind
message NoneValue
message ListValue
  values = 1 *StructuredValue
message TupleValue
  values = 1 *StructuredValue
message DictValue
  fields = 1 map<string,StructuredValue>
message PairValue
  key = 1 string
  value = 2 StructuredValue
message NamedTupleValue
  name = 1 string
  values = 2 *PairValue
message SerializedDType
  datatype = 1 DataType
message TensorSpecProto
  name = 1 string
  shape = 2 TensorShapeProto
  dtype = 3 DataType
message BoundedTensorSpecProto
  name = 1 string
  shape = 2 TensorShapeProto
  dtype = 3 DataType
  minimum = 4 TensorProto
  maximum = 5 TensorProto
message TypeSpecProto
  type_spec_class = 1 TypeSpecProto.TypeSpecClass
  type_state = 2 StructuredValue
  type_spec_class_name = 3 string
  num_flat_components = 4 int32
enum TypeSpecProto.TypeSpecClass
  UNKNOWN = 0
  SPARSE_TENSOR_SPEC = 1
  INDEXED_SLICES_SPEC = 2
  RAGGED_TENSOR_SPEC = 3
  TENSOR_ARRAY_SPEC = 4
  DATA_DATASET_SPEC = 5
  DATA_ITERATOR_SPEC = 6
  OPTIONAL_SPEC = 7
  PER_REPLICA_SPEC = 8
  VARIABLE_SPEC = 9
  ROW_PARTITION_SPEC = 10
  REGISTERED_TYPE_SPEC = 12
  EXTENSION_TYPE_SPEC = 13
message TrackableObjectGraph
  nodes = 1 *TrackableObjectGraph.TrackableObject
message TrackableObjectGraph.TrackableObject
  children = 1 *TrackableObjectGraph.TrackableObject.ObjectReference
  attributes = 2 *TrackableObjectGraph.TrackableObject.SerializedTensor
  slot_variables = 3 *TrackableObjectGraph.TrackableObject.SlotVariableReference
  registered_saver = 4 RegisteredSaver
  has_checkpoint_values = 5 BoolValue
message TrackableObjectGraph.TrackableObject.ObjectReference
  node_id = 1 int32
  local_name = 2 string
message TrackableObjectGraph.TrackableObject.SerializedTensor
  name = 1 string
  full_name = 2 string
  checkpoint_key = 3 string
message TrackableObjectGraph.TrackableObject.SlotVariableReference
  original_variable_node_id = 1 int32
  slot_name = 2 string
  slot_variable_node_id = 3 int32
message RegisteredSaver
  name = 1 string
  object_name = 2 string
message BundleHeaderProto
  num_shards = 1 int32
  endianness = 2 BundleHeaderProto.Endianness
  version = 3 VersionDef
enum BundleHeaderProto.Endianness
  LITTLE = 0
  BIG = 1
message BundleEntryProto
  dtype = 1 DataType
  shape = 2 TensorShapeProto
  shard_id = 3 int32
  offset = 4 int64
  size = 5 int64
  crc32c = 6 fixed32
  slices = 7 *TensorSliceProto
message SaverDef
  filename_tensor_name = 1 string
  save_tensor_name = 2 string
  restore_op_name = 3 string
  max_to_keep = 4 int32
  sharded = 5 bool
  keep_checkpoint_every_n_hours = 6 float
  version = 7 SaverDef.CheckpointFormatVersion
enum SaverDef.CheckpointFormatVersion
  LEGACY = 0
  V1 = 1
  V2 = 2
message FingerprintDef
  saved_model_checksum = 1 uint64
  graph_def_program_hash = 2 uint64
  signature_def_hash = 3 uint64
  saved_object_graph_hash = 4 uint64
  checkpoint_hash = 5 uint64
  uuid = 7 string
  version = 6 VersionDef
message VariableDef
  variable_name = 1 string
  initializer_name = 2 string
  snapshot_name = 3 string
  save_slice_info_def = 4 SaveSliceInfoDef
  is_resource = 5 bool
  initial_value_name = 6 string
  trainable = 7 bool
  synchronization = 8 VariableSynchronization
  aggregation = 9 VariableAggregation
message SaveSliceInfoDef
  full_name = 1 string
  full_shape = 2 *int64
  var_offset = 3 *int64
  var_shape = 4 *int64
enum VariableSynchronization
  VARIABLE_SYNCHRONIZATION_AUTO = 0
  VARIABLE_SYNCHRONIZATION_NONE = 1
  VARIABLE_SYNCHRONIZATION_ON_WRITE = 2
  VARIABLE_SYNCHRONIZATION_ON_READ = 3
enum VariableAggregation
  VARIABLE_AGGREGATION_NONE = 0
  VARIABLE_AGGREGATION_SUM = 1
  VARIABLE_AGGREGATION_MEAN = 2
  VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA = 3
message CheckpointState
  model_checkpoint_path = 1 string
  all_model_checkpoint_paths = 2 *string
  all_model_checkpoint_timestamps = 3 *double
  last_preserved_timestamp = 4 double
"""

assert messages.GraphDef  # declared before: the messages here refer to it
FILE = declare(DECLARATIONS, "intaglio/saved_model.proto")

SavedModel = message_class("SavedModel")
MetaGraphDef = message_class("MetaGraphDef")
SavedObjectGraph = message_class("SavedObjectGraph")
SavedObject = message_class("SavedObject")
SavedFunction = message_class("SavedFunction")
FunctionSpec = message_class("FunctionSpec")
SavedConcreteFunction = message_class("SavedConcreteFunction")
SavedBareConcreteFunction = message_class("SavedBareConcreteFunction")
StructuredValue = message_class("StructuredValue")
TensorInfo = message_class("TensorInfo")
SignatureDef = message_class("SignatureDef")
AssetFileDef = message_class("AssetFileDef")
TrackableObjectGraph = message_class("TrackableObjectGraph")
BundleHeaderProto = message_class("BundleHeaderProto")
BundleEntryProto = message_class("BundleEntryProto")
FingerprintDef = message_class("FingerprintDef")
SerializedDType = message_class("SerializedDType")
TensorSpecProto = message_class("TensorSpecProto")
CheckpointState = message_class("CheckpointState")
OpList = message_class("OpList")
SaverDef = message_class("SaverDef")
VariableDef = message_class("VariableDef")
