"""The static type of `tf.function`'s result, for type checkers: the same parameters and result.

It is never instantiated. It is not `Function` itself, whose `__call__` accepts any arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from intaglio.function.polymorphic import Function

P = ParamSpec("P")
Rest = ParamSpec("Rest")
R = TypeVar("R")
Self = TypeVar("Self")


class TypedFunction(Function, Generic[P, R]):
    """A `Function` whose calls are checked as those of the Python function."""

    @property
    def python_function(self) -> Callable[P, R]:
        """The function that is traced."""
        raise NotImplementedError

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs the graph."""
        raise NotImplementedError

    @overload
    def __get__(self, instance: None, owner: Any = None) -> TypedFunction[P, R]: ...
    @overload
    def __get__(
        self: TypedFunction[Concatenate[Self, Rest], R], instance: Self, owner: Any = None
    ) -> TypedFunction[Rest, R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """The method of an object, without the parameter for the object."""
        raise NotImplementedError
