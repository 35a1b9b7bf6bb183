"""Functions on variables that are methods today, and other functions of TensorFlow 1.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any

from intaglio.base import later, log, nest
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.opdef import convert, raw
from intaglio.trace import choices, scopes


def assign(
    ref: Any, value: Any, validate_shape: Any = None, use_locking: Any = None, name: Any = None
) -> Any:
    """Assigns a value to a variable; the variable, or the op in a graph."""
    return ref.assign(value, name=name)


def assign_add(ref: Any, value: Any, use_locking: Any = None, name: Any = None) -> Any:
    """Adds a value to a variable."""
    return ref.assign_add(value, name=name)


def assign_sub(ref: Any, value: Any, use_locking: Any = None, name: Any = None) -> Any:
    """Subtracts a value from a variable."""
    return ref.assign_sub(value, name=name)


def _scatter(op: Callable[[], Any]) -> Callable[..., Any]:
    def function(
        ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None
    ) -> Any:
        value = convert.to_tensor(updates, dtype=ref.dtype.base_dtype)
        return ref._changed(op()(ref.handle, indices, value, name=name))

    function.__name__ = function.__qualname__ = "scatter"
    function.__doc__ = "Changes rows of a variable; returns the variable."
    return function


scatter_add = _scatter(lambda: raw.ResourceScatterAdd)
scatter_div = _scatter(lambda: raw.ResourceScatterDiv)
scatter_max = _scatter(lambda: raw.ResourceScatterMax)
scatter_min = _scatter(lambda: raw.ResourceScatterMin)
scatter_mul = _scatter(lambda: raw.ResourceScatterMul)
scatter_sub = _scatter(lambda: raw.ResourceScatterSub)
scatter_update = _scatter(lambda: raw.ResourceScatterUpdate)
scatter_nd_add = _scatter(lambda: raw.ResourceScatterNdAdd)
scatter_nd_sub = _scatter(lambda: raw.ResourceScatterNdSub)
scatter_nd_update = _scatter(lambda: raw.ResourceScatterNdUpdate)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """`tf.while_loop`; a loop variable alone is returned without its list.

    With `return_same_structure` the result has the structure of `loop_vars`.
    """
    result = choices.while_loop(
        cond,
        body,
        loop_vars,
        shape_invariants=shape_invariants,
        parallel_iterations=parallel_iterations,
        maximum_iterations=maximum_iterations,
        name=name,
    )
    single = isinstance(result, (list, tuple)) and len(result) == 1
    return result[0] if single and not return_same_structure else result


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """The input; in a graph, with a shape that says only what `shape` says."""
    if scopes.executing_eagerly():
        return convert.to_tensor(input)
    return raw.PlaceholderWithDefault(input, shape=shape, name=name)


class name_scope:  # TensorFlow's name
    """Names of the block's ops begin with a name, or with `default_name` if that is None."""

    def __init__(self, name: Any, default_name: Any = None, values: Any = None) -> None:
        self._name = default_name if name is None else name
        self._inner: Any = None

    @property
    def name(self) -> Any:
        """The name."""
        return self._name

    def __enter__(self) -> Any:
        self._inner = scopes.name_scope(self._name) if self._name else contextlib.nullcontext("")
        return self._inner.__enter__()

    def __exit__(self, *error: Any) -> Any:
        return self._inner.__exit__(*error)


@contextlib.contextmanager
def colocate_with(op: Any, ignore_existing: bool = False) -> Generator[None]:
    """The graph's ops of the block are colocated with `op`; eagerly there is nothing to do."""
    if scopes.executing_eagerly():
        yield
        return
    with get_default_graph().colocate_with(op, ignore_existing):
        yield


def div(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y as Python 2 divides: integers are rounded down."""
    x = convert.to_tensor(x)
    y = convert.to_tensor(y, dtype=x.dtype)
    divide = raw.RealDiv if x.dtype.is_floating or x.dtype.is_complex else raw.FloorDiv
    return divide(x, y, name=name or "div")


def Print(  # TensorFlow's name
    input_: Any,
    data: Any,
    message: Any = None,
    first_n: Any = None,
    summarize: Any = None,
    name: Any = None,
) -> Any:
    """The input; the data are logged."""
    if scopes.executing_eagerly():
        shown = [str(convert.to_tensor(value).numpy()) for value in nest.flatten(data)]
        log.logger().info("%s%s", message or "", "".join(f"[{text}]" for text in shown))
        return input_
    parts: list[Any] = [message or ""]
    for value in data:
        parts += ["[", convert.to_tensor(value), "]"]
    written = later.named("intaglio.tf:print")(*parts, sep="", summarize=summarize or 3)
    with scopes.control_dependencies([written]):
        return raw.Identity(convert.to_tensor(input_), name=name)
