"""The functions that converted code calls as `ag__`."""

from intaglio.autograph.aliases import current as now
from intaglio.autograph.calls import attr, converted_call, method
from intaglio.autograph.conditionals import if_stmt
from intaglio.autograph.diagnosis import text_of, unused
from intaglio.autograph.dict_calls import contains
from intaglio.autograph.function_scope import (
    STD,
    ConversionOptions,
    FunctionScope,
    autograph_artifact,
)
from intaglio.autograph.handlers import Handling
from intaglio.autograph.identity import is_same_object
from intaglio.autograph.logic import and_, if_exp, not_, or_
from intaglio.autograph.loops import for_stmt, while_stmt
from intaglio.autograph.raising import assert_stmt, raise_stmt
from intaglio.autograph.reads import assigned
from intaglio.autograph.unconverted_reads import entered
from intaglio.autograph.values import Undefined, UndefinedReturnValue, is_none, ld, ldu
from intaglio.autograph.watches import (
    compared,
    created,
    item,
    iterated,
    looked,
    outer,
    own,
    written,
)

__all__ = [
    "STD", "ConversionOptions", "FunctionScope", "Handling", "Undefined", "UndefinedReturnValue", "and_",
    "assert_stmt", "attr",    "autograph_artifact", "contains", "converted_call", "for_stmt", "if_exp", "if_stmt", "is_none", "is_same_object", "ld", "ldu",
    "assigned", "compared", "created", "entered", "item", "iterated", "looked", "method", "outer", "not_", "now",
    "or_", "own", "raise_stmt", "text_of", "unused", "while_stmt", "written",
]  # fmt: skip
