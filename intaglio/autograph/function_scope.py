"""The context manager around a converted function's body."""

from __future__ import annotations

from typing import Any

from intaglio.autograph.optional import RESULT, Maybe, require
from intaglio.autograph.values import UndefinedReturnValue


class ConversionOptions:
    """The options of a conversion, which a function's scope passes to its calls."""

    __slots__ = ("internal_convert_user_code", "optional_features", "recursive", "user_requested")

    def __init__(
        self,
        recursive: bool = False,
        user_requested: bool = False,
        internal_convert_user_code: bool = True,
        optional_features: tuple[Any, ...] = (),
    ) -> None:
        self.recursive = recursive
        self.user_requested = user_requested
        self.internal_convert_user_code = internal_convert_user_code
        self.optional_features = optional_features


STD = ConversionOptions(recursive=True, user_requested=False)


class FunctionScope:
    """The scope of one call of a converted function."""

    __slots__ = ("function_name", "options", "scope_name")

    def __init__(self, function_name: str, scope_name: str, options: ConversionOptions) -> None:
        self.function_name = function_name
        self.scope_name = scope_name
        self.options = options

    def __enter__(self) -> FunctionScope:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def ret(self, value: Any, did_return: Any) -> Any:
        """The function's result: None if it came to its end without a return.

        Raises ValueError if that depends on an `if` on a tensor. Where it depends on a loop,
        the graph checks it when it runs.
        """
        if type(value) is Maybe:
            return self._returned(value, did_return)
        return None if isinstance(value, UndefinedReturnValue) else value

    def _returned(self, result: Maybe, did_return: Any) -> Any:
        if did_return is True or result.value is None:
            return result.value
        if result.lacking is not None:
            raise ValueError(f"the {result.lacking} branch must also have a return statement.")
        require(
            did_return,
            f"loop must iterate at least once to initialize {RESULT}: `{self.function_name}` came to "
            "its end without a return statement, which gives None in Python. Return something "
            "after the loop.",
        )
        return result.value


def autograph_artifact(function: Any) -> Any:
    """Marks a function as converted already."""
    function.autograph_artifact__ = True
    return function
