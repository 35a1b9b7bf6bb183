"""Python's operators on tensors, which named functions of `tf.math` share.

Follows https://www.tensorflow.org/api_docs/python/tf/Tensor and
https://www.tensorflow.org/api_docs/python/tf/math.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import dtypes
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import DType
from intaglio.opdef import convert, dispatch, door, raw
from intaglio.opdef.overloads import FUNCTIONS, PLAIN_OPERANDS, install_overloadable
from intaglio.opdef.tensor import Tensor, install_operator

# special method -> (op type, slow path): the operators with a fast eager path
FAST: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any]]] = {}


def register_fast(
    special: str, op_of: Callable[[], Any], method: Callable[[Any, Any], Any]
) -> None:
    """Registers an operator of eager tensors that calls the kernel of an op; `method` is the general form."""
    FAST[special] = (op_of, method)


# The dtype in which `/` computes, by the dtype of the operands.
QUOTIENT: dict[DType, DType | None] = {
    dtypes.uint8: dtypes.float32,
    dtypes.int8: dtypes.float32,
    dtypes.uint16: dtypes.float32,
    dtypes.int16: dtypes.float32,
    dtypes.uint32: dtypes.float64,
    dtypes.int32: dtypes.float64,
    dtypes.uint64: dtypes.float64,
    dtypes.int64: dtypes.float64,
    dtypes.bfloat16: None,
    dtypes.float16: None,
    dtypes.float32: None,
    dtypes.float64: None,
    dtypes.complex64: None,
    dtypes.complex128: None,
}


def pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Both operands as tensors; a Python value takes the other's dtype if it fits."""
    if not isinstance(x, Tensor):
        x = convert.to_tensor(
            x, dtype_hint=y.dtype if isinstance(y, Tensor) else convert.dtype_of(y)
        )
    if not isinstance(y, Tensor):
        y = convert.to_tensor(y, dtype_hint=x.dtype)
    return x, y


def in_order(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Both operands as tensors; the second takes the first's dtype if it fits."""
    if not isinstance(x, Tensor):
        x = convert.to_tensor(x)
    if not isinstance(y, Tensor):
        y = convert.to_tensor(y, dtype_hint=x.dtype)
    return x, y


def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x + y; strings are joined."""
    x, y = in_order(x, y)
    if x.dtype is dtypes.string:
        return raw.Add(x, y, name=name or "Add")
    return raw.AddV2(x, y, name=name or "Add")


def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x - y."""
    return raw.Sub(x, y, name=name)


def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y."""
    return raw.Mul(x, y, name=name)


def _times(x: Any, y: Any, name: str) -> Tensor:
    """`*`, which unlike tf.multiply accepts bools."""
    if (x if isinstance(x, Tensor) else y).dtype is not dtypes.bool_:
        return raw.Mul(x, y, name=name)
    with door.level().scoped(name):
        x = raw.Cast(x, DstT=dtypes.int32, name="Cast")
        y = raw.Cast(convert.to_tensor(y, dtypes.bool_), DstT=dtypes.int32, name="Cast")
        return raw.Cast(raw.Mul(x, y, name="Mul"), DstT=dtypes.bool_, name="Cast")


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y; of integers, in floating point.

    Raises TypeError if the dtypes differ or are no numbers.
    """
    name = name or "truediv"
    x, y = in_order(x, y)
    dtype = x.dtype
    if y.dtype is not dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {dtype!r} != {y.dtype!r}.")
    try:
        wanted = QUOTIENT[dtype]
    except KeyError:
        names = ", ".join([repr(d) for d in QUOTIENT])
        raise TypeError(
            f"Invalid dtype {dtype!r} in __truediv__. Expected one of {{{names}}}."
        ) from None
    if wanted is None:
        return raw.RealDiv(x, y, name=name)
    with door.level().scoped(name) as scope:
        x = raw.Cast(x, DstT=wanted, name="Cast")
        y = raw.Cast(y, DstT=wanted, name="Cast")
        return raw.RealDiv(x, y, name=scope)


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y rounded down."""
    return raw.FloorDiv(x, y, name=name or "floordiv")


def floormod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The remainder of x / y with the sign of y."""
    return raw.FloorMod(x, y, name=name)


def power(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x ** y."""
    return raw.Pow(x, y, name=name)


def absolute(x: Any, name: str | None = None) -> Tensor:
    """|x|; real for complex numbers."""
    x = convert.to_tensor(x)
    if x.dtype.is_complex:
        return raw.ComplexAbs(x, Tout=x.dtype.real_dtype, name=name or "Abs")
    return raw.Abs(x, name=name)


def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Tensor:
    """True where exactly one operand is true."""
    either = raw.LogicalOr(x, y)
    return raw.LogicalAnd(either, raw.LogicalNot(raw.LogicalAnd(x, y)), name=name)


def _bits(logical: Callable[..., Tensor], bitwise: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`&`, `|` or `^`: logical for bools, bitwise for integers."""

    def operate(x: Any, y: Any, name: str) -> Tensor:
        of_truth = (x if isinstance(x, Tensor) else y).dtype is dtypes.bool_
        if of_truth:
            return logical(x, y, name)
        with door.level().scoped(name):
            return bitwise(x, y)

    return operate


def _xor(x: Any, y: Any, name: str) -> Tensor:
    with door.level().scoped(name) as scope:
        return logical_xor(x, y, scope)


def _invert(x: Tensor) -> Tensor:
    return raw.LogicalNot(x) if x.dtype is dtypes.bool_ else raw.Invert(x)


def _compares(x: Tensor) -> bool:
    """Whether `==` compares elements; in a plain graph, and in functions traced there, it compares identities."""
    here = door.level()
    graph = None if here.eager else getattr(here, "graph", None)
    while graph is not None:
        if not graph.building_function:
            return False
        graph = getattr(graph, "enclosing", None)
    return True


def _equals(x: Tensor, y: Any) -> Any:
    if y is None:
        return False
    if not _compares(x):
        return x is y
    if getattr(y, "__array_priority__", 0) > Tensor.__array_priority__:
        return NotImplemented
    return raw.Equal(x, y, incompatible_shape_error=False)


def _differs(x: Tensor, y: Any) -> Any:
    if y is None:
        return True
    if not _compares(x):
        return x is not y
    if getattr(y, "__array_priority__", 0) > Tensor.__array_priority__:
        return NotImplemented
    return raw.NotEqual(x, y, incompatible_shape_error=False)


def _defers(other: Any) -> bool:
    """True if the other operand has precedence: a higher `__array_priority__`."""
    return getattr(other, "__array_priority__", 0) > Tensor.__array_priority__


def _is_of_own_kind(other: Any) -> bool:
    """True for a composite value that never converts to a tensor, such as an extension type."""
    return isinstance(other, CompositeTensor) and not hasattr(other, "__tf_tensor__")


def _public(special: str) -> Callable[[Any, Any], Any]:
    return dispatch.public(FUNCTIONS[special].replace("__operators__", "math"))


def _binary(
    special: str, function: Callable[..., Any], name: str, op_of: Callable[[], Any] | None = None
) -> None:
    """Installs `__special__` and `__rspecial__`, whose nodes are called `name`."""

    def forward(self: Any, other: Any) -> Any:
        if _defers(other):
            return NotImplemented
        if _is_of_own_kind(other):
            return _public(f"__{special}__")(self, other)
        try:
            return function(self, other, name)
        except (TypeError, ValueError):
            # The other operand may implement the operator, as Keras' symbolic tensors do.
            reflected = getattr(type(other), f"__r{special}__", None)
            if reflected is None or isinstance(other, (Tensor, *PLAIN_OPERANDS)):
                raise
            answer = reflected(other, self)
            if answer is NotImplemented:
                raise
            return answer

    def backward(self: Any, other: Any) -> Any:
        if _is_of_own_kind(other):
            return _public(f"__{special}__")(other, self)
        return function(convert.to_tensor(other, self.dtype), self, name)

    for side, method in (("", forward), ("r", backward)):
        installed = install_overloadable(f"__{side}{special}__", method)
        if op_of is not None:
            FAST[f"__{side}{special}__"] = (op_of, installed)


def _comparison(special: str, op_of: Callable[[], Any]) -> None:
    def compare(self: Any, other: Any) -> Any:
        if _defers(other):
            return NotImplemented
        if _is_of_own_kind(other):
            return _public(special)(self, other)
        return op_of()(self, other)

    FAST[special] = (op_of, install_overloadable(special, compare))


def _no_contains(self: Any, item: Any) -> bool:
    raise TypeError(f"argument of type '{type(self).__name__}' is not iterable")


def _no_round(self: Any, ndigits: int | None = None) -> Any:
    return self.astype  # raises AttributeError with advice, as TensorFlow does


_binary("add", add, "add", lambda: raw.AddV2)
_binary("sub", subtract, "sub", lambda: raw.Sub)
_binary("mul", _times, "mul", lambda: raw.Mul)
_binary("truediv", truediv, "truediv", lambda: raw.RealDiv)
_binary("floordiv", floordiv, "floordiv", lambda: raw.FloorDiv)
_binary("mod", floormod, "mod", lambda: raw.FloorMod)
_binary("pow", power, "pow", lambda: raw.Pow)
_binary(
    "and",
    _bits(lambda x, y, name: raw.LogicalAnd(x, y, name=name), lambda x, y: raw.BitwiseAnd(x, y)),
    "and",
)
_binary(
    "or",
    _bits(lambda x, y, name: raw.LogicalOr(x, y, name=name), lambda x, y: raw.BitwiseOr(x, y)),
    "or",
)
_binary("xor", _bits(_xor, lambda x, y: raw.BitwiseXor(x, y)), "xor")
for _special, _op_of in (
    ("__lt__", lambda: raw.Less),
    ("__le__", lambda: raw.LessEqual),
    ("__gt__", lambda: raw.Greater),
    ("__ge__", lambda: raw.GreaterEqual),
):
    _comparison(_special, _op_of)
FAST["__eq__"] = (lambda: raw.Equal, install_overloadable("__eq__", _equals))
FAST["__ne__"] = (lambda: raw.NotEqual, install_overloadable("__ne__", _differs))
install_overloadable("__neg__", lambda self: raw.Neg(self))
install_overloadable("__abs__", lambda self: absolute(self))
# Python 2's names, which libraries look up. Division rounds integers down.
install_overloadable("__div__", lambda self, y: self / y if self.dtype.is_floating else self // y)
install_operator("__nonzero__", lambda self: bool(self))
install_overloadable("__rdiv__", lambda self, x: x / self if self.dtype.is_floating else x // self)
install_overloadable("__invert__", _invert)
install_operator("__contains__", _no_contains)
install_operator("__round__", _no_round)
