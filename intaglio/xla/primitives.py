"""NumPy's ufuncs of operands of one dtype as primitives of `jax.lax`.

Most of what a graph computes element by element has operands of one dtype, whose result NumPy and XLA
agree on. Then a primitive is all there is to record; `jax.numpy` would find the common dtype again,
and trace a function of its own for each call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from intaglio.xla.values import is_traced

Primitive = Callable[..., Any]


def _same(x: Any) -> Any:
    return x


def _square(x: Any) -> Any:
    return lax.mul(x, x)


# By the kind of the operands' dtype: numbers of the three classes below, and truth values.
_OF_REALS: dict[str, Primitive] = {
    "add": lax.add,
    "conjugate": _same,
    "equal": lax.eq,
    "greater": lax.gt,
    "greater_equal": lax.ge,
    "less": lax.lt,
    "less_equal": lax.le,
    "maximum": lax.max,
    "minimum": lax.min,
    "multiply": lax.mul,
    "negative": lax.neg,
    "not_equal": lax.ne,
    "square": _square,
    "subtract": lax.sub,
}
_PRIMITIVES: dict[str, dict[str, Primitive]] = {
    "float": {
        **_OF_REALS,
        "absolute": lax.abs,
        "ceil": lax.ceil,
        "cos": lax.cos,
        "divide": lax.div,
        "exp": lax.exp,
        "expm1": lax.expm1,
        "floor": lax.floor,
        "isfinite": lax.is_finite,
        "log": lax.log,
        "log1p": lax.log1p,
        "sin": lax.sin,
        "sqrt": lax.sqrt,
        "tan": lax.tan,
        "tanh": lax.tanh,
    },
    "integer": {
        **_OF_REALS,
        "bitwise_and": lax.bitwise_and,
        "bitwise_or": lax.bitwise_or,
        "bitwise_xor": lax.bitwise_xor,
        "invert": lax.bitwise_not,
    },
    "complex": {n: _OF_REALS[n] for n in ("add", "multiply", "negative", "subtract")},
    "bool": {
        "equal": lax.eq,
        "logical_and": lax.bitwise_and,
        "logical_not": lax.bitwise_not,
        "logical_or": lax.bitwise_or,
        "not_equal": lax.ne,
    },
}


@functools.cache
def _of(name: str, dtype: np.dtype) -> Primitive | None:
    if dtype == np.bool_:
        kind = "bool"
    elif jnp.issubdtype(dtype, np.floating):
        kind = "float"
    else:
        kind = "complex" if dtype.kind == "c" else "integer" if dtype.kind in "iu" else ""
    return _PRIMITIVES.get(kind, {}).get(name)


def computed(name: str, values: Sequence[Any]) -> Any:
    """The ufunc of that name of arrays, one of which at least is traced; None where no primitive is it.

    A number of Python takes part in the dtype of the arrays, as in NumPy.
    """
    first: Any = next(v for v in values if is_traced(v))
    dtype = first.dtype
    primitive = _of(name, dtype)
    if primitive is None:
        return None
    if len(values) == 1:
        return primitive(first)
    shape, alike = first.shape, True
    for value in values:
        if type(value) is float:
            if not jnp.issubdtype(dtype, np.floating):
                return None
            alike = False
        elif not hasattr(value, "dtype") or value.dtype != dtype:
            return None
        elif value.shape != shape:
            alike = False
    if alike:
        return primitive(*values)
    arrays = [v if hasattr(v, "dtype") else np.asarray(v, dtype) for v in values]
    dims = np.broadcast_shapes(*[v.shape for v in arrays])
    return primitive(*[broadcast(v, dims) for v in arrays])


def broadcast(value: Any, shape: tuple[int, ...]) -> Any:
    """The array with this shape, by NumPy's rules; nothing is computed for one that has it."""
    if value.shape == shape:
        return value
    axes = range(len(shape) - value.ndim, len(shape))
    return lax.broadcast_in_dim(value, shape, tuple(axes))


__all__ = ["broadcast", "computed"]
