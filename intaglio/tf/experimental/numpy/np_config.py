"""The switch that makes tensors behave like NumPy's arrays everywhere.

Follows
https://www.tensorflow.org/api_docs/python/tf/experimental/numpy/experimental_enable_numpy_behavior.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from intaglio.base.composite import CompositeTensor
from intaglio.op import operators
from intaglio.op.tensor import Tensor, install_operator
from intaglio.runtime import eager
from intaglio.tf.experimental.numpy import positions, promotion, reductions, shaping
from intaglio.tf.experimental.numpy.arithmetic import clip
from intaglio.tf.experimental.numpy.functions import around, positive
from intaglio.tf.experimental.numpy.linear_algebra import matmul
from intaglio.tf.math.casting import cast

_MODES = ("off", "legacy", "safe", "all")
_lock = threading.Lock()
# What Tensor had before, by name; empty while the switch is off.
_before: dict[str, Any] = {}

_BINARY = (
    "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__",
    "__rtruediv__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__pow__",
    "__rpow__", "__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__",
    "__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__",
)  # fmt: skip


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Gives all tensors NumPy's operators, indexing and methods, in this process.

    Operators take operands of different types, which are promoted as by `tnp.result_type`
    ("legacy"), or not at all ("off"); brackets take arrays of indices; tensors have `T`,
    `astype`, `clip`, `data`, `flatten`, `max`, `mean`, `min`, `ravel`, `reshape`, `size`, `tolist`,
    `transpose`, and `+x` and `round(x)`. With `prefer_float32` Python's floats count as float32.
    Raises ValueError for another mode. The modes "all" and "safe", in which tensors made from
    Python numbers have weak types, are not there yet: NotImplementedError.

    >>> tnp.experimental_enable_numpy_behavior()
    >>> (tf.constant([[1, 2]]).T + .5)[[1]]
    <tf.Tensor: shape=(1, 1), dtype=float64, numpy=array([[2.5]])>
    """
    if dtype_conversion_mode not in _MODES:
        raise ValueError(
            f"The provided promotion mode {dtype_conversion_mode} does not exist. Make sure "
            "the provided dtype conversion mode is one of the followings: 'off', 'legacy', "
            "'safe' or 'all'."
        )
    if dtype_conversion_mode in ("safe", "all"):
        raise NotImplementedError(
            f"dtype_conversion_mode={dtype_conversion_mode!r} (weak types) is not there yet: "
            "use 'legacy', which promotes as NumPy does, or 'off'"
        )
    with _lock:
        _restore()
        promotion.Options.prefer_float32 = bool(prefer_float32)
        if dtype_conversion_mode == "legacy":
            for special in _BINARY:
                _exchange(special, _promoting(getattr(Tensor, special)))
            _exchange("__matmul__", lambda self, other: matmul(self, other))
            _exchange("__rmatmul__", lambda self, other: matmul(other, self))
        _exchange("__getitem__", positions.getitem)
        for name, method in _METHODS.items():
            _exchange(name, method)
        eager.install_fast_operators(positions.getitem)
        if prefer_float32 and dtype_conversion_mode == "legacy":
            # The fast operators take a Python float in float16, too.
            for special in _BINARY:
                setattr(eager.EagerTensor, special, getattr(Tensor, special))


def disable_numpy_behavior() -> None:
    """Takes back what `experimental_enable_numpy_behavior` did. For tests."""
    with _lock:
        _restore()
        promotion.Options.prefer_float32 = False
        eager.install_fast_operators()


def _exchange(name: str, value: Any) -> None:
    """Gives Tensor, and the fast operators that fall back on it, another attribute."""
    _before[name] = Tensor.__dict__.get(name)
    _install(name, value)


def _install(name: str, value: Any) -> None:
    install_operator(name, value)
    if name in operators.FAST:
        operators.FAST[name] = (operators.FAST[name][0], value)


def _restore() -> None:
    for name, value in _before.items():
        if value is None:
            delattr(Tensor, name)
        else:
            _install(name, value)
    _before.clear()


def _promoting(operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator that brings its operands to their common type first."""

    def promote_first(self: Any, other: Any) -> Any:
        if _stays(other):
            return operate(self, other)
        return operate(*promotion.promoted(self, other))

    promote_first.__name__ = operate.__name__
    return promote_first


def _stays(other: Any) -> bool:
    """True for an operand that no promotion is for, or that wants to do it itself."""
    if other is None or isinstance(other, (str, bytes)):
        return True
    if isinstance(other, CompositeTensor) and not hasattr(other, "__tf_tensor__"):
        return True
    return getattr(other, "__array_priority__", 0) > Tensor.__array_priority__


# -- methods ---------------------------------------------------------------------------


def _reshape(a: Tensor, *newshape: Any, **kwargs: Any) -> Tensor:
    """`tnp.reshape`, with the lengths one by one or as a shape."""
    shape = newshape[0] if len(newshape) == 1 else newshape
    return shaping.reshape(a, shape, order=kwargs.get("order", "C"))


def _tolist(self: Tensor) -> Any:
    """The elements as nested lists."""
    return self.numpy().tolist()


_METHODS: dict[str, Any] = {
    "T": property(shaping.transpose),
    "__pos__": positive,
    "__round__": around,
    "astype": cast,
    "clip": clip,
    "data": property(lambda self: self),
    "flatten": shaping.flatten,
    "max": reductions.amax,
    "mean": reductions.mean,
    "min": reductions.amin,
    "ravel": shaping.ravel,
    "reshape": _reshape,
    "size": property(shaping.size),
    "tolist": _tolist,
    "transpose": shaping.transpose,
}

__all__ = ["experimental_enable_numpy_behavior"]
