"""Branches, loops over tensors, and the order of ops.

Follows https://www.tensorflow.org/api_docs/python/tf/cond and its neighbours. Eagerly these
functions run Python; in a graph they record ops that run branches and bodies as graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio import vectorize
from intaglio.opdef.dispatch import dispatchable, without_global_dispatch
from intaglio.opdef.tensor import Tensor
from intaglio.trace import choices, loops, ordering


@dispatchable
def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """`true_fn()` if the scalar bool `pred` is true, else `false_fn()`.

    In a graph both are traced, must return the same structure and dtypes, and one runs.
    Raises TypeError for what is not callable and for results that differ.

    >>> tf.cond(tf.constant(True), lambda: 1, lambda: 2)
    1
    """
    return choices.cond(pred, true_fn, false_fn, name)


@dispatchable
def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The function of the first pair (bool scalar, function) whose predicate is true.

    `default` counts if there is none; without it that is an InvalidArgumentError, as is more
    than one true predicate if `exclusive`. Eagerly a list or tuple of one is its element unless
    `strict`, as documented.

    >>> tf.case([(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)])
    2
    """
    return choices.case(pred_fn_pairs, default, exclusive, strict, name)


def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Callable[[], Any] | None = None,
    name: str = "switch_case",
) -> Any:
    """The function of that index; of an index out of range `default`, or the last one.

    `branch_fns` is a list of functions, or a dict or list of pairs with indices 0 to n - 1.

    >>> tf.switch_case(tf.constant(1), [lambda: 10, lambda: 20])
    20
    """
    return choices.switch_case(branch_index, branch_fns, default, name)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Calls `body(*loop_vars)`, which returns their next values, while `cond(*loop_vars)`.

    In a graph, shapes must not change unless `shape_invariants` has less specific ones.
    Raises ValueError for changed structures and shapes, TypeError for changed dtypes.

    `maximum_iterations` bounds the number of iterations.

    >>> i, total = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + i), [1, 0])
    >>> print(i.numpy(), total.numpy())
    4 6
    """
    return choices.while_loop(
        cond,
        body,
        loop_vars,
        shape_invariants,
        parallel_iterations,
        back_prop,
        maximum_iterations,
        name,
    )


@without_global_dispatch
@dispatchable
def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """`fn` of each row of `elems` (a tensor or structure of tensors), stacked.

    `fn_output_signature` has the dtypes or TensorSpecs of the results if they differ from
    the rows'; `dtype` is its former name.

    `infer_shape` is accepted and has no effect.

    >>> print(tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3])).numpy())
    [1 4 9]
    """
    signature = dtype if fn_output_signature is None else fn_output_signature
    return loops.map_rows(fn, elems, signature, parallel_iterations, name)


# In converted code its function is converted as well; TensorFlow does so for no other of these.
map_fn.__autograph_functions__ = {"fn": 0}  # type: ignore[attr-defined]  # a mark on the function


@without_global_dispatch
@dispatchable
def vectorized_map(
    fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """`fn` of each row of `elems`, stacked, with each op executed for all rows at once.

    `fn` is recorded for one row. A tensor of one row serves all rows of the others; rows that
    take different branches of a `tf.cond` or `tf.while_loop` are split and merged again; each
    row has random numbers of its own. An op that cannot be executed for all rows goes row by
    row, with a warning unless `warn` is False; without `fallback_to_while_loop` it raises
    ValueError. Follows https://www.tensorflow.org/api_docs/python/tf/vectorized_map.

    >>> tf.vectorized_map(lambda row: row * tf.reduce_max(row), tf.constant([[1, 2], [3, 4]]))
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[ 2,  4],
           [12, 16]], dtype=int32)>
    """
    return vectorize.vectorized(fn, elems, fallback_to_while_loop, warn)


@dispatchable
def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """`fn(fn(fn(first, second), third), ...)` of the rows, or from `initializer` on.

    >>> print(tf.foldl(lambda total, x: total + x, tf.constant([1, 2, 3])).numpy())
    6
    """
    return loops.fold_rows(fn, elems, initializer, parallel_iterations, False, name or "foldl")


@dispatchable
def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Like `foldl`, from the last row to the first.

    >>> print(tf.foldr(lambda total, x: total - x, tf.constant([1, 2, 3])).numpy())
    0
    """
    return loops.fold_rows(fn, elems, initializer, parallel_iterations, True, name or "foldr")


@dispatchable
def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """The values that `foldl` goes through (from the last row on if `reverse`), stacked.

    With `infer_shape` False the accumulator's shape may change.

    >>> print(tf.scan(lambda total, x: total + x, tf.constant([1, 2, 3])).numpy())
    [1 3 6]
    """
    return loops.scan_rows(fn, elems, initializer, parallel_iterations, infer_shape, reverse, name)


def group(*inputs: Any, **kwargs: Any) -> Any:
    """An operation that is done when all inputs are; None eagerly.

    >>> tf.group(tf.constant(1))
    """
    return ordering.group(inputs, kwargs.pop("name", None), kwargs)


@dispatchable
def tuple(tensors: Any, control_inputs: Any = None, name: str | None = None) -> list[Tensor | None]:
    """The tensors, each available when all are (and `control_inputs` too).

    >>> [x.numpy() for x in tf.tuple([tf.constant(1.0), tf.constant([2])])]
    [np.float32(1.0), array([2], dtype=int32)]
    """
    return ordering.gathered(tensors, control_inputs, name)


@dispatchable
def no_op(name: str | None = None) -> Any:
    """An operation that does nothing; None eagerly.

    >>> tf.no_op()
    """
    return ordering.no_op(name)


__all__ = [
    "case",
    "cond",
    "foldl",
    "foldr",
    "group",
    "map_fn",
    "no_op",
    "scan",
    "switch_case",
    "tuple",
    "vectorized_map",
    "while_loop",
]
