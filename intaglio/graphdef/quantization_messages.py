"""The messages of quantisation options, in the format of `declarations`."""

from __future__ import annotations

from intaglio.graphdef import messages  # what is declared here refers to TensorProto
from intaglio.graphdef.declarations import declare, message_class

DECLARATIONS = """
message QuantizationComponentSpec
  quantization_component = 1 QuantizationComponentSpec.QuantizationComponent
  tensor_type = 2 QuantizationComponentSpec.TensorType
enum QuantizationComponentSpec.QuantizationComponent
  COMPONENT_UNSPECIFIED = 0
  COMPONENT_ACTIVATION = 1
  COMPONENT_WEIGHT = 2
  COMPONENT_BIAS = 3
enum QuantizationComponentSpec.TensorType
  TENSORTYPE_UNSPECIFIED = 0
  TENSORTYPE_INT_4 = 1
  TENSORTYPE_INT_8 = 2
  TENSORTYPE_INT_32 = 3
message QuantizationMethod
  preset_method = 4 QuantizationMethod.PresetMethod
  quantization_component_specs = 3 *QuantizationComponentSpec
enum QuantizationMethod.PresetMethod
  METHOD_UNSPECIFIED = 0
  METHOD_NO_QUANTIZE = 1
  METHOD_STATIC_RANGE_INT8 = 2
  METHOD_DYNAMIC_RANGE_INT8 = 3
  METHOD_STATIC_RANGE_WEIGHT_ONLY_INT8 = 4
message UnitWiseQuantizationSpec
  unit = 5 *UnitWiseQuantizationSpec.QuantizationUnit
  quantization_method = 6 QuantizationMethod
message UnitWiseQuantizationSpec.QuantizationUnit
  op_type = 1 string
  node_name = 2 string
  func_name = 3 string
enum OpSet
  OP_SET_UNSPECIFIED = 0
  TF = 1
  XLA = 2
  UNIFORM_QUANTIZED = 3
  STABLEHLO = 4
message RepresentativeDatasetFile
  tfrecord_file_path = 1 string |dataset_file
message RepresentativeDataSample
  tensor_proto_inputs = 2 map<string,TensorProto>
message CalibrationOptions
  calibration_method = 1 CalibrationOptions.CalibrationMethod
  calibration_parameters = 2 CalibrationOptions.CalibrationParameters
  representative_datasets = 3 *RepresentativeDatasetConfig
  calibration_data_dir = 4 string
  force_regenerate_calibration_data = 5 bool
enum CalibrationOptions.CalibrationMethod
  CALIBRATION_METHOD_UNSPECIFIED = 0
  CALIBRATION_METHOD_MIN_MAX = 1
  CALIBRATION_METHOD_AVERAGE_MIN_MAX = 2
  CALIBRATION_METHOD_HISTOGRAM_PERCENTILE = 3
  CALIBRATION_METHOD_HISTOGRAM_MSE_BRUTEFORCE = 4
  CALIBRATION_METHOD_HISTOGRAM_MSE_MAX_FREQUENCY = 5
  CALIBRATION_METHOD_HISTOGRAM_MSE_SYMMETRIC = 6
message CalibrationOptions.CalibrationParameters
  num_bins = 1 int32
  min_percentile = 2 float
  max_percentile = 3 float
message RepresentativeDatasetConfig
  tf_record = 1 TfRecordFile |file
  signature_key = 2 string |_signature_key
message TfRecordFile
  path = 1 string
message DebuggerConfig
  debugger_type = 1 DebuggerConfig.DebuggerType
  unquantized_dump_model_path = 2 string
  log_dir_path = 3 string
enum DebuggerConfig.DebuggerType
  DEBUGGER_TYPE_UNSPECIFIED = 0
  DEBUGGER_TYPE_WHOLE_MODEL = 1
  DEBUGGER_TYPE_INT_PER_LAYER = 2
  DEBUGGER_TYPE_FLOAT_PER_LAYER = 3
message QuantizationOptions
  quantization_method = 1 QuantizationMethod
  op_set = 2 OpSet
  unit_wise_quantization_specs = 17 *UnitWiseQuantizationSpec
  tags = 5 *string
  signature_keys = 6 *string
  representative_datasets = 7 map<string,RepresentativeDatasetFile>
  min_num_elements_for_weights = 8 int64
  freeze_all_variables = 9 bool |_freeze_all_variables
  enable_per_channel_quantization = 10 bool |_enable_per_channel_quantization
  enable_two_input_tensors = 11 bool
  experimental_enable_tpu_model_support = 12 bool
  enable_legacy_weight_only = 13 bool
  force_graph_mode_calibration = 14 bool
  calibration_options = 15 CalibrationOptions
  debugger_config = 16 DebuggerConfig
"""

TensorProto = messages.TensorProto
FILE = declare(DECLARATIONS, "intaglio/quantization.proto")

QuantizationComponentSpec = message_class("QuantizationComponentSpec")
QuantizationMethod = message_class("QuantizationMethod")
QuantizationOptions = message_class("QuantizationOptions")
RepresentativeDataSample = message_class("RepresentativeDataSample")
RepresentativeDatasetFile = message_class("RepresentativeDatasetFile")
UnitWiseQuantizationSpec = message_class("UnitWiseQuantizationSpec")
