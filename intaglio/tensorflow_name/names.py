"""The name `tensorflow`: what it and its submodules resolve to.

`install_as_tensorflow()` makes `import tensorflow` give `intaglio.tf` in this process. The
documented submodules are those of `intaglio.tf`; the few undocumented ones that libraries
import are in `PRIVATE`.
"""

from __future__ import annotations

import sys
import types
from importlib.util import find_spec
from pathlib import Path

from intaglio.base import alias
from intaglio.base.import_hooks import after_import
from intaglio.compat_v1.own_names import FLAGS_NAMES
from intaglio.graphdef import proto_file_names
from intaglio.tensorflow_name import absent, keras_files
from intaglio.tensorflow_name.private_names import PrivateNames

_TRACKED = "intaglio.tensorflow_name.tracked_structures"
_CONTEXT = "intaglio.tensorflow_name.eager_context"
_EXPORTS = "intaglio.tensorflow_name.exports"
_FRAMEWORK = "intaglio.tensorflow_name.framework"
_INSPECT = "intaglio.tensorflow_name.inspection"
_ABSENT = "intaglio.tensorflow_name.absent_classes"
_INTERNALS = "intaglio.tensorflow_name.internals"
_SAVED = "intaglio.tensorflow_name.saved_model_parts"
_SAVED_OBJECTS = "intaglio.tensorflow_name.saved_objects"
_LOGGING = (
    "DEBUG ERROR FATAL INFO WARN debug error fatal flush get_verbosity info log log_every_n "
    "log_first_n log_if set_verbosity TaskLevelStatusMessage=info vlog warn warning"
)
_METRICS = "intaglio.tensorflow_name.metric_parts"
_NEST = "intaglio.tensorflow_name.structures"
_TPU = "intaglio.tensorflow_name.tpu_contexts"


def _all(home: str, names: str) -> dict[str, str]:
    """These names, each at home in one module; `own=theirs` where it has another there."""
    pairs = (entry.partition("=") for entry in names.split())
    return {name: f"{home}:{other or name}" for name, _, other in pairs}


_V1_GRAPHS = _all("intaglio.compat_v1.default_graphs", "get_default_graph reset_default_graph")

# Modules that TensorFlow does not document and libraries import all the same: their names,
# where we have them, and which library imports them.
PRIVATE: dict[str, dict[str, str]] = {
    # Keras: clear_session, the end of every epoch. Sonnet: the kind of LSTM
    "python.eager.context": {
        "_reset_context": "intaglio.base.devices:reset_devices",
        "async_wait": f"{_CONTEXT}:async_wait",
        "context": f"{_CONTEXT}:context",
        **{f: f"{_CONTEXT}:{f}" for f in ("ensure_initialized", "get_config", "get_device_name")},
        "eager_mode": "intaglio.trace.scopes:eager_mode",
        "graph_mode": "intaglio.compat_v1.default_graphs:graph_mode",
        "executing_eagerly": "intaglio.trace.scopes:executing_eagerly",
        "in_eager_mode": "intaglio.trace.scopes:executing_eagerly",
        "num_gpus": f"{_CONTEXT}:num_gpus",
    },
    # Keras: trainers where a device other than the host's is listed
    "python.framework.config": {
        "disable_op_determinism": f"{_CONTEXT}:disable_op_determinism",
        "enable_op_determinism": "intaglio.tf.config.experimental:enable_op_determinism",
        "is_op_determinism_enabled": f"{_CONTEXT}:is_op_determinism_enabled",
    },
    # tf2onnx, and programs that freeze functions
    "python.framework.convert_to_constants": _all(
        "intaglio.compat_v1.constants",
        "convert_variables_to_constants_v2 convert_variables_to_constants_v2_as_graph",
    ),
    "python.framework.function_def_to_graph": _all(
        "intaglio.compat_v1.graph_messages", "function_def_to_graph"
    ),
    "python.grappler.tf_optimizer": _all(
        "intaglio.compat_v1.graph_messages", "OptimizeGraph=optimized"
    ),
    "python.eager.wrap_function": {
        "WrappedFunction": "intaglio.saved_model.graph_parts:WrappedFunction",
        "function_from_graph_def": "intaglio.compat_v1.constants:function_from_graph_def",
        "wrap_function": "intaglio.compat_v1.wrapped_functions:wrap_function",
    },
    # Tests of tf_keras
    "python.eager.backprop": {
        **_all(
            "intaglio.tensorflow_name.gradient_functions",
            "gradients_function implicit_grad implicit_val_and_grad make_vjp val_and_grad_function",
        ),
        **_all("intaglio.tensorflow_name.op_creation", "record_gradient"),
    },
    "python.checkpoint.checkpoint": {
        **_all(_INTERNALS, "add_variable"),
        **_all(_SAVED_OBJECTS, "gather_initializers list_objects"),
    },
    "python.autograph.impl.api": _all("intaglio.base.errors", "AutoGraphError StagingError"),
    # fastestimator
    "python.ops.summary_ops_v2": _all(
        "intaglio.tensorflow_name.summary_functions",
        "always_record_summaries histogram image never_record_summaries scalar",
    ),
    # DeepCTR
    "python.ops.rnn_cell": {
        name: f"intaglio.tf:compat.v1.nn.rnn_cell.{name}"
        for name in [
            "BasicLSTMCell",
            "BasicRNNCell",
            "DeviceWrapper",
            "DropoutWrapper",
            "GRUCell",
            "LSTMCell",
            "LSTMStateTuple",
            "MultiRNNCell",
            "RNNCell",
            "ResidualWrapper",
        ]
    },
    # Convolutions of TensorFlow Probability and cvnn
    "python.ops.nn_ops": _all(
        "intaglio.tensorflow_name.convolutions", "Convolution squeeze_batch_dims"
    ),
    "python.ops.rnn_cell_impl": _all(_FRAMEWORK, "_concat=concatenated_shape"),
    # Programs that read event files
    "python.lib.io.tf_record": {
        "tf_record_iterator": "intaglio.tensorflow_name.record_iterator:tf_record_iterator"
    },
    # Messages, which libraries' own messages depend on: tf_keras, tensorflow_hub, tf-agents, TF-GNN
    **proto_file_names.MODULES,
    # tensorflow_probability: which shapes are known, names of type specs
    "python.framework.composite_tensor": {
        "CompositeTensor": "intaglio.base.composite:CompositeTensor"
    },
    "python.framework.ops": {
        **_all(
            _FRAMEWORK,
            "convert_to_tensor_or_composite name_from_scope_name numpy_text "
            "NullContextmanager=null_context",
        ),
        **_all(
            _FRAMEWORK,
            "internal_convert_to_tensor prepend_name_scope register_proto_function strip_name_scope",
        ),
        **_all(
            "intaglio.insight.float_operations", "OpStats RegisterStatistics get_stats_for_node_def"
        ),
        "IndexedSlices": "intaglio.tf:IndexedSlices",
        "_gradient_registry": "intaglio.tensorflow_name.gradient_registry:REGISTRY",
        "colocate_with": "intaglio.compat_v1.assignments:colocate_with",
        "uid": "intaglio.opdef.keys:fresh",
        **_V1_GRAPHS,
        "EagerTensor": "intaglio.runtime.eager:EagerTensor",
        "Graph": "intaglio.trace.graph:Graph",
        "Tensor": "intaglio.opdef.tensor:Tensor",
        "convert_to_tensor": "intaglio.tf:convert_to_tensor",
        "device": "intaglio.tf:device",
        "name_scope": f"{_FRAMEWORK}:op_name_scope",
        "name_scope_v1": "intaglio.tf:compat.v1.name_scope",
        "name_scope_v2": "intaglio.tf:name_scope",
    },
    "python.framework.tensor": {
        "DenseSpec": "intaglio.tensorflow_name.dense_specs:DenseSpec",
        "Tensor": "intaglio.opdef.tensor:Tensor",
        "TensorSpec": "intaglio.type_specs.type_spec:TensorSpec",
    },
    "python.framework.tensor_shape": {
        **_all(_FRAMEWORK, "as_shape unknown_shape"),
        "TensorShape": "intaglio.base.shapes:TensorShape",
        "Dimension": "intaglio.base.dimension:Dimension",
        "dimension_value": "intaglio.compat_v1.dimensions:dimension_value",
    },
    "python.framework.tensor_spec": {
        "BoundedTensorSpec": "intaglio.type_specs.type_spec:BoundedTensorSpec",
        "DenseSpec": "intaglio.tensorflow_name.dense_specs:DenseSpec",
        "TensorSpec": "intaglio.type_specs.type_spec:TensorSpec",
    },
    "python.framework.tensor_util": {
        **_all(_FRAMEWORK, "constant_value_as_shape try_evaluate_constant"),
        "constant_value": "intaglio.tf:get_static_value",
        "is_tf_type": "intaglio.tf:is_tensor",
    },
    "python.framework.dtypes": _all(
        "intaglio.tf",
        "DType as_dtype bfloat16 bool complex64 complex128 double float16 float32 float64 half "
        "int8 int16 int32 int64 qint8 qint16 qint32 quint8 quint16 resource string uint8 uint16 "
        "uint32 uint64 variant",
    ),
    "python.framework.type_spec": {
        "BatchableTypeSpec": "intaglio.type_specs.type_spec:BatchableTypeSpec",
        "TypeSpec": "intaglio.type_specs.type_spec:TypeSpec",
        "register_type_spec_from_value_converter": (
            "intaglio.type_specs.type_spec:register_type_spec_from_value_converter"
        ),
        "type_spec_from_value": "intaglio.tf:type_spec_from_value",
    },
    "python.framework.type_spec_registry": _all(
        "intaglio.tensorflow_name.type_spec_names", "get_name lookup"
    )
    | _all(
        "intaglio.type_specs.registry",
        "register _NAME_TO_TYPE_SPEC=NAME_TO_TYPE_SPEC _TYPE_SPEC_TO_NAME=TYPE_SPEC_TO_NAME",
    ),
    "python.framework.smart_cond": {
        **_all(_FRAMEWORK, "smart_constant_value"),
        "smart_cond": "intaglio.composite_ops.smart_cond:smart_cond",
    },
    # tf-agents
    "python.layers.utils": {
        "smart_cond": "intaglio.composite_ops.smart_cond:smart_cond",
        **_all(
            "intaglio.tensorflow_name.convolved_lengths",
            "conv_input_length conv_output_length deconv_output_length",
        ),
    },
    "python.distribute.load_context": _all(
        _INTERNALS, "get_load_options in_load_context load_context"
    ),
    "python.ops.distributions.util": _all(_FRAMEWORK, "gen_new_seed"),
    "python.eager.monitoring": _all(
        _ABSENT, "BoolGauge=Gauge Counter=Gauge IntGauge=Gauge Sampler=Gauge StringGauge=Gauge"
    ),
    "python.data.util.nest": _all(
        "intaglio.base.nest",
        "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    ),
    "python.ops.list_ops": _all(
        "intaglio.tensorflow_name.list_functions",
        "empty_tensor_list tensor_list_from_tensor tensor_list_gather tensor_list_get_item "
        "tensor_list_pop_back tensor_list_reserve tensor_list_scatter tensor_list_set_item tensor_list_stack "
        "tensor_list_concat_lists tensor_list_element_shape tensor_list_length tensor_list_push_back "
        "tensor_list_push_back_batch tensor_list_resize",
    ),
    # tf_slim: the old place of the names, and readers of TensorFlow 1, which it derives from
    "python.training.checkpoint_management": {
        **_all("intaglio.tf.train", "CheckpointManager get_checkpoint_state latest_checkpoint"),
        **_all(
            "intaglio.compat_v1.checkpoints",
            "checkpoint_exists generate_checkpoint_state_proto get_checkpoint_mtimes "
            "remove_checkpoint update_checkpoint_state",
        ),
    },
    # tf_slim imports this, and uses it for traces of sessions only
    "python.client.timeline": {},
    "python.ops.variables": _all("intaglio.compat_v1.partitioned_variables", "PartitionedVariable"),
    # tf_slim, tensorflow_gan
    "python.training.evaluation": _all(
        "intaglio.compat_v1.evaluations",
        "_StopAfterNEvalsHook=StopAfterNEvalsHook _evaluate_once=evaluate_once "
        "_get_or_create_eval_step=get_or_create_eval_step",
    ),
    # tf2onnx: the outputs of ops in models of TensorFlow.js
    "python.framework.c_api_util": _all("intaglio.tensorflow_name.op_definitions", "ApiDefMap"),
    "python.ops.io_ops": _all(_ABSENT, "ReaderBase"),
    # pennylane
    "python.eager.record": _all(_INTERNALS, "should_record_backprop"),
    "python.eager.tape": {},
    # larq
    "python.distribute.values": _all(
        _ABSENT, "DistributedVariable MirroredVariable SyncOnReadVariable TPUVariableMixin"
    )
    | {"DistributedValues": "intaglio.tf.distribute:DistributedValues"},
    "python.distribute.ps_values": _all(_ABSENT, "AggregatingVariable"),
    # tensorflow_model_optimization
    "python.ops.clustering_ops": _all(
        "intaglio.opdef.raw",
        "kmc2_chain_initialization=KMC2ChainInitialization "
        "kmeans_plus_plus_initialization=KmeansPlusPlusInitialization "
        "nearest_neighbors=NearestNeighbors",
    ),
    # spektral
    "python.ops.linalg.sparse.sparse": _all(
        "intaglio.tensorflow_name.sparse_products", "CSRSparseMatrix matmul"
    ),
    # tf_slim, tensorlayer
    "python.ops.array_ops": _all(
        _FRAMEWORK, "prevent_gradient rank_internal shape_internal size_internal"
    ),
    "python.ops.confusion_matrix": _all(_METRICS, "remove_squeezable_dimensions"),
    "python.ops.metrics_impl": _all(
        _METRICS,
        "_aggregate_variable=aggregate_variable _safe_scalar_div=safe_ratio metric_variable "
        "_confusion_matrix_at_thresholds=confusion_matrix_at_thresholds "
        "_remove_squeezable_dimensions=same_ranks",
    ),
    # tf_models, tensorflow_gan, orbit: how many TPUs there are
    "python.tpu.tpu_function": _all(_TPU, "TpuContext get_tpu_context tpu_shard_context"),
    "python.tpu.embedding_context_utils": _all(
        _TPU, "SequentialEmbeddingContext=sequential_embeddings embedding_pipelining_state"
    ),
    # Tests of larq and of the Model Garden
    "python.distribute.strategy_combinations": _all(
        "intaglio.distribute.combinations",
        "NamedDistribution central_storage_strategy_with_gpu_and_cpu "
        "central_storage_strategy_with_two_gpus cloud_tpu_strategy default_strategy "
        "mirrored_strategy_with_cpu_1_and_2 mirrored_strategy_with_gpu_and_cpu "
        "mirrored_strategy_with_one_cpu mirrored_strategy_with_one_gpu mirrored_strategy_with_two_cpus "
        "mirrored_strategy_with_two_gpus multi_worker_mirrored_2x1_cpu multi_worker_mirrored_2x1_gpu "
        "multi_worker_mirrored_2x2_gpu one_device_strategy one_device_strategy_gpu tpu_strategy "
        "tpu_strategy_one_core tpu_strategy_packed_var",
    )
    | _all(_CONTEXT, "set_virtual_cpus_to_at_least=divide_host"),
    # trax, etils
    "python.ops.numpy_ops.np_dtypes": _all(
        "intaglio.tensorflow_name.numpy_dtypes",
        "canonicalize_dtype default_float_type is_allow_float64 is_prefer_float32 "
        "set_allow_float64 set_prefer_float32",
    ),
    "python.util.compat": _all(
        "intaglio.tf.compat",
        "as_bytes as_str as_str_any as_text bytes_or_text_types complex_types integral_types path_to_str "
        "real_types",
    ),
    "python.ops.control_flow_util": _all(
        _FRAMEWORK, "ENABLE_CONTROL_FLOW_V2 GraphOrParentsInXlaContext=in_xla_context"
    ),
    "python.ops.linalg.linear_operator": {
        **_all(_FRAMEWORK, "make_composite_tensor"),
        "LinearOperator": "intaglio.tf.linalg:LinearOperator",
    },
    "python.ops.linalg.linear_operator_addition": {
        "add_operators": "intaglio.linear_operators.sums:add_operators"
    },
    "python.ops.parallel_for.control_flow_ops": {
        "pfor": "intaglio.tensorflow_name.parallel_loops:pfor"
    },
    "python.ops.control_flow_case": {
        "_case_helper": "intaglio.tensorflow_name.parallel_loops:case_helper"
    },
    "python.ops.resource_variable_ops": {
        **_all(_FRAMEWORK, "is_resource_variable"),
        "BaseResourceVariable": "intaglio.state.variable:Variable",
        "ResourceVariable": "intaglio.state.variable:Variable",
        "VariableSpec": "intaglio.state.variable_spec:VariableSpec",
    },
    # tf_keras
    "python.pywrap_tfe": {
        "TF_ListPluggablePhysicalDevices": "intaglio.tensorflow_name.internals:nothing"
    },
    "python.trackable.base": {
        "CheckpointInitialValue": f"{_ABSENT}:CheckpointInitialValue",
        "Trackable": "intaglio.state.tracking:Trackable",
        "TrackableReference": f"{_SAVED}:TrackableReference",
        "no_automatic_dependency_tracking_scope": "intaglio.state.tracking:not_tracking",
    },
    "python.trackable.resource": {
        "RestoredResource": "intaglio.state.trackable_resource:TrackableResource"
    },
    # tensorflow_transform, tf_slim
    "python.ops.lookup_ops": {
        "HashTable": "intaglio.lookup.tables:StaticHashTableV1",
        "InitializableLookupTableBase": "intaglio.lookup.tables:StaticHashTable",
        "LookupInterface": "intaglio.state.tracking:Trackable",
        "hash_table_v2": "intaglio.opdef.raw:HashTableV2",
        "lookup_table_export_v2": "intaglio.opdef.raw:LookupTableExportV2",
        **_all(
            "intaglio.lookup.vocabularies",
            "index_table_from_file index_table_from_tensor index_to_string_table_from_file "
            "index_to_string_table_from_tensor",
        ),
    },
    # zfit: annotations
    "python.types.core": {
        "Tensor": "intaglio.base.composite:ActsAsTensor",
        "TensorLike": "intaglio.tf:types.experimental.TensorLike",
        "TensorProtocol": "intaglio.base.composite:ActsAsTensor",
    },
    "python.distribute.input_lib": {
        "DistributedDataset": "intaglio.tensorflow_name.internals:NoDistributedDataset"
    },
    "python.distribute.distribute_utils": {},
    "python.ops.ragged.ragged_map_ops": {"map_fn": "intaglio.tf:map_fn"},
    "python.ops.ragged.ragged_util": _all(_FRAMEWORK, "assert_splits_match"),
    "python.saved_model.model_utils.mode_keys": _all(_INTERNALS, "KerasModeKeys"),
    "python.saved_model.save": _all(_SAVED, "save_and_return_nodes"),
    "python.data.ops.from_generator_op": _all(_INTERNALS, "_GeneratorDataset=NoDataset"),
    "python.data.ops.from_sparse_tensor_slices_op": _all(
        _INTERNALS, "_SparseTensorSliceDataset=NoDataset"
    ),
    "python.data.ops.from_tensor_slices_op": _all(_INTERNALS, "_TensorSliceDataset=NoDataset"),
    "python.data.ops.from_tensors_op": _all(_INTERNALS, "_TensorDataset=NoDataset"),
    # tensorflow_decision_forests asks whether a dataset is one of these
    "python.data.ops.load_op": _all(_INTERNALS, "_LoadDataset=NoDataset"),
    "python.data.ops.dataset_ops": _all(
        _INTERNALS,
        "BatchDataset=NoDataset DatasetSource=NoDataset RepeatDataset=NoDataset "
        "ShuffleDataset=NoDataset UnaryDataset=NoDataset",
    ),
    "python.data.ops.range_op": _all(_INTERNALS, "_RangeDataset=NoDataset"),
    "python.data.experimental.ops.distribute": {
        "compute_batch_size": "intaglio.data.sharding:compute_batch_size"
    },
    "python.distribute.input_ops": {},
    "python.ops.variable_scope": _all(
        "intaglio.compat_v1.variable_scopes",
        "VariableScope _get_default_variable_store=default_variable_store get_variable "
        "get_variable_scope variable_scope with_variable_store",
    ),
    "python.ops.control_flow_ops": {
        **_all(_INTERNALS, "get_enclosing_xla_context=no_callback"),
        **_all(_FRAMEWORK, "with_dependencies"),
    },
    # Tests of tf_keras, tf-agents, larq
    "python.framework.test_util": _all(
        "intaglio.testing.marks",
        "IsBuiltWithNvcc=no IsMklEnabled=no enable_c_shapes=same assert_no_garbage_created=same assert_no_new_tensors=same "
        "assert_no_new_pyobjects_executing_eagerly=named deprecated_graph_mode_only "
        "disable_cudnn_autotune=same disable_mlir_bridge=named disable_xla=named "
        "also_run_as_tf_function=same enable_control_flow_v2=same enable_output_all_intermediates=same for_all_test_methods "
        "is_mlir_bridge_enabled=no is_xla_enabled=no run_all_in_deprecated_graph_mode_only "
        "run_all_in_graph_and_eager_modes run_deprecated_v1 run_gpu_only "
        "run_in_graph_and_eager_modes run_v1_only run_v2_only skip_if with_control_flow_v2=same",
    )
    | _all(_EXPORTS, "InstallStackTraceHandler=nothing"),
    # tensorflow_probability imports these, and uses them in `experimental.auto_batching` only
    **{
        f"python.autograph.{module}": dict[str, str]()
        for module in [
            "converters.break_statements",
            "converters.continue_statements",
            "converters.return_statements",
            "pyct.anno",
            "pyct.common_transformers.anf",
            "pyct.inspect_utils",
            "pyct.loader",
            "pyct.naming",
            "pyct.parser",
            "pyct.qual_names",
            "pyct.static_analysis.activity",
            "pyct.templates",
        ]
    },
    "python.autograph.core.converter": _all(_INTERNALS, "Base=NoDataset"),
    "python.autograph.pyct.transformer": _all(_INTERNALS, "Base=NoDataset"),
    # Keras: ops.slice_update. tensorflow_probability
    "compiler.tf2xla.python.xla": {
        "dynamic_slice": "intaglio.tensorflow_name.slice_updates:dynamic_slice",
        "dynamic_update_slice": "intaglio.tensorflow_name.slice_updates:dynamic_update_slice",
        "variadic_reduce": f"{_INTERNALS}:no_variadic_reduce",
        "call_module": "intaglio.opdef.raw:XlaCallModule",
        "call_module_maximum_supported_version": f"{_INTERNALS}:maximum_module_version",
    },
    # jax2tf, which uses them for arrays on several devices only
    "compiler.xla.xla_data_pb2": _all(_ABSENT, "OpSharding"),
    "python.compiler.xla.experimental.xla_sharding": _all(_ABSENT, "Sharding=OpSharding"),
    "python.ops.random_ops": _all(_FRAMEWORK, "parameterized_truncated_normal"),
    # gpflow
    "python.data.ops.iterator_ops": {"OwnedIterator": "intaglio.tf.data:Iterator"},
    "python.tf2": _all(_FRAMEWORK, "enabled"),
    "python.ops.weights_broadcast_ops": _all(_FRAMEWORK, "broadcast_weights"),
    "python.util.dispatch": _all(
        "intaglio.tensorflow_name.dispatchers",
        "GlobalOpDispatcher OpDispatcher add_dispatch_support dispatch_for_types",
    ),
    "python.platform.tf_logging": _all("intaglio.compat_v1.logging", _LOGGING),
    "python.util.deprecation": _all(
        "intaglio.tensorflow_name.deprecation",
        "deprecated deprecated_alias deprecated_arg_values deprecated_args "
        "deprecated_argument_lookup deprecated_endpoints silence",
    ),
    "python.util.nest": {
        **_all(
            _NEST,
            "assert_shallow_structure flatten_up_to flatten_with_joined_string_paths "
            "flatten_with_tuple_paths get_traverse_shallow_structure is_attrs is_mapping "
            "is_namedtuple _is_namedtuple=is_namedtuple is_nested_or_composite list_to_tuple "
            "map_structure_up_to map_structure_with_paths map_structure_with_tuple_paths "
            "map_structure_with_tuple_paths_up_to sequence_like _sequence_like=sequence_like "
            "yield_flat_paths _yield_sorted_items=yield_sorted_items _yield_value=yield_value",
        ),
        **_all(
            "intaglio.base.nest",
            "assert_same_structure flatten is_nested is_sequence=is_nested map_structure "
            "pack_sequence_as",
        ),
    },
    # gpflux, gpflow, tensorflow_transform
    "python.util.object_identity": _all(
        "intaglio.tensorflow_name.identity_collections",
        "ObjectIdentityDictionary ObjectIdentitySet ObjectIdentityWeakKeyDictionary "
        "ObjectIdentityWeakSet Reference",
    ),
    # tensorflow_ranking
    "python.util.function_utils": _all(
        "intaglio.tensorflow_name.function_properties",
        "fn_args get_func_code get_func_name has_kwargs",
    ),
    # Programs that count GPUs: bert4keras, tensorpack, notebooks
    "python.client.device_lib": _all(_CONTEXT, "list_local_devices"),
    # tensorflow_transform, apache_beam, tf_slim
    "python.lib.io.file_io": _all(
        "intaglio.tensorflow_name.file_functions",
        "atomic_write_string_to_file file_crc32 read_file_to_string write_string_to_file",
    )
    | {"FileIO": "intaglio.tf:io.gfile.GFile"},
    "python.platform.resource_loader": _all(
        "intaglio.compat_v1.resource_files",
        "get_data_files_path get_path_to_datafile get_root_dir_with_all_resources load_resource "
        "readahead_file_path",
    ),
    # tflearn, tensorlayer
    "python.pywrap_tensorflow": {
        "NewCheckpointReader": "intaglio.compat_v1.session_checkpoints:new_checkpoint_reader"
    },
    # object_detection
    "python.saved_model.signature_constants": {
        name: f"intaglio.tf:compat.v1.saved_model.signature_constants.{name}"
        for name in (
            "CLASSIFY_INPUTS",
            "CLASSIFY_METHOD_NAME",
            "CLASSIFY_OUTPUT_CLASSES",
            "CLASSIFY_OUTPUT_SCORES",
            "DEFAULT_SERVING_SIGNATURE_DEF_KEY",
            "PREDICT_INPUTS",
            "PREDICT_METHOD_NAME",
            "PREDICT_OUTPUTS",
            "REGRESS_INPUTS",
            "REGRESS_METHOD_NAME",
            "REGRESS_OUTPUTS",
        )
    },
    # zfit: parameters that are variables
    "python.ops.tensor_getitem_override": _all(_FRAMEWORK, "_slice_helper_var=slice_variable"),
    "python.platform.flags": {name: f"absl.flags:{name}" for name in FLAGS_NAMES.split()},
    "python.ops.partitioned_variables": _all(
        "intaglio.compat_v1.partitioned_variables",
        "PartitionedVariable fixed_size_partitioner min_max_variable_partitioner "
        "variable_axis_size_partitioner",
    )
    | _all("intaglio.compat_v1.variable_scopes", "create_partitioned_variables"),
    # keras_flops: statistics of op types that programs register
    "python.profiler.internal.flops_registry": _all(
        "intaglio.insight.float_operations",
        "_binary_per_element_op_flops=binary_flops _reduction_op_flops=reduction_flops "
        "_unary_op_flops=unary_flops _zero_flops=no_flops",
    ),
    "python.framework.graph_util": {
        "tensor_shape_from_node_def_name": "intaglio.insight.float_operations:shape_of_output"
    },
    # tf_siren, DeepCTR
    "python.ops.init_ops_v2": _all(
        "intaglio.compat_v1.initializers",
        "_compute_fans=fans TruncatedNormal glorot_normal=GlorotNormal glorot_uniform=GlorotUniform",
    ),
    "python.util.tf_decorator": _all(_INSPECT, "make_decorator unwrap"),
    "python.util.tf_inspect": _all(
        _INSPECT,
        "ArgSpec FullArgSpec Parameter _inspect getargspec getcallargs getdoc getfile "
        "getframeinfo getfullargspec getmembers getmodule getmro getsource getsourcefile "
        "getsourcelines isabstract isbuiltin isclass isframe isfunction isgenerator "
        "isgeneratorfunction ismethod ismodule isroutine signature stack",
    ),
    "python.util.tf_export": _all(
        _EXPORTS,
        "api_export get_canonical_name_for_symbol get_symbol_from_name keras_export tf_export",
    ),
    "python.util.all_util": _all(_EXPORTS, "make_all remove_undocumented"),
    "tools.docs.doc_controls": _all(
        _EXPORTS,
        "do_not_doc_inheritable=same do_not_generate_docs=same "
        "doc_in_current_and_subclasses=same for_subclass_implementers=same",
    ),
    "python.util.tf_contextlib": {"contextmanager": "contextlib:contextmanager"},
    "python.util.variable_utils": _all(_FRAMEWORK, "convert_variables_to_tensors"),
    # Keras: matmul of two sparse matrices
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": {
        name: f"intaglio.tensorflow_name.sparse_products:{name}"
        for name in (
            "csr_sparse_matrix_to_sparse_tensor",
            "sparse_matrix_sparse_mat_mul",
            "sparse_tensor_to_csr_sparse_matrix",
        )
    },
    # Keras: nanmax and its like
    "python.ops.math_ops": {
        "is_nan": "intaglio.tf.math:is_nan",
        "lin_space": "intaglio.tf:linspace",
        "mod": "intaglio.tf:math.floormod",
        "mul": "intaglio.tf:multiply",
    },
    # Programs that follow the guides on tf.experimental.numpy
    "python.ops.numpy_ops.np_config": {
        "enable_numpy_behavior": "intaglio.numpy_api.np_config:experimental_enable_numpy_behavior"
    },
    # Keras: nodes of its trees
    "python.trackable.data_structures": {
        "ListWrapper": f"{_TRACKED}:ListWrapper",
        "NoDependency": f"{_TRACKED}:NoDependency",
        "_DictWrapper": f"{_TRACKED}:_DictWrapper",
        "TrackableDataStructure": f"{_TRACKED}:TrackableDataStructure",
        "sticky_attribute_assignment": f"{_TRACKED}:sticky_attribute_assignment",
        "wrap_or_unwrap": f"{_TRACKED}:wrap_or_unwrap",
    },
}

_METADATA = Path(__file__).parents[1] / "tools" / "environment" / "tensorflow.dist-info"
ALIAS = alias.Alias(
    "tensorflow", "intaglio.tf", PrivateNames(PRIVATE), absent.module_message, _METADATA
)
_TF2ONNX = "intaglio.tensorflow_name.tf2onnx"
CONVERTER = alias.Alias("tf2onnx", _TF2ONNX, {}, absent.converter_message)


def _name_classes(module: types.ModuleType) -> None:
    """Gives a class of tensors the module that it has in TensorFlow: libraries tell by it whose it is."""
    for name in ("EagerTensor", "SymbolicTensor"):
        if (cls := vars(module).get(name)) is not None and cls.__module__ == module.__name__:
            cls.__module__ = "tensorflow.python.framework.ops"


def _install_files_and_classes() -> None:
    keras_files.install()
    if "tf2onnx" not in sys.modules and find_spec("tf2onnx") is None:
        alias.install(CONVERTER)
    for module in ("intaglio.runtime.eager", "intaglio.ir.graph"):
        after_import(module, _name_classes)


def install_as_tensorflow() -> None:
    """Makes `import tensorflow`, and submodules that programs use, give Intaglio.

    In this process only, and for programs and libraries alike: unmodified scripts, Keras.
    Calling it again changes nothing. Raises ImportError if TensorFlow is imported already.

    >>> import intaglio
    >>> intaglio.install_as_tensorflow()
    >>> import tensorflow
    >>> tensorflow.constant([1, 2]).shape
    TensorShape([2])
    """
    alias.install(ALIAS)
    _install_files_and_classes()


def take_over(module: types.ModuleType) -> None:
    """As `install_as_tensorflow`, called by a module `tensorflow` while it is imported.

    Importing it gives `intaglio.tf` then.
    """
    alias.install(ALIAS, replaced=module)
    ALIAS.take_over(module)
    _install_files_and_classes()
