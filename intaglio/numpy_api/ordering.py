"""Elements in order.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy/sort.
"""

from __future__ import annotations

from typing import Any

from intaglio.composite_ops.array import sorting
from intaglio.numpy_api.promotion import as_tensor, default_integer
from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


def _check(kind: str, kinds: tuple[str, ...], order: Any) -> None:
    if kind not in kinds:
        named = " and ".join([f'kind="{k}"' for k in kinds])
        verb = "are" if len(kinds) > 1 else "is"
        raise ValueError(
            f"Invalid value for argument `kind`. Only {named} {verb} supported. Received: kind={kind}"
        )
    if order is not None:
        raise ValueError("The `order` argument is not supported. Pass order=None")


@dispatchable
def sort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Tensor:
    """The elements in order along `axis`; without it (None), those of the whole as a vector.

    Raises ValueError for a `kind` other than "quicksort", and for `order`.

    >>> tnp.sort([3, 1, 2])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([1, 2, 3])>
    """
    _check(kind, ("quicksort",), order)
    x = as_tensor(a)
    return sorting.sort(raw.Reshape(x, [-1]), 0) if axis is None else sorting.sort(x, axis)


def argsort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Tensor:
    """The positions of the elements in order along `axis`, int64; equal ones keep their order.

    Raises ValueError for a `kind` other than "quicksort" and "stable", and for `order`; TypeError
    for complex numbers.

    >>> tnp.argsort([3, 1, 2])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([1, 2, 0])>
    """
    _check(kind, ("quicksort", "stable"), order)
    x = as_tensor(a)
    if x.dtype.is_complex:
        raise TypeError(
            f"argsort does not support complex64/complex128 dtypes. Received dtype: {x.dtype!r}"
        )
    if axis is None:
        x, axis = raw.Reshape(x, [-1]), 0
    indices = sorting.argsort(x, axis, stable=True)
    return raw.Cast(indices, DstT=default_integer())


__all__ = ["argsort", "sort"]
