"""`tf.__internal__.smart_cond`: a condition that need not become part of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.composite_ops.array.creation import get_static_value
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.tensor import Tensor
from intaglio.trace.choices import cond
from intaglio.trace.scopes import eager_mode


def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """`true_fn()` or `false_fn()` at once where `pred` is known, else `tf.cond`.

    Raises TypeError for what is no function or no condition.
    """
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("`true_fn` and `false_fn` must be callable.")
    known = _known(pred) if isinstance(pred, Tensor) else pred
    if known is None or hasattr(type(known), "__tf_tensor__"):
        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if known else false_fn()


def _known(tensor: Tensor) -> Any:
    """The value where it follows from what is known when recording, else None.

    Sizes are known then; comparisons of them are executed here.
    """
    value = get_static_value(tensor)
    if value is not None or not isinstance(tensor, SymbolicTensor):
        return value
    node = tensor.node
    if node.op not in _COMPARISONS:
        return None
    inputs = [get_static_value(x) for x in node.inputs]
    if any(x is None for x in inputs):
        return None
    with eager_mode():  # a graph that is no function's is left too
        return node.op(*inputs).numpy()


# Ops without attributes of which conditions on sizes consist.
_COMPARISONS = frozenset(
    (raw.Greater, raw.GreaterEqual, raw.Less, raw.LessEqual, raw.Equal, raw.NotEqual)
)

__all__ = ["smart_cond"]
