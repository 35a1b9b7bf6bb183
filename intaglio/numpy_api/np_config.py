"""The switch that makes tensors behave like NumPy's arrays everywhere.

Follows
https://www.tensorflow.org/api_docs/python/tf/experimental/numpy/experimental_enable_numpy_behavior.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base.locks import lasting_lock
from intaglio.base.log import logger
from intaglio.composite_ops.math.casting import cast
from intaglio.numpy_api import positions, promotion, reductions, shaping
from intaglio.numpy_api.arithmetic import clip
from intaglio.numpy_api.functions import around, positive
from intaglio.numpy_api.linear_algebra import matmul
from intaglio.opdef import operators
from intaglio.opdef.tensor import Tensor
from intaglio.promotion import functions, lattice
from intaglio.promotion.operators import PROMOTING, assigning, promoting, stays
from intaglio.promotion.weak_tensor import WeakTensor
from intaglio.runtime import eager
from intaglio.state.variable import Variable

_MODES = ("off", "legacy", "safe", "all")
_lock = lasting_lock()
# What classes had before, by name; empty while the switch is off.
_before: dict[tuple[type, str], Any] = {}

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

    Brackets take arrays of indices; tensors have `T`, `astype`, `clip`, `data`, `flatten`, `max`,
    `mean`, `min`, `ravel`, `reshape`, `size`, `tolist`, `transpose`, and `+x` and `round(x)`. The
    mode determines the promotion of operands of different types:

    - "legacy": operators promote them as `tnp.result_type` does; with `prefer_float32` Python's
      floats count as float32;
    - "all": operators and the functions of `tf` bring them to their common type in a lattice, in
      which Python numbers, and tensors of them without a `dtype`, are of weak types;
    - "safe": the same, but TypeError where that would lose digits or need a wider type;
    - "off": they stay an error.

    Raises ValueError for another mode. It may be called again, with another mode; what was traced
    before stays as it is. https://www.tensorflow.org/guide/tf_numpy_type_promotion

    >>> tnp.experimental_enable_numpy_behavior()
    >>> (tf.constant([[1, 2]]).T + .5)[[1]]
    <tf.Tensor: shape=(1, 1), dtype=float64, numpy=array([[2.5]])>
    >>> tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="all")
    >>> tf.constant([[1, 2]]).T + .5
    <tf.Tensor: shape=(2, 1), dtype=float32, numpy=
    array([[1.5],
           [2.5]], dtype=float32), weak=True>
    """
    if dtype_conversion_mode not in _MODES:
        raise ValueError(
            f"The provided promotion mode {dtype_conversion_mode} does not exist. Make sure "
            "the provided dtype conversion mode is one of the followings: 'off', 'legacy', "
            "'safe' or 'all'."
        )
    with _lock:
        _restore()
        promotion.Options.prefer_float32 = bool(prefer_float32)
        if dtype_conversion_mode == "legacy":
            for special in _BINARY:
                _exchange(Tensor, special, _promoting(getattr(Tensor, special)))
            _exchange(Tensor, "__matmul__", lambda self, other: matmul(self, other))
            _exchange(Tensor, "__rmatmul__", lambda self, other: matmul(other, self))
        elif dtype_conversion_mode != "off":
            _promote(lattice.Mode(dtype_conversion_mode))
        _exchange(Tensor, "__getitem__", positions.getitem)
        for name, method in _METHODS.items():
            _exchange(Tensor, name, method)
            _exchange(WeakTensor, name, method)
        eager.install_fast_operators(positions.getitem)
        if prefer_float32 and dtype_conversion_mode == "legacy":
            # The fast operators take a Python float in float16, too.
            for special in _BINARY:
                _exchange(eager.EagerTensor, special, getattr(Tensor, special))


def _promote(mode: lattice.Mode) -> None:
    """Brings operands to their common type in the lattice from now on."""
    logger().warning(
        "UserWarning: enabling the new type promotion must happen at the beginning of the "
        "program. Please ensure no TF APIs have been used yet."
    )
    lattice.Present.mode = mode
    functions.surround()
    for special in PROMOTING:
        _exchange(Tensor, special, promoting(special))
    for method in ("assign", "assign_add", "assign_sub"):
        _exchange(Variable, method, assigning(getattr(Variable, method)))


def disable_numpy_behavior() -> None:
    """Takes back what `experimental_enable_numpy_behavior` did. For tests."""
    with _lock:
        _restore()
        promotion.Options.prefer_float32 = False
        eager.install_fast_operators()


def _exchange(owner: Any, name: str, value: Any) -> None:
    """Gives a class another attribute, and the fast operators that fall back on it."""
    _before[owner, name] = owner.__dict__.get(name)
    _install(owner, name, value)


def _install(owner: Any, name: str, value: Any) -> None:
    setattr(owner, name, value)
    if owner is Tensor and name in operators.FAST:
        operators.FAST[name] = (operators.FAST[name][0], value)


def _restore() -> None:
    if lattice.is_on():
        lattice.Present.mode = None
        functions.leave()
    for (owner, name), value in _before.items():
        if value is None:
            delattr(owner, name)
        else:
            _install(owner, name, value)
    _before.clear()


def _promoting(operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator that brings its operands to their common type first."""

    def promote_first(self: Any, other: Any) -> Any:
        if stays(other):
            return operate(self, other)
        return operate(*promotion.promoted(self, other))

    promote_first.__name__ = operate.__name__
    return promote_first


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
