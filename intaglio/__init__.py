"""Intaglio: `tf.function` without TensorFlow."""

import warnings
from typing import TYPE_CHECKING

from intaglio import bootstrap, ops
from intaglio.base import later
from intaglio.opdef import door
from intaglio.runtime import direct_calls, eager, random_state

__version__ = "0.1.0"

eager.install_fast_operators()
door.stack()  # before there are threads, which must not make one each

# log(-1) is NaN and 1e30 in float16 is infinity, without a word, as in TensorFlow.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"intaglio\.")

# What goes beyond TensorFlow, imported when it is first asked for.
__getattr__, __dir__ = later.attributes(
    __name__,
    {
        "StaleCaptureError": "intaglio.function.captures:StaleCaptureError",
        "NewTraceError": "intaglio.function.control:NewTraceError",
        "RetraceBudgetError": "intaglio.function.control:RetraceBudgetError",
        "SideEffectError": "intaglio.autograph.side_effects:SideEffectError",
        "captures": "intaglio.function.captures:captures",
        "effects": "intaglio.function.captures:effects",
        "install_as_tensorflow": "intaglio.tensorflow_name.names:install_as_tensorflow",
        "last_error": "intaglio.function.error_reports:last_error",
        "recursion": "intaglio.function.recursion:recursion",
        "python_state": "intaglio.autograph.declared_state:python_state",
        "retrace_budget": "intaglio.function.control:retrace_budget",
        "stance": "intaglio.function.control:stance",
        "trace_cache": "intaglio.function.trace_limits:trace_cache",
        "strict": "intaglio.autograph.strictness:strict",
    },
)
if TYPE_CHECKING:
    from intaglio.autograph.declared_state import python_state
    from intaglio.autograph.side_effects import SideEffectError
    from intaglio.autograph.strictness import strict
    from intaglio.function.captures import StaleCaptureError, captures, effects
    from intaglio.function.control import NewTraceError, RetraceBudgetError, retrace_budget, stance
    from intaglio.function.error_reports import last_error
    from intaglio.function.recursion import recursion
    from intaglio.function.trace_limits import trace_cache
    from intaglio.tensorflow_name.names import install_as_tensorflow

__all__ = [
    "NewTraceError",
    "RetraceBudgetError",
    "SideEffectError",
    "StaleCaptureError",
    "__version__",
    "bootstrap",
    "captures",
    "direct_calls",
    "effects",
    "install_as_tensorflow",
    "last_error",
    "ops",
    "random_state",
    "recursion",
    "python_state",
    "retrace_budget",
    "stance",
    "strict",
    "trace_cache",
]
