"""The builder of `scalar` rules on jax: elementwise ops from their one expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from intaglio.opdef.op import Op
from intaglio.opdef.scalar import NumpyScalars
from intaglio.xla.arrays import Array, unwrapped, wrapped
from intaglio.xla.numpy_module import MODULE
from intaglio.xla.values import Untraceable

# What NumPy has no function for.
_SPECIAL: dict[str, Callable[..., Any]] = {
    "digamma": lax.digamma,
    "erf": lax.erf,
    "erfc": lax.erfc,
    "erfinv": lax.erf_inv,
    "lgamma": lax.lgamma,
}


class _Scalars:
    def __getattr__(self, name: str) -> Any:
        special = _SPECIAL.get(name)
        if special is not None:
            return lambda x: Array(special(jnp.asarray(unwrapped(x))))
        if name == "select":
            return MODULE.where
        primitive = getattr(NumpyScalars, name, None)
        if primitive is None:
            raise Untraceable(f"its scalar rule asks for {name}")
        return getattr(MODULE, name if name in ("real", "imag") else primitive.__name__)

    @staticmethod
    def const(value: Any, like: Any) -> Any:
        """A constant of the type of `like`."""
        return like.dtype.type(value)


SCALARS = _Scalars()


def expressed(op: Op, values: Any, attrs: dict[str, Any]) -> Any:
    """The result of an elementwise op by its `scalar` rule.

    Raises Untraceable if the rule has no expression for these attributes.
    """
    rule = op.rules["scalar"]
    names = rule.takes[1 + len(op.input_names) :]
    inputs = [wrapped(v) for v in values]
    wide = op.computes_wide and inputs[0].dtype.itemsize == 2
    narrow = inputs[0].dtype
    if wide:
        inputs = [x.astype("float32") for x in inputs]
    try:
        result = rule.fn(SCALARS, *inputs, *[attrs[n] for n in names])
    except (AttributeError, TypeError) as e:
        raise Untraceable(f"its scalar rule: {e}") from e
    if result is NotImplemented:
        raise Untraceable("it has no scalar expression for these attributes")
    return unwrapped(result.astype(narrow) if wide else result)
