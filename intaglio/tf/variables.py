"""Variables and modules.

Follows https://www.tensorflow.org/api_docs/python/tf/Variable and
https://www.tensorflow.org/api_docs/python/tf/Module.
"""

from __future__ import annotations

from intaglio.state.creation import (
    VariableAggregation,
    VariableSynchronization,
    variable_creator_scope,
)
from intaglio.state.module import Module
from intaglio.state.variable import Variable

__all__ = [
    "Module",
    "Variable",
    "VariableAggregation",
    "VariableSynchronization",
    "variable_creator_scope",
]
