"""The decorator `tf.function`.

Follows https://www.tensorflow.org/api_docs/python/tf/function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from intaglio.function.options import Options
from intaglio.function.polymorphic import Function

if TYPE_CHECKING:
    from intaglio.function.typed_function import TypedFunction

P = ParamSpec("P")
R = TypeVar("R")


@overload
def function(
    func: Callable[P, R],
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> TypedFunction[P, R]: ...
@overload
def function(
    func: None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Callable[[Callable[P, R]], TypedFunction[P, R]]: ...


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Makes a function that runs as a graph; a decorator with or without arguments.

    `input_signature` is a sequence of (nested) specs that every call must fit;
    `reduce_retracing` joins shapes of repeated traces; `jit_compile` is accepted. Raises
    TypeError for what is not callable or a signature that does not fit the function.

    `func` is the function, or None for a decorator; `experimental_relax_shapes` and
    `experimental_compile` are older names of `reduce_retracing` and `jit_compile`. `autograph`
    converts Python's statements; `experimental_implements`, `experimental_autograph_options`,
    `experimental_attributes` and `experimental_follow_type_hints` are accepted.

    >>> square = tf.function(lambda x: x * x)
    >>> print(square(tf.constant(3)).numpy())
    9
    """

    def decorated(inner: Callable[..., Any]) -> Function:
        if not callable(inner):
            raise TypeError(f"{inner} is not a callable object")
        options = Options(
            input_signature=input_signature,
            autograph=autograph,
            autograph_options=experimental_autograph_options,
            jit_compile=experimental_compile if jit_compile is None else jit_compile,
            reduce_retracing=reduce_retracing or bool(experimental_relax_shapes),
            implements=experimental_implements,
            attributes=experimental_attributes,
        )
        return Function(inner, getattr(inner, "__name__", "function"), options)

    return decorated if func is None else decorated(func)


__all__ = ["function"]
