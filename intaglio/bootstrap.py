"""The table of all upward calls between layers: the function behind each field of a layer's hooks.

Imports go down the layers. Where a layer calls one above it, or a module one that is imported
after it, the call goes through a field of the layer's `hooks` module, which states its type. This
table is the only place where such fields get what they call. A place is a module and a name in it;
it is imported at the first call, so that importing the package costs no more for a table.
"""

from __future__ import annotations

from collections.abc import Mapping

from intaglio.base import hooks

UPWARD_CALLS: Mapping[str, Mapping[str, str]] = {
    "intaglio.base.hooks": {
        "shape_proto": "intaglio.graphdef.tensors:shape_proto",
        "message_forms": "intaglio.graphdef.spec_protos:FORMS",
        "select_kernel": "intaglio.native:select_kernel",
        "kernel_when_ready": "intaglio.native:kernel_when_ready",
        "html": "intaglio.insight.html:html_of",
        "accelerators": "intaglio.xla:accelerators",
        "accelerator_memory": "intaglio.xla:accelerator_memory",
        "accelerator_details": "intaglio.xla:accelerator_details",
    },
    "intaglio.opdef.hooks": {
        "eager_level": "intaglio.runtime.eager:EagerLevel",
        "first_level": "intaglio.runtime.placement:first_level",
        "watched_call": "intaglio.autodiff.calls:watched_call",
        "direct_call": "intaglio.runtime.direct_calls:direct",
        "indexed_slices_spec": "intaglio.type_specs.indexed_slices_spec:spec_of",
        "public_face": "intaglio.tf",
    },
    "intaglio.ir.hooks": {
        "exporter": "intaglio.graphdef.exporter:EXPORTER",
        "run_in_session": "intaglio.compat_v1.sessions:run_in_session",
    },
    "intaglio.ops.hooks": {
        "record_python_call": "intaglio.autodiff.python_calls:record",
        "replay_python_call": "intaglio.autodiff.python_calls:replay",
        "module_program": "intaglio.xla:module_program",
    },
    "intaglio.runtime.hooks": {
        # Services that kernels ask for by the names of their parameters.
        "run": "intaglio.runtime.interpreter:run_graph",
        "wrap": "intaglio.runtime.eager:from_array",
        "resources": "intaglio.runtime.resources:MANAGER",
        "stream": "intaglio.runtime.random_state:SEEDS",
        "raises": "intaglio.runtime.interpreter:ERROR_OF_NODE",
        # Calls to other modules and layers.
        "compile_repeated": "intaglio.function.pipeline:repeated",
        "compiles_at_once": "intaglio.function.pipeline:compiles_at_once",
        "native_operators": "intaglio.native:eager_operators",
        "copy_to_mesh": "intaglio.distribute.dtensor.placing:copy_to_mesh",
        "dlpack_capsule": "intaglio.runtime.dlpack:export",
        "accelerator_level": "intaglio.accelerators.tensors:AcceleratorLevel",
        "moved": "intaglio.accelerators.tensors:moved",
        "of_dlpack": "intaglio.accelerators.tensors:of_dlpack",
        "replicas_with": "intaglio.distribute.contexts:replicas_with",
    },
    "intaglio.type_specs.hooks": {"list_observer": "intaglio.autograph.watches:OBSERVER"},
    "intaglio.state.hooks": {
        "variable_def": "intaglio.compat_v1.meta_graphs:variable_def_in",
        "variable_of_def": "intaglio.compat_v1.meta_graphs:variable_of_def",
        "variable": "intaglio.state.variable:Variable",
        "variable_on": "intaglio.accelerators.variables:AcceleratorVariable",
        "variable_of_handle": "intaglio.state.variable:BoundVariable",
        "strategy_in_force": "intaglio.distribute.contexts:strategy_in_force",
        "replica_id_in": "intaglio.distribute.contexts:replica_id_in",
        "update_in": "intaglio.distribute.contexts:update_in",
        "sum_of_replicas": "intaglio.distribute.contexts:sum_of_replicas",
        "is_first_replica": "intaglio.distribute.contexts:is_first_replica",
    },
    "intaglio.autograph.hooks": {"operators": "intaglio.autograph.operators"},
    "intaglio.function.hooks": {
        "trace_recursive": "intaglio.function.polymorphic:traced",
        "note_code": "intaglio.insight.error_codes:note_code",
        "to_text": "intaglio.insight.text_form:to_text",
        "to_python": "intaglio.insight.numpy_program:to_python",
        "picture": "intaglio.insight.picture:picture",
        "trace_profile": "intaglio.insight.trace_profile:trace_profile",
        "stage": "intaglio.insight.stages:stage_of",
        "replay": "intaglio.debugging.replaying:replay",
        "verified_call": "intaglio.debugging.verification:verified_call",
    },
    "intaglio.sparse.hooks": {"spec_of": "intaglio.sparse.spec:spec_of"},
    "intaglio.ragged.hooks": {"spec_of": "intaglio.ragged.spec:spec_of"},
    "intaglio.data.hooks": {
        "dataset": "intaglio.data.dataset:Dataset",
        "iterator": "intaglio.data.iterating:Iterator",
        "optional": "intaglio.data.iterating:Optional",
        "dataset_of_handle": "intaglio.data.dataset:of_handle",
    },
    "intaglio.distribute.hooks": {
        "default_strategy": "intaglio.distribute.strategy:DEFAULT",
        "separate": "intaglio.distribute.cross_replica:SEPARATE",
    },
}

hooks.wire(UPWARD_CALLS)
