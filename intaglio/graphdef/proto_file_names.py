"""Where messages and enums stand among the modules `tensorflow.core.*_pb2`: a table without protobuf.

`proto_files` makes what is asked for of them.
"""

from __future__ import annotations

# file under tensorflow/core, without the ending: module of this layer, messages and enums
FILES = """
example/example: example_messages Example SequenceExample
example/feature: example_messages BytesList Feature FeatureList FeatureLists Features FloatList Int64List
framework/attr_value: messages AttrValue NameAttrList
framework/function: messages FunctionDef FunctionDefLibrary GradientDef RegisteredGradient
framework/graph: messages GraphDef
framework/node_def: messages NodeDef
framework/op_def: messages OpDef
framework/resource_handle: messages ResourceHandleProto
framework/summary: event_messages HistogramProto Summary SummaryDescription SummaryMetadata DataClass
framework/tensor: messages TensorProto VariantTensorDataProto
framework/tensor_shape: messages TensorShapeProto
framework/tensor_slice: saved_messages TensorSliceProto
framework/types: messages DataType SerializedDType
framework/variable: saved_messages SaveSliceInfoDef VariableAggregation VariableDef VariableSynchronization
framework/versions: messages VersionDef
protobuf/cluster: cluster_messages ClusterDef JobDef
protobuf/config: config_messages CallableOptions ConfigProto GPUOptions GraphOptions OptimizerOptions RunMetadata RunOptions
protobuf/meta_graph: saved_messages AssetFileDef CollectionDef MetaGraphDef SignatureDef TensorInfo
protobuf/rewriter_config: config_messages RewriterConfig
protobuf/saved_model: saved_messages SavedModel
protobuf/saved_object_graph: saved_messages SavedObject SavedObjectGraph SavedVariable
protobuf/saver: saved_messages SaverDef
protobuf/struct: saved_messages BoundedTensorSpecProto StructuredValue TensorSpecProto TypeSpecProto
protobuf/tensorflow_server: cluster_messages ServerDef
protobuf/trackable_object_graph: saved_messages TrackableObjectGraph
util/event: event_messages Event LogMessage SessionLog TaggedRunMetadata
"""
# The enum whose values a file's module has as names of its own, and their prefix.
VALUES = {"framework/types": ("DataType", "DT_")}
_TYPES = (
    "INVALID FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 QINT32 BFLOAT16 "
    "QINT16 QUINT16 UINT16 COMPLEX128 HALF RESOURCE VARIANT UINT32 UINT64 FLOAT8_E5M2 FLOAT8_E4M3FN INT4 UINT4"
)
# Between the path of a file and a name, in targets.
SEPARATOR = "____"
_HOME = "intaglio.graphdef.proto_files"


def _tables() -> dict[str, tuple[str, list[str]]]:
    found: dict[str, tuple[str, list[str]]] = {}
    for line in filter(None, FILES.splitlines()):
        path, _, rest = line.partition(": ")
        home, *names = rest.split()
        found[str(path)] = (str(home), [str(name) for name in names])
    return found


# path of a file -> the module of this layer that declares its messages, and their names
TABLES = _tables()


def _module(path: str) -> dict[str, str]:
    names = ["DESCRIPTOR", *TABLES[path][1]]
    if path in VALUES:
        names += [f"{VALUES[path][1]}{value}" for value in _TYPES.split()]
    return {n: f"{_HOME}:{path.replace('/', '__')}{SEPARATOR}{n}" for n in names}


# module, without `tensorflow.` -> name -> target
MODULES = {f"core.{path.replace('/', '.')}_pb2": _module(path) for path in TABLES}
