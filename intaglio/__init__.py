"""Intaglio: `tf.function` without TensorFlow."""

import os
import warnings
from typing import TYPE_CHECKING

from intaglio import bootstrap, ops
from intaglio.base import later
from intaglio.graphdef import spec_classes
from intaglio.opdef import door, products
from intaglio.runtime import direct_calls, eager, random_state

__version__ = "0.1.0"

# Imported for what they register: hooks between layers, the catalogue, executors.
_REGISTERED = bootstrap, ops, products, direct_calls, random_state
eager.install_fast_operators()
door.stack()  # before there are threads, which must not make one each

# The type specs of higher layers, by their numbers in saved structures: also files of tools and servers
# have them, which import no `tf`.
spec_classes.expect(
    {
        1: "intaglio.sparse.api:SparseTensorSpec",
        3: "intaglio.ragged.api:RaggedTensorSpec",
        10: "intaglio.ragged.api:RowPartitionSpec",
    }
)
spec_classes.expect_extensions(
    dict.fromkeys(
        ("tf.EagerWeakTensor.Spec", "tf.GraphWeakTensor.Spec", "tf.WeakTensor.Spec"),
        "intaglio.promotion.weak_tensor:WeakTensorSpec",
    )
)

# log(-1) is NaN and 1e30 in float16 is infinity, without a word, as in TensorFlow.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"intaglio\.")

# What goes beyond TensorFlow, imported when it is first asked for.
__getattr__, _names = later.attributes(
    __name__,
    {
        "tf": "intaglio.tf",
        "StaleCaptureError": "intaglio.function.captures:StaleCaptureError",
        "NewTraceError": "intaglio.function.control:NewTraceError",
        "RetraceBudgetError": "intaglio.function.control:RetraceBudgetError",
        "SideEffectError": "intaglio.autograph.side_effects:SideEffectError",
        "backend": "intaglio.function.control:backend",
        "default_device": "intaglio.function.control:default_device",
        "bisect": "intaglio.debugging.bisection:bisect",
        "NonFiniteError": "intaglio.debugging.nans:NonFiniteError",
        "captures": "intaglio.function.captures:captures",
        "check_nans": "intaglio.debugging.nans:check_nans",
        "DimensionError": "intaglio.type_specs.dimensions:DimensionError",
        "dims": "intaglio.type_specs.dimensions:dims",
        "ExportError": "intaglio.export.signatures:ExportError",
        "export_library": "intaglio.export.library:export_library",
        "export_onnx": "intaglio.export.onnx_models:export_onnx",
        "effects": "intaglio.function.captures:effects",
        "export_stablehlo": "intaglio.function.stablehlo:export_stablehlo",
        "load_onnx": "intaglio.export.onnx_models:load_onnx",
        "load_stablehlo": "intaglio.function.stablehlo:load_stablehlo",
        "generalise": "intaglio.function.generalisation:generalise",
        "install_as_tensorflow": "intaglio.tensorflow_name.names:install_as_tensorflow",
        "explain_error": "intaglio.insight.error_codes:explain_error",
        "graph_of_text": "intaglio.insight.text_form:graph_of_text",
        "graph_diff": "intaglio.insight.differences:graph_diff",
        "report": "intaglio.insight.run_report:report",
        "save_profile": "intaglio.insight.profile_files:save_profile",
        "profile": "intaglio.insight.profiling:profile",
        "picture": "intaglio.insight.picture:picture",
        "last_error": "intaglio.function.error_reports:last_error",
        "last_retrace": "intaglio.function.retracing:last_retrace",
        "overhead": "intaglio.insight.overhead:overhead",
        "fingerprint": "intaglio.insight.fingerprint:fingerprint",
        "recursion": "intaglio.function.recursion:recursion",
        "python_state": "intaglio.autograph.declared_state:python_state",
        "record_calls": "intaglio.debugging.replaying:record_calls",
        "retrace_budget": "intaglio.function.control:retrace_budget",
        "stance": "intaglio.function.control:stance",
        "Verification": "intaglio.debugging.verification:Verification",
        "VerificationError": "intaglio.debugging.verification:VerificationError",
        "trace_cache": "intaglio.function.trace_limits:trace_cache",
        "strict": "intaglio.autograph.strictness:strict",
        "variables": "intaglio.trace.variable_creation:variables",
        "watch": "intaglio.debugging.watching:watch",
        "verify": "intaglio.debugging.verification:verify",
    },
)
if TYPE_CHECKING:
    from intaglio.autograph.declared_state import python_state
    from intaglio.autograph.side_effects import SideEffectError
    from intaglio.autograph.strictness import strict
    from intaglio.debugging.bisection import bisect
    from intaglio.debugging.nans import NonFiniteError, check_nans
    from intaglio.debugging.replaying import record_calls
    from intaglio.debugging.verification import Verification, VerificationError, verify
    from intaglio.debugging.watching import watch
    from intaglio.export.library import export_library
    from intaglio.export.onnx_models import export_onnx, load_onnx
    from intaglio.export.signatures import ExportError
    from intaglio.function.captures import StaleCaptureError, captures, effects
    from intaglio.function.control import (
        NewTraceError,
        RetraceBudgetError,
        backend,
        default_device,
        retrace_budget,
        stance,
    )
    from intaglio.function.error_reports import last_error
    from intaglio.function.generalisation import generalise
    from intaglio.function.recursion import recursion
    from intaglio.function.retracing import last_retrace
    from intaglio.function.stablehlo import export_stablehlo, load_stablehlo
    from intaglio.function.trace_limits import trace_cache
    from intaglio.insight.differences import graph_diff
    from intaglio.insight.error_codes import explain_error
    from intaglio.insight.fingerprint import fingerprint
    from intaglio.insight.overhead import overhead
    from intaglio.insight.picture import picture
    from intaglio.insight.profile_files import save_profile
    from intaglio.insight.profiling import profile
    from intaglio.insight.run_report import report
    from intaglio.insight.text_form import graph_of_text
    from intaglio.tensorflow_name.names import install_as_tensorflow
    from intaglio.trace.variable_creation import variables
    from intaglio.type_specs.dimensions import DimensionError, dims

if "INTAGLIO_REPORT" in os.environ:
    later.named("intaglio.insight.run_report:begin_if_wanted")()

__all__ = [
    "DimensionError",
    "ExportError",
    "NewTraceError",
    "NonFiniteError",
    "RetraceBudgetError",
    "SideEffectError",
    "StaleCaptureError",
    "Verification",
    "VerificationError",
    "__version__",
    "backend",
    "bisect",
    "captures",
    "check_nans",
    "default_device",
    "dims",
    "effects",
    "explain_error",
    "export_library",
    "export_onnx",
    "export_stablehlo",
    "fingerprint",
    "generalise",
    "graph_diff",
    "graph_of_text",
    "install_as_tensorflow",
    "last_error",
    "last_retrace",
    "load_onnx",
    "load_stablehlo",
    "overhead",
    "picture",
    "profile",
    "python_state",
    "record_calls",
    "recursion",
    "report",
    "retrace_budget",
    "save_profile",
    "stance",
    "strict",
    "trace_cache",
    "variables",
    "verify",
    "watch",
]


def __dir__() -> list[str]:
    """What is public: completion in an editor shows neither layers nor what this module imports."""
    return sorted({"tf", *__all__, *[name for name in _names() if name.startswith("__")]})
