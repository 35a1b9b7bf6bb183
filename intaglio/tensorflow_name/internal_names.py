"""The namespaces of `tf.__internal__` as a table: namespace -> name -> where it is.

Keras 2 (`tf_keras`), TensorFlow Probability and TF-GNN use them.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.namespaces import Namespaces

_HERE = "intaglio.tensorflow_name"


def _all(home: str, names: str) -> dict[str, str]:
    """These names, each at home in one module of this package; `own=theirs` where they differ."""
    pairs = (entry.partition("=") for entry in names.split())
    return {name: f"{_HERE}.{home}:{other or name}" for name, _, other in pairs}


def _of(module: str, names: str) -> dict[str, str]:
    """Names of a module of feature columns."""
    return {name: f"intaglio.feature_columns.{module}:{name}" for name in names.split()}


INTERNAL: dict[str, dict[str, str]] = {
    "": {
        "CompositeTensor": "intaglio.base.composite:CompositeTensor",
        "EagerTensor": "intaglio.runtime.eager:EagerTensor",
        "FuncGraph": "intaglio.trace.opened_graph:OpenedGraph",
        "SymbolicTensor": "intaglio.ir.graph:SymbolicTensor",
        "distribute": "intaglio.tf.internal.distribute",
        "smart_cond": "intaglio.composite_ops.smart_cond",
        "types": "intaglio.tf.internal.types",
        **_all(
            "internals",
            "execute_fn_for_device get_name_scope load_context register_call_context_function=no_callback "
            "register_clear_session_function=no_callback register_get_session_function=no_callback "
            "register_load_model_function=no_callback",
        ),
        **_all("op_creation", "create_c_op record_gradient"),
    },
    "autograph": _all("internals", "control_status_ctx tf_convert"),
    "decorator": _all("inspection", "make_decorator unwrap=unwrap"),
    "dispatch": _all(
        "dispatchers", "GlobalOpDispatcher OpDispatcher add_dispatch_support dispatch_for_types"
    ),
    "eager_context": {"eager_mode": "intaglio.trace.scopes:eager_mode"},
    "feature_column": {
        **_of("column", "DenseColumn FeatureColumn SequenceDenseColumn"),
        **_of("serialization", "deserialize_feature_column serialize_feature_column"),
        **_of("transformation", "FeatureTransformationCache StateManager"),
    },
    "function": {"Function": "intaglio.function.polymorphic:Function"},
    "mixed_precision": _all("internals", "register_loss_scale_wrapper=no_callback"),
    "nest": _all(
        "structures",
        "flatten_up_to get_traverse_shallow_structure is_attrs is_mapping list_to_tuple "
        "map_structure_up_to sequence_like yield_flat_paths",
    ),
    "ops": _all("framework", "broadcast_weights is_resource_variable"),
    "saved_model": {
        **_all("saved_model_parts", "load_partial parse_saved_model"),
        "decode_proto": "intaglio.graphdef.structured:decode",
        "encode_structure": "intaglio.graphdef.structured:encode",
    },
    "saved_model.load": {
        name: f"intaglio.saved_model.revived:{name}"
        for name in (
            "VersionedTypeRegistration",
            "get_setter",
            "register_revived_type",
            "registered_identifiers",
        )
    },
    "test.combinations": {
        name: f"intaglio.testing.combinations:{name}"
        for name in (
            "EagerGraphCombination",
            "NamedObject",
            "OptionalParameter",
            "ParameterModifier",
            "TestCombination",
            "combine",
            "generate",
            "times",
        )
    },
    "tf2": _all("framework", "enabled"),
    "tracking": {
        **_all(
            "internals",
            "AutoTrackable DelegatingTrackableMixin Trackable "
            "register_session_provider=no_callback",
        ),
        **_all(
            "tracked_structures",
            "TrackableDataStructure sticky_attribute_assignment wrap=wrap_or_unwrap",
        ),
        **_all("saved_objects", "saveable_objects_from_trackable streaming_restore"),
        "CheckpointInitialValueCallable": "intaglio.saved_model.slots:CheckpointInitialValueCallable",
        "ObjectGraphView": "intaglio.saved_model.views:TrackableView",
        "no_automatic_dependency_tracking": "intaglio.state.tracking:no_automatic_dependency_tracking",
    },
    "train": _all(
        "internals",
        "assign_moving_average is_mixed_precision_graph_rewrite_enabled=never "
        "set_using_mixed_precision_policy=no_callback update_checkpoint_state=no_callback",
    ),
}

SPACES = Namespaces("intaglio.tf.internal", __name__, lambda: INTERNAL)


def __getattr__(name: str) -> Any:
    """The module of a namespace."""
    return SPACES.module(name)
