"""What surrounds a converted function while it runs."""

from __future__ import annotations

from typing import Any

from intaglio.autograph.values import UndefinedReturnValue


class ConversionOptions:
    """How a function was converted; carried by its scope to the calls it makes."""

    __slots__ = (
        "internal_convert_user_code",
        "optional_features",
        "recursive",
        "user_requested",
    )

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

    def __init__(
        self, function_name: str, scope_name: str, options: ConversionOptions
    ) -> None:
        self.function_name = function_name
        self.scope_name = scope_name
        self.options = options

    def __enter__(self) -> FunctionScope:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def ret(self, value: Any, did_return: Any) -> Any:
        """The function's result: None if it came to its end without a return."""
        return None if isinstance(value, UndefinedReturnValue) else value


def autograph_artifact(function: Any) -> Any:
    """Marks a function as converted already."""
    function.autograph_artifact__ = True
    return function
