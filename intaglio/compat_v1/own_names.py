"""What `tf.compat.v1` has that is not TensorFlow 2's, and where it is."""

from __future__ import annotations

from intaglio.compat_v1 import renamed


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


_EVENTS = "intaglio.graphdef.event_messages"
_MESSAGES = "intaglio.graphdef.messages"
_SAVED = "intaglio.graphdef.saved_messages"
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
            "initialize_variables=variables_initializer local_variables local_variables_initializer "
            "make_template model_variables report_uninitialized_variables tables_initializer "
            "trainable_variables variable_scope variables_initializer Variable=VariableV1",
        ),
        **_all(
            "default_graphs",
            "disable_eager_execution enable_eager_execution get_default_graph reset_default_graph",
        ),
        **_all("sessions", "InteractiveSession Session get_default_session"),
        **_all(
            "behavior",
            "control_flow_v2_enabled=yes disable_control_flow_v2=already_so "
            "disable_resource_variables=already_so disable_tensor_equality=already_so "
            "disable_v2_behavior disable_v2_tensorshape=already_so enable_control_flow_v2=already_so "
            "enable_resource_variables=already_so enable_tensor_equality=already_so "
            "enable_v2_behavior enable_v2_tensorshape=already_so "
            "executing_eagerly_outside_functions resource_variables_enabled=yes",
        ),
        **_all(
            "initializers",
            "constant_initializer=Constant glorot_normal_initializer=GlorotNormal "
            "glorot_uniform_initializer=GlorotUniform ones_initializer=Ones "
            "orthogonal_initializer=Orthogonal random_normal_initializer=RandomNormal "
            "random_uniform_initializer=RandomUniform truncated_normal_initializer=TruncatedNormal "
            "variance_scaling_initializer=VarianceScaling zeros_initializer=Zeros",
        ),
        **_all(
            "assignments",
            "assign assign_add assign_sub is_variable_initialized scatter_add scatter_div "
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
        "MetaGraphDef": f"{_SAVED}:MetaGraphDef",
        "NameAttrList": f"{_MESSAGES}:NameAttrList",
        "NodeDef": f"{_MESSAGES}:NodeDef",
        "SparseTensorValue": "intaglio.compat_v1.values:SparseTensorValue",
        "TensorInfo": f"{_SAVED}:TensorInfo",
        "VariableAggregation": "intaglio.tf:VariableAggregation",
        "device": "intaglio.tf:device",
        "executing_eagerly": "intaglio.tf:executing_eagerly",
        "keras": "intaglio.tensorflow_name.package:keras_of_v1",
        "layers": "intaglio.tensorflow_name.package:layers",
        "tuple": "intaglio.tf:tuple",
        "variable_creator_scope": "intaglio.tf:variable_creator_scope",
    },
    "losses": _all(
        "losses",
        "Reduction absolute_difference add_loss compute_weighted_loss cosine_distance get_losses "
        "get_regularization_loss get_regularization_losses get_total_loss hinge_loss huber_loss "
        "log_loss mean_squared_error sigmoid_cross_entropy softmax_cross_entropy "
        "sparse_softmax_cross_entropy",
    ),
    "ragged": _all("values", "RaggedTensorValue"),
    "initializers": _all(
        "initializers",
        "constant=Constant glorot_normal=GlorotNormal glorot_uniform=GlorotUniform "
        "he_normal=HeNormal he_uniform=HeUniform identity=Identity lecun_normal=LecunNormal "
        "lecun_uniform=LecunUniform ones=Ones orthogonal=Orthogonal random_normal=RandomNormal "
        "random_uniform=RandomUniform truncated_normal=TruncatedNormal "
        "variance_scaling=VarianceScaling zeros=Zeros",
    ),
    "gfile": {
        old: f"intaglio.tf.io.gfile:{new}"
        for old, new in (
            ("Copy", "copy"),
            ("DeleteRecursively", "rmtree"),
            ("Exists", "exists"),
            ("GFile", "GFile"),
            ("Glob", "glob"),
            ("IsDirectory", "isdir"),
            ("ListDirectory", "listdir"),
            ("MakeDirs", "makedirs"),
            ("MkDir", "mkdir"),
            ("Open", "GFile"),
            ("Remove", "remove"),
            ("Rename", "rename"),
            ("Stat", "stat"),
            ("Walk", "walk"),
        )
    },
    "data": {
        name: f"intaglio.tf.data:{name}"
        for name in ("Dataset", "FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset")
    }
    | {
        "Iterator": "intaglio.tf.data:Iterator",
        "make_one_shot_iterator": "builtins:iter",
        "get_output_classes": "intaglio.compat_v1.values:output_classes",
        "get_output_shapes": "intaglio.compat_v1.values:output_shapes",
        "get_output_types": "intaglio.compat_v1.values:output_types",
    },
    "saved_model": {
        "load_v2": "intaglio.tf.saved_model:load",
        "contains_saved_model": "intaglio.tf.saved_model:contains_saved_model",
    },
    "summary": {name: f"{_EVENTS}:{name}" for name in ("Event", "Summary")},
    "train": _all(
        "optimizers",
        "AdadeltaOptimizer AdagradOptimizer AdamOptimizer FtrlOptimizer GradientDescentOptimizer "
        "MomentumOptimizer Optimizer RMSPropOptimizer",
    )
    | _all(
        "global_steps", "create_global_step get_global_step get_or_create_global_step global_step"
    )
    | _all(
        "learning_rates",
        "cosine_decay cosine_decay_restarts exponential_decay inverse_time_decay linear_cosine_decay "
        "natural_exp_decay noisy_linear_cosine_decay piecewise_constant "
        "piecewise_constant_decay=piecewise_constant polynomial_decay",
    )
    | _all("savers", "Saver import_meta_graph")
    | _all("session_run_hooks", "SessionRunArgs SessionRunContext SessionRunHook SessionRunValues")
    | _all("meta_graphs", "export_meta_graph")
    | _all(
        "checkpoints",
        "checkpoint_exists generate_checkpoint_state_proto get_checkpoint_mtimes remove_checkpoint "
        "update_checkpoint_state",
    )
    | {
        "SaverDef": f"{_SAVED}:SaverDef",
        "NewCheckpointReader": "intaglio.tf.train:load_checkpoint",
        "Checkpoint": "intaglio.tf.train:Checkpoint",
    },
    "nn": {"rnn_cell": "intaglio.tensorflow_name.package:rnn_cell"},
    "app": {"run": "absl.app:run", "flags": "absl.flags"},
    "flags": {"FLAGS": "absl.flags:FLAGS"},
    "logging": _all(
        "logging",
        "DEBUG ERROR FATAL INFO WARN debug error fatal flush get_verbosity info log log_every_n "
        "log_first_n log_if set_verbosity TaskLevelStatusMessage=info vlog warn warning",
    ),
}

for _space, _names in _renamed().items():
    OWN[_space] = {**_names, **OWN.get(_space, {})}
