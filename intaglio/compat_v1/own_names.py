"""What `tf.compat.v1` has that is not TensorFlow 2's, and where it is."""

from __future__ import annotations

from intaglio.compat_v1 import absent, renamed


def _all(home: str, names: str) -> dict[str, str]:
    """These names, each at home in one module of this package; `own=theirs` where they differ."""
    pairs = (entry.partition("=") for entry in names.split())
    return {name: f"intaglio.compat_v1.{home}:{other or name}" for name, _, other in pairs}


def _renamed() -> dict[str, dict[str, str]]:
    """The functions of the table of `renamed`."""
    found: dict[str, dict[str, str]] = {}
    for name in renamed.names():
        space, _, own = name.rpartition(".")
        target = f"intaglio.compat_v1.renamed:{name.replace('.', '__')}"
        found.setdefault(space, {})[own] = target
    return found


_RECORDS = "intaglio.tensorflow_name.record_iterator:tf_record_iterator"
_EVENTS = "intaglio.graphdef.event_messages"
_MESSAGES = "intaglio.graphdef.messages"
_SAVED = "intaglio.graphdef.saved_messages"
_SIGNATURES = (
    "build_signature_def classification_signature_def is_valid_signature predict_signature_def "
    "regression_signature_def"
)
_MAIN_OPS = {
    name: f"intaglio.saved_model.session_models:{name}"
    for name in ("LEGACY_INIT_OP_KEY", "MAIN_OP_KEY")
}
_QUEUE_RUNNERS = _all("queue_runners", "QueueRunner add_queue_runner start_queue_runners")
FLAGS_NAMES = (
    "ArgumentParser ArgumentSerializer BaseListParser BooleanFlag BooleanParser CantOpenFlagFileError "
    "CsvListSerializer DEFINE DEFINE_alias DEFINE_bool DEFINE_boolean DEFINE_enum DEFINE_enum_class "
    "DEFINE_flag DEFINE_float DEFINE_integer DEFINE_list DEFINE_multi DEFINE_multi_enum "
    "DEFINE_multi_enum_class DEFINE_multi_float DEFINE_multi_integer DEFINE_multi_string "
    "DEFINE_spaceseplist DEFINE_string DuplicateFlagError EnumClassFlag EnumClassListSerializer "
    "EnumClassParser EnumClassSerializer EnumFlag EnumParser Error FLAGS Flag FlagHolder "
    "FlagNameConflictsWithMethodError FlagValues FloatParser IllegalFlagValueError IntegerParser "
    "ListParser ListSerializer MultiEnumClassFlag MultiFlag UnparsedFlagAccessError "
    "UnrecognizedFlagError ValidationError WhitespaceSeparatedListParser adopt_module_key_flags "
    "declare_key_flag disclaim_key_flags doc_to_help flag_dict_to_args get_help_width "
    "mark_bool_flags_as_mutual_exclusive mark_flag_as_required mark_flags_as_mutual_exclusive "
    "mark_flags_as_required multi_flags_validator override_value register_multi_flags_validator "
    "register_validator set_default text_wrap validator"
)
# namespace -> name -> target
OWN: dict[str, dict[str, str]] = {
    "": {
        **_all("dimensions", "dimension_at_index dimension_value"),
        **_all(
            "variable_scopes",
            "AUTO_REUSE GraphKeys VariableScope add_to_collection add_to_collections "
            "all_variables=global_variables get_collection get_collection_ref "
            "get_variable get_variable_scope global_variables "
            "global_variables_initializer initialize_all_tables=tables_initializer "
            "initialize_all_variables=global_variables_initializer "
            "initialize_local_variables=local_variables_initializer "
            "initialize_variables=variables_initializer is_variable_initialized local_variables local_variables_initializer "
            "model_variables report_uninitialized_variables tables_initializer "
            "trainable_variables variable_op_scope variable_scope variables_initializer Variable=VariableV1 "
            "create_partitioned_variables",
        ),
        **_all("templates", "make_template"),
        **_all(
            "default_graphs",
            "disable_eager_execution enable_eager_execution get_default_graph reset_default_graph",
        ),
        **_all(
            "earlier_functions",
            "assert_variables_initialized get_seed batch_to_space container convert_to_tensor_or_indexed_slices "
            "count_up_to op_scope space_to_batch sparse_matmul clip_by_average_norm get_local_variable moving_average_variables no_regularizer "
            "sparse_to_dense string_split",
        ),
        **_all(
            "partitioned_variables",
            "fixed_size_partitioner min_max_variable_partitioner variable_axis_size_partitioner",
        ),
        **_all(
            "sparse_functions",
            "convert_to_tensor_or_sparse_tensor serialize_many_sparse serialize_sparse "
            "sparse_merge=merge sparse_reduce_max_sparse=reduce_max_sparse "
            "sparse_reduce_sum_sparse=reduce_sum_sparse",
        ),
        **_all(
            "queue_readers",
            "FixedLengthRecordReader IdentityReader ReaderBase TFRecordReader TextLineReader WholeFileReader",
        ),
        **_all("wrapped_functions", "wrap_function"),
        **_all("sessions", "InteractiveSession Session get_default_session"),
        **_all(
            "behavior",
            "control_flow_v2_enabled=yes disable_control_flow_v2=already_so "
            "disable_resource_variables=already_so disable_tensor_equality=already_so "
            "disable_v2_behavior disable_v2_tensorshape enable_control_flow_v2=already_so "
            "enable_resource_variables=already_so enable_tensor_equality=already_so "
            "enable_v2_behavior enable_v2_tensorshape "
            "executing_eagerly_outside_functions resource_variables_enabled=yes",
        ),
        **_all(
            "initializers",
            "constant_initializer=Constant glorot_normal_initializer=GlorotNormal "
            "glorot_uniform_initializer=GlorotUniform ones_initializer=Ones "
            "orthogonal_initializer=Orthogonal random_normal_initializer=RandomNormal "
            "random_uniform_initializer=RandomUniform truncated_normal_initializer=TruncatedNormal "
            "uniform_unit_scaling_initializer=UniformUnitScaling "
            "variance_scaling_initializer=VarianceScaling zeros_initializer=Zeros",
        ),
        **_all(
            "assignments",
            "assign assign_add assign_sub scatter_add scatter_div "
            "scatter_max scatter_min scatter_mul scatter_nd_add scatter_nd_sub scatter_nd_update "
            "scatter_sub scatter_update while_loop placeholder_with_default name_scope "
            "colocate_with div Print",
        ),
        **{
            name: f"intaglio.graphdef.config_messages:{name}"
            for name in (
                "ConfigProto",
                "GPUOptions",
                "GraphOptions",
                "OptimizerOptions",
                "RunOptions",
            )
        },
        "DeviceSpec": "intaglio.tf:DeviceSpec",
        "GraphDef": f"{_MESSAGES}:GraphDef",
        "HistogramProto": f"{_EVENTS}:HistogramProto",
        "LogMessage": f"{_EVENTS}:LogMessage",
        "SessionLog": f"{_EVENTS}:SessionLog",
        "MetaGraphDef": f"{_SAVED}:MetaGraphDef",
        "NameAttrList": f"{_MESSAGES}:NameAttrList",
        "NodeDef": f"{_MESSAGES}:NodeDef",
        "SparseTensorValue": "intaglio.sparse.tensor:SparseTensorValue",
        "TensorInfo": f"{_SAVED}:TensorInfo",
        "VariableAggregation": "intaglio.tf:VariableAggregation",
        "device": "intaglio.tf:device",
        "executing_eagerly": "intaglio.tf:executing_eagerly",
        "keras": "intaglio.tensorflow_name.package:keras_of_v1",
        "layers": "intaglio.tensorflow_name.package:layers",
        "__version__": "intaglio.tf:__version__",
        "compat": "intaglio.tf:compat",
        "raw_ops": "intaglio.tf:raw_ops",
        "variable_creator_scope": "intaglio.tf:variable_creator_scope",
    },
    "losses": _all(
        "losses",
        "Reduction absolute_difference add_loss compute_weighted_loss cosine_distance get_losses "
        "get_regularization_loss get_regularization_losses get_total_loss hinge_loss huber_loss "
        "log_loss mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy softmax_cross_entropy "
        "sparse_softmax_cross_entropy",
    ),
    "graph_util": _all(
        "constants",
        "convert_variables_to_constants extract_sub_graph remove_training_nodes "
        "tensor_shape_from_node_def_name",
    ),
    "metrics": _all(
        "metrics",
        "accuracy auc false_negatives false_negatives_at_thresholds false_positives "
        "false_positives_at_thresholds mean mean_absolute_error mean_cosine_distance mean_iou "
        "mean_per_class_accuracy mean_relative_error mean_squared_error mean_tensor "
        "percentage_below precision precision_at_thresholds recall recall_at_thresholds "
        "root_mean_squared_error sensitivity_at_specificity specificity_at_sensitivity "
        "true_negatives true_negatives_at_thresholds true_positives true_positives_at_thresholds",
    )
    | _all(
        "metrics_at_k",
        "average_precision_at_k precision_at_k precision_at_top_k recall_at_k recall_at_top_k "
        "sparse_average_precision_at_k=average_precision_at_k sparse_precision_at_k=precision_at_k",
    ),
    "autograph": {
        "to_code": "intaglio.compat_v1.behavior:to_code",
        "to_graph": "intaglio.compat_v1.behavior:to_graph",
    },
    "data.experimental": _all(
        "values",
        "RaggedTensorStructure=ragged_tensor_structure SparseTensorStructure=sparse_tensor_structure "
        "TensorArrayStructure=tensor_array_structure TensorStructure=tensor_structure",
    )
    | {"map_and_batch_with_legacy_function": "intaglio.tf:data.experimental.map_and_batch"},
    "experimental": _all("earlier_functions", "output_all_intermediates"),
    "random": _all("earlier_functions", "get_seed"),
    "mixed_precision": _all("earlier_functions", "disable_mixed_precision_graph_rewrite"),
    "tpu": _all("earlier_functions", "bfloat16_scope cross_replica_sum"),
    "train.experimental": _all("earlier_functions", "disable_mixed_precision_graph_rewrite"),
    "distribute": _all("earlier_functions", "get_loss_reduction"),
    "errors": _all(
        "earlier_functions", "error_code_from_exception_type exception_type_from_error_code"
    ),
    "ragged": _all("values", "RaggedTensorValue constant_value placeholder=ragged_placeholder"),
    "resource_loader": _all(
        "resource_files",
        "get_data_files_path get_path_to_datafile get_root_dir_with_all_resources load_resource "
        "readahead_file_path",
    ),
    "sparse": _all("sparse_functions", "merge placeholder reduce_max_sparse reduce_sum_sparse"),
    "test": _all(
        "graph_tests",
        "StubOutForTesting assert_equal_graph_def compute_gradient compute_gradient_error "
        "get_temp_dir test_src_dir_path",
    )
    | {"mock": "unittest.mock"},
    "initializers": _all(
        "variable_scopes",
        "global_variables=global_variables_initializer local_variables=local_variables_initializer "
        "tables_initializer variables=variables_initializer",
    )
    | _all(
        "initializers",
        "constant=Constant glorot_normal=GlorotNormal glorot_uniform=GlorotUniform "
        "he_normal=HeNormal he_uniform=HeUniform identity=Identity lecun_normal=LecunNormal "
        "lecun_uniform=LecunUniform ones=Ones orthogonal=Orthogonal random_normal=RandomNormal "
        "random_uniform=RandomUniform uniform_unit_scaling=UniformUnitScaling truncated_normal=TruncatedNormal "
        "variance_scaling=VarianceScaling zeros=Zeros",
    ),
    "gfile": dict.fromkeys(("FastGFile", "GFile", "Open"), "intaglio.tf.io.gfile:GFile"),
    "data": {
        name: f"intaglio.data.session_datasets:{name}"
        for name in ("FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset")
    }
    | {
        "Dataset": "intaglio.data.session_datasets:DatasetV1",
        **{
            name: f"intaglio.data.session_iterators:{name}"
            for name in ("Iterator", "make_initializable_iterator", "make_one_shot_iterator")
        },
        "get_output_classes": "intaglio.compat_v1.values:output_classes",
        "get_output_shapes": "intaglio.compat_v1.values:output_shapes",
        "get_output_types": "intaglio.compat_v1.values:output_types",
    },
    "saved_model": {
        **_all("signature_defs", f"build_tensor_info get_tensor_from_tensor_info {_SIGNATURES}"),
        **_all(
            "saved_models",
            "Builder=SavedModelBuilder load main_op_with_restore maybe_saved_model_directory simple_save",
        ),
        **_MAIN_OPS,
        "load_v2": "intaglio.tf.saved_model:load",
        "contains_saved_model": "intaglio.tf.saved_model:contains_saved_model",
    },
    "saved_model.builder": _all("saved_models", "SavedModelBuilder"),
    "saved_model.constants": _MAIN_OPS,
    "saved_model.loader": _all("saved_models", "load maybe_saved_model_directory"),
    "saved_model.main_op": _all("saved_models", "main_op main_op_with_restore"),
    "saved_model.signature_def_utils": _all("signature_defs", _SIGNATURES),
    "saved_model.utils": _all("signature_defs", "build_tensor_info get_tensor_from_tensor_info"),
    "summary": {
        name: f"{_EVENTS}:{name}"
        for name in ("Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata")
    }
    | _all("file_writers", "FileWriter FileWriterCache")
    | _all(
        "summaries",
        "all_v2_summary_ops audio get_summary_description histogram image initialize merge "
        "merge_all scalar tensor_summary text",
    ),
    "train": _all(
        "optimizers",
        "AdadeltaOptimizer AdagradDAOptimizer AdagradOptimizer AdamOptimizer FtrlOptimizer "
        "GradientDescentOptimizer MomentumOptimizer ProximalAdagradOptimizer "
        "ProximalGradientDescentOptimizer RMSPropOptimizer",
    )
    | _all("optimizer", "Optimizer")
    | _all(
        "global_steps", "create_global_step get_global_step get_or_create_global_step global_step"
    )
    | _all(
        "learning_rates",
        "cosine_decay cosine_decay_restarts exponential_decay inverse_time_decay linear_cosine_decay "
        "natural_exp_decay noisy_linear_cosine_decay piecewise_constant "
        "piecewise_constant_decay=piecewise_constant polynomial_decay",
    )
    | _all("earlier_functions", "assert_global_step replica_device_setter summary_iterator")
    | _all("supervisors", "SessionManager Supervisor VocabInfo basic_train_loop warm_start")
    | _all(
        "input_pipelines",
        "batch batch_join input_producer limit_epochs maybe_batch maybe_batch_join "
        "maybe_shuffle_batch maybe_shuffle_batch_join range_input_producer shuffle_batch "
        "shuffle_batch_join slice_input_producer string_input_producer",
    )
    | _QUEUE_RUNNERS
    | _all("queue_runners", "LooperThread")
    | _all(
        "monitored_sessions",
        "ChiefSessionCreator MonitoredSession MonitoredTrainingSession Scaffold SessionCreator "
        "SingularMonitoredSession WorkerSessionCreator",
    )
    | _all(
        "basic_hooks",
        "CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook GlobalStepWaiterHook "
        "LoggingTensorHook NanLossDuringTrainingError NanTensorHook StepCounterHook "
        "StopAtStepHook SummarySaverHook",
    )
    | _all("step_timers", "SecondOrStepTimer")
    | _all(
        "session_checkpoints",
        "Checkpoint NewCheckpointReader=new_checkpoint_reader init_from_checkpoint",
    )
    | _all("savers", "Saver import_meta_graph")
    | _all("session_run_hooks", "SessionRunArgs SessionRunContext SessionRunHook SessionRunValues")
    | _all("meta_graphs", "export_meta_graph")
    | _all(
        "checkpoints",
        "checkpoint_exists generate_checkpoint_state_proto get_checkpoint_mtimes remove_checkpoint "
        "update_checkpoint_state",
    )
    | {"SaverDef": f"{_SAVED}:SaverDef"},
    "train.queue_runner": _QUEUE_RUNNERS,
    "image": _all(
        "earlier_functions",
        "draw_bounding_boxes resize=resize_images resize_image_with_pad resize_images sample_distorted_bounding_box",
    ),
    "io": {"tf_record_iterator": _RECORDS}
    | _all("sparse_functions", "serialize_many_sparse serialize_sparse")
    | _all("values", "TFRecordCompressionType"),
    "python_io": {"tf_record_iterator": _RECORDS} | _all("values", "TFRecordCompressionType"),
    "strings": _all("earlier_functions", "split=strings_split"),
    "nn": _all(
        "recurrent",
        "bidirectional_dynamic_rnn dynamic_rnn raw_rnn static_bidirectional_rnn static_rnn "
        "static_state_saving_rnn",
    )
    | _all(
        "earlier_functions",
        "ctc_beam_search_decoder ctc_loss dropout embedding_lookup erosion2d fused_batch_norm relu_layer "
        "space_to_batch xw_plus_b",
    )
    | _all("sparse_functions", "embedding_lookup_sparse safe_embedding_lookup_sparse")
    | {"rnn_cell": "intaglio.tensorflow_name.package:rnn_cell"},
    "app": {"run": "absl.app:run", "flags": "absl.flags"},
    "flags": {name: f"absl.flags:{name}" for name in FLAGS_NAMES.split()},
    "profiler": {
        "GraphNodeProto": "intaglio.graphdef.graph_profile_messages:GraphNodeProto",
        "MultiGraphNodeProto": "intaglio.graphdef.graph_profile_messages:MultiGraphNodeProto",
        "ProfileOptionBuilder": "intaglio.insight.profile_options:ProfileOptionBuilder",
        "Profiler": "intaglio.insight.graph_profile:Profiler",
        "profile": "intaglio.insight.graph_profile:profile",
    },
    "feature_column": {
        "input_layer": "intaglio.feature_columns.graph_layers:input_layer",
        "linear_model": "intaglio.feature_columns.graph_layers:linear_model",
        "shared_embedding_columns": "intaglio.feature_columns.embeddings:shared_embeddings",
    },
    "lookup": {
        name: f"intaglio.lookup.tables:{name}V1"
        for name in ("StaticHashTable", "StaticVocabularyTable")
    },
    "logging": _all(
        "logging",
        "DEBUG ERROR FATAL INFO WARN debug error fatal flush get_verbosity info log log_every_n "
        "log_first_n log_if set_verbosity TaskLevelStatusMessage=info vlog warn warning",
    ),
}

for _space, _names in (*_renamed().items(), *absent.spaces().items()):
    OWN[_space] = {**_names, **OWN.get(_space, {})}
