"""TensorFlow's graph messages, declared here in a descriptor pool of their own.

Names and field numbers are those of TensorFlow's published `.proto` files, so that bytes and
text are interchangeable; the pool is private, so that TensorFlow itself can be loaded in the
same process. The format of a line is described in `declarations`.
"""

from __future__ import annotations

from intaglio.graphdef.declarations import declare, message_class

DECLARATIONS = """
enum DataType
  DT_INVALID = 0
  DT_FLOAT = 1
  DT_DOUBLE = 2
  DT_INT32 = 3
  DT_UINT8 = 4
  DT_INT16 = 5
  DT_INT8 = 6
  DT_STRING = 7
  DT_COMPLEX64 = 8
  DT_INT64 = 9
  DT_BOOL = 10
  DT_QINT8 = 11
  DT_QUINT8 = 12
  DT_QINT32 = 13
  DT_BFLOAT16 = 14
  DT_QINT16 = 15
  DT_QUINT16 = 16
  DT_UINT16 = 17
  DT_COMPLEX128 = 18
  DT_HALF = 19
  DT_RESOURCE = 20
  DT_VARIANT = 21
  DT_UINT32 = 22
  DT_UINT64 = 23
  DT_FLOAT8_E5M2 = 24
  DT_FLOAT8_E4M3FN = 25
  DT_INT4 = 29
  DT_UINT4 = 30
message TensorShapeProto
  dim = 2 *TensorShapeProto.Dim
  unknown_rank = 3 bool
message TensorShapeProto.Dim
  size = 1 int64
  name = 2 string
message ResourceHandleProto
  device = 1 string
  container = 2 string
  name = 3 string
  hash_code = 4 uint64
  maybe_type_name = 5 string
  dtypes_and_shapes = 6 *ResourceHandleProto.DtypeAndShape
message ResourceHandleProto.DtypeAndShape
  dtype = 1 DataType
  shape = 2 TensorShapeProto
message VariantTensorDataProto
  type_name = 1 string
  metadata = 2 bytes
  tensors = 3 *TensorProto
message TensorProto
  dtype = 1 DataType
  tensor_shape = 2 TensorShapeProto
  version_number = 3 int32
  tensor_content = 4 bytes
  float_val = 5 *float
  double_val = 6 *double
  int_val = 7 *int32
  string_val = 8 *bytes
  scomplex_val = 9 *float
  int64_val = 10 *int64
  bool_val = 11 *bool
  dcomplex_val = 12 *double
  half_val = 13 *int32
  resource_handle_val = 14 *ResourceHandleProto
  variant_val = 15 *VariantTensorDataProto
  uint32_val = 16 *uint32
  uint64_val = 17 *uint64
message NameAttrList
  name = 1 string
  attr = 2 map<string,AttrValue>
message AttrValue
  list = 1 AttrValue.ListValue |value
  s = 2 bytes |value
  i = 3 int64 |value
  f = 4 float |value
  b = 5 bool |value
  type = 6 DataType |value
  shape = 7 TensorShapeProto |value
  tensor = 8 TensorProto |value
  placeholder = 9 string |value
  func = 10 NameAttrList |value
message AttrValue.ListValue
  s = 2 *bytes
  i = 3 *int64
  f = 4 *float
  b = 5 *bool
  type = 6 *DataType
  shape = 7 *TensorShapeProto
  tensor = 8 *TensorProto
  func = 9 *NameAttrList
message NodeDef
  name = 1 string
  op = 2 string
  input = 3 *string
  device = 4 string
  attr = 5 map<string,AttrValue>
  experimental_debug_info = 6 NodeDef.ExperimentalDebugInfo
message NodeDef.ExperimentalDebugInfo
  original_node_names = 1 *string
  original_func_names = 2 *string
message VersionDef
  producer = 1 int32
  min_consumer = 2 int32
  bad_consumers = 3 *int32
message OpDef
  name = 1 string
  input_arg = 2 *OpDef.ArgDef
  output_arg = 3 *OpDef.ArgDef
  attr = 4 *OpDef.AttrDef
  summary = 5 string
  description = 6 string
  is_aggregate = 16 bool
  is_stateful = 17 bool
  is_commutative = 18 bool
  allows_uninitialized_input = 19 bool
  control_output = 20 *string
message OpDef.ArgDef
  name = 1 string
  description = 2 string
  type = 3 DataType
  type_attr = 4 string
  number_attr = 5 string
  type_list_attr = 6 string
  handle_data = 7 *ResourceHandleProto.DtypeAndShape
  is_ref = 16 bool
message OpDef.AttrDef
  name = 1 string
  type = 2 string
  default_value = 3 AttrValue
  description = 4 string
  has_minimum = 5 bool
  minimum = 6 int64
  allowed_values = 7 AttrValue
message FunctionDef
  signature = 1 OpDef
  node_def = 3 *NodeDef
  ret = 4 map<string,string>
  attr = 5 map<string,AttrValue>
  control_ret = 6 map<string,string>
  arg_attr = 7 map<uint32,FunctionDef.ArgAttrs>
  resource_arg_unique_id = 8 map<uint32,uint32>
message FunctionDef.ArgAttrs
  attr = 1 map<string,AttrValue>
message GradientDef
  function_name = 1 string
  gradient_func = 2 string
message RegisteredGradient
  gradient_func = 1 string
  registered_op_type = 2 string
message FunctionDefLibrary
  function = 1 *FunctionDef
  gradient = 2 *GradientDef
  registered_gradients = 3 *RegisteredGradient
message GraphDef
  node = 1 *NodeDef
  library = 2 FunctionDefLibrary
  version = 3 int32
  versions = 4 VersionDef
"""

FILE = declare(DECLARATIONS, "intaglio/graph.proto")

TensorShapeProto = message_class("TensorShapeProto")
TensorProto = message_class("TensorProto")
VariantTensorDataProto = message_class("VariantTensorDataProto")
AttrValue = message_class("AttrValue")
NameAttrList = message_class("NameAttrList")
NodeDef = message_class("NodeDef")
OpDef = message_class("OpDef")
FunctionDef = message_class("FunctionDef")
FunctionDefLibrary = message_class("FunctionDefLibrary")
GraphDef = message_class("GraphDef")
VersionDef = message_class("VersionDef")
