"""The families of most ops: an op inherits the rules and traits of its family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import NUMERIC, DType, bool_, from_numpy, int32
from intaglio.base.errors import NotFoundError, invalid_argument
from intaglio.base.shapes import Dims
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.scalar import select
from intaglio.opdef.spec import Spec, of_elements

# The most elements of constants that are computed during inference, as parts of shapes.
MAX_FOLDED_ELEMENTS = 64


class Unary(Op):
    """y = f(x), element by element, same dtype and shape."""

    signature = "x: T -> y: T"
    T: tuple[DType, ...] = NUMERIC
    batching = "leading"

    def infer(self, x: Spec) -> Spec:
        return Spec(x.dtype, x.shape)


class UnaryGradient(Op):
    """z = dy * f'(x) in terms of y = f(x), element by element."""

    signature = "y: T, dy: T -> z: T"
    T: tuple[DType, ...] = NUMERIC
    batching = "alike"
    same_shapes = True

    def infer(self, y: Spec, dy: Spec) -> Spec:
        return Spec(y.dtype, shapes.merge(y.shape, dy.shape))


class Binary(Op):
    """z = f(x, y), element by element with broadcasting, same dtype."""

    signature = "x: T, y: T -> z: T"
    T: tuple[DType, ...] = NUMERIC
    batching = "broadcast"

    def infer(self, x: Spec, y: Spec) -> Spec:
        dtype = x.dtype
        shape = shapes.broadcast(x.shape, y.shape)
        if dtype.is_integer:
            known = folded(self, x, y, shape)
            if known is not None:
                return known
        return Spec(dtype, shape)


class Comparison(Binary):
    """z = x ? y, element by element with broadcasting, bool."""

    signature = "x: T, y: T -> z: bool"

    def infer(self, x: Spec, y: Spec) -> Spec:
        return Spec(bool_, shapes.broadcast(x.shape, y.shape))


def folded(op: Op, x: Spec, y: Spec, shape: Dims) -> Spec | None:
    """The Spec of small integer results computed during inference, as far as the operands are
    known.

    Shapes are computed from such numbers. None if no element is known.
    """
    size = shapes.count(shape)
    if size is None or size > MAX_FOLDED_ELEMENTS or shape is None or len(shape) > 1:
        return None
    if x.value is not None and y.value is not None:
        try:
            value = op.kernel_fn(x.value, y.value)
        except Exception:  # fails when it runs, with its own message
            return None
        return Spec(x.dtype, shape, np.asarray(value))
    if len(shape) == 0:
        return None
    left, right = _elements(x, size), _elements(y, size)
    if left is None or right is None:
        return None
    dtype = x.dtype.numpy
    elements: list[int | None] = []
    for a, b in zip(left, right, strict=True):
        if a is None or b is None:
            elements.append(None)
            continue
        try:
            item = op.kernel_fn(np.array(a, dtype), np.array(b, dtype))
        except Exception:
            return None
        elements.append(int(item))
    if not any(e is not None for e in elements):
        return None
    return of_elements(x.dtype, elements)


def _elements(x: Spec, size: int) -> list[int | None] | None:
    if x.value is not None:
        return np.broadcast_to(x.value, (size,)).tolist()
    known = x.partial
    if known is None:
        return None
    return list(known) if len(known) == size else list(known) * size


def conjugate(x: Any) -> Any:
    """The complex conjugate of a tensor; real tensors as they are."""
    return raw.Conj(x) if x.dtype.is_complex else x


def zero_where(z: Any, dy: Any) -> Any:
    """The kernel's result `z`, a new array, with 0 where the gradient `dy` is 0.

    Elements without a gradient stay 0 where the slope is infinite or NaN.
    """
    if np.all(dy):
        return z
    return select(np.equal(dy, 0), z.dtype.type(0), z)


def constant(value: Any, like: Any) -> np.ndarray:
    """A scalar of the dtype of a tensor or Spec, for gradient rules."""
    return np.asarray(value, like.dtype.numpy)


def check_rank(what: str, x: Any, rank: int) -> None:
    """Raises InvalidArgumentError for an array of another rank."""
    if np.ndim(x) != rank:
        raise invalid_argument(
            f"{what} must be {('a scalar', 'a vector', 'a matrix')[rank]},"
            f" got shape {list(np.shape(x))}"
        )


def check_length(attr: str, values: Sequence[Any], least: int = 1) -> None:
    """Raises InvalidArgumentError for a list of inputs that is too short."""
    if len(values) < least:
        raise invalid_argument(
            f"Value for attr '{attr}' of {len(values)} must be at least minimum {least}"
        )


def divisor(y: Any, x: Any) -> Any:
    """`y`, an array of integers. Raises InvalidArgumentError if it divides `x` by 0."""
    if not np.all(y) and np.size(x):
        raise invalid_argument("Integer division by zero")
    return y


def truncated_quotient(x: Any, y: Any) -> Any:
    """x / y rounded towards zero, of integers of one dtype, whose least number has no absolute value.

    Raises InvalidArgumentError for a y of 0.
    """
    down = np.floor_divide(x, divisor(y, x))
    if x.dtype.kind == "u":
        return down
    inexact = np.not_equal(np.multiply(down, y), x)
    opposite = np.less(x, 0) != np.less(y, 0)
    return np.add(down, inexact & opposite, dtype=x.dtype)


# The least number of elements for which the conversion to float64 pays.
_MIN_CONVERTED_ELEMENTS = 2048


def quotient(x: Any, y: Any) -> Any:
    """x / y rounded down, of integers; no y is 0.

    Processors divide integers one by one and floats in vectors. A float64 quotient of numbers of up
    to 32 bits rounds to a whole number only if it is one.
    """
    few = max(np.size(x), np.size(y)) < _MIN_CONVERTED_ELEMENTS
    if few or x.dtype.itemsize > 4 or _has_least(x):
        return np.floor_divide(x, y)
    wide = np.true_divide(x, y, dtype=np.float64)
    return np.floor(wide, out=wide).astype(x.dtype)


def remainder(x: Any, y: Any) -> Any:
    """What `quotient` leaves, with the sign of y."""
    few = max(np.size(x), np.size(y)) < _MIN_CONVERTED_ELEMENTS
    if few or x.dtype.itemsize > 4 or _has_least(x):
        return np.remainder(x, y)
    rest = quotient(x, y)
    rest *= y
    return np.subtract(x, rest, out=rest)


def _has_least(x: Any) -> bool:
    """Whether the smallest integer is there, whose quotient with -1 is no integer of its dtype."""
    return x.dtype.kind == "i" and x.min(initial=0) == np.iinfo(x.dtype).min


def no_kernel(name: str, dtype: Any) -> Exception:
    """TensorFlow's error for a dtype that an op allows but has no kernel for."""
    kind = from_numpy(dtype).name.upper()
    return NotFoundError(
        None, None, f"Could not find device for node: {{{{node {name}}}}} = {name}[T=DT_{kind}]"
    )


def spec_of(x: Any) -> Spec:
    """The Spec of a tensor (or Spec) that a gradient rule holds."""
    if type(x) is Spec:
        return x
    return Spec(x.dtype, x.dims, tensor=x)


def shape_of(x: Spec) -> Any:
    """The shape as an int32 vector: a constant, or computed when the graph runs."""
    if shapes.known(x.shape):
        return np.asarray(x.shape, np.int32)
    return raw.Shape(x.tensor, out_type=int32)


def unbroadcast(gradient: Any, x: Spec, other: Spec) -> Any:
    """The gradient of a broadcast operand: summed over the dimensions that were stretched.

    `x` and `other` are the operands' specs; what their shapes leave open is decided when
    the graph runs.
    """
    axes = _stretched(x.shape, other.shape)
    if axes is not None:
        return _summed(gradient, x, axes, other.shape)
    reduced_axes, _ = raw.BroadcastGradientArgs(shape_of(x), shape_of(other))
    return raw.Reshape(raw.Sum(gradient, reduced_axes), shape_of(x))


def unbroadcast_both(dx: Any, dy: Any, x: Spec, y: Spec) -> tuple[Any, Any]:
    """`unbroadcast` of both operands' gradients, each a tensor or a function that returns one.

    The results are functions, called only if that operand's gradient is needed.
    """
    if x.shape == y.shape and x.shape is not None and None not in x.shape:
        return dx, dy

    def by_x() -> Any:
        return unbroadcast(dx() if callable(dx) else dx, x, y)

    def by_y() -> Any:
        return unbroadcast(dy() if callable(dy) else dy, y, x)

    return by_x, by_y


def _stretched(x: Dims, other: Dims) -> list[int] | None:
    """The result's dimensions that broadcasting adds to `x` or stretches; None if unclear."""
    if x is None or other is None:
        return None
    if x == other and None not in x:
        return []
    rank = max(len(x), len(other))
    lead = rank - len(x)
    axes = list(range(lead))
    skip = rank - len(other)
    for i, d in enumerate(x, lead):
        facing = 1 if i < skip else other[i - skip]
        if facing == 1 or d == facing is not None:
            continue
        if d is None:
            return None
        if d == 1:
            axes.append(i)
    return axes


def _summed(gradient: Any, x: Spec, axes: list[int], other: Dims) -> Any:
    if not axes:
        return gradient
    lead = max(len(other) - len(x.shape), 0)  # type: ignore[arg-type]  # its axes are known, so its rank is
    if axes[-1] < lead:
        return raw.Sum(gradient, np.asarray(axes, np.int32))
    if not lead:
        return raw.Sum(gradient, np.asarray(axes, np.int32), keep_dims=True)
    if shapes.known(x.shape):
        total = raw.Sum(gradient, np.asarray(axes, np.int32))
        return raw.Reshape(total, shape_of(x))
    total = raw.Sum(gradient, np.arange(lead, dtype=np.int32))
    rest = np.asarray([a - lead for a in axes if a >= lead], np.int32)
    return raw.Sum(total, rest, keep_dims=True)
