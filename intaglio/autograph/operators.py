"""What converted code knows as `ag__`."""

from intaglio.autograph.calls import converted_call
from intaglio.autograph.conditionals import if_stmt
from intaglio.autograph.function_scope import (
    STD,
    ConversionOptions,
    FunctionScope,
    autograph_artifact,
)
from intaglio.autograph.logic import and_, if_exp, not_, or_
from intaglio.autograph.loops import for_stmt, while_stmt
from intaglio.autograph.values import Undefined, UndefinedReturnValue, ld, ldu

__all__ = [
    "STD", "ConversionOptions", "FunctionScope", "Undefined", "UndefinedReturnValue", "and_",
    "autograph_artifact", "converted_call", "for_stmt", "if_exp", "if_stmt", "ld", "ldu", "not_",
    "or_", "while_stmt",
]  # fmt: skip
