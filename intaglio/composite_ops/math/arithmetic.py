"""Sums, products, quotients, powers, extremes, element by element.

Follows https://www.tensorflow.org/api_docs/python/tf/math. Shapes of two operands broadcast;
a Python number takes the dtype of the other operand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.composite_ops.math.constants import constant_of
from intaglio.opdef import convert, door, operators, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.spec import number
from intaglio.opdef.tensor import Tensor

_INTEGER_QUOTIENT = "float64"


@dispatchable
def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x + y, for numbers and strings, which are joined; the shapes broadcast.

    Raises InvalidArgumentError eagerly, TypeError in a graph, if the dtypes differ.

    https://www.tensorflow.org/api_docs/python/tf/math/add

    >>> print(tf.add([1, 2], [[10], [20]]).numpy())
    [[11 12]
     [21 22]]
    """
    return operators.add(x, y, name)


@dispatchable
def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x - y, for numbers; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/subtract

    >>> print(tf.subtract([5, 7], 2).numpy())
    [3 5]
    """
    return operators.subtract(x, y, name)


@dispatchable
def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, for numbers; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/multiply

    >>> print(tf.multiply([1, 2, 3], 10).numpy())
    [10 20 30]
    """
    return operators.multiply(x, y, name)


@dispatchable
def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python divides: integers give floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/divide

    >>> print(tf.divide([6.0, 7.0], 2.0).numpy())
    [3.  3.5]
    """
    return operators.truediv(x, y, name)


@dispatchable
def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python divides: 8 and 16-bit integers give float32, wider ones float64.

    Raises TypeError if the dtypes differ.

    https://www.tensorflow.org/api_docs/python/tf/math/truediv

    >>> print(tf.truediv([7, 8], 2).numpy())
    [3.5 4. ]
    """
    return operators.truediv(x, y, name)


@dispatchable
def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, and 0 where y is 0; integers give floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/divide_no_nan

    >>> print(tf.math.divide_no_nan([6.0, 7.0], [2.0, 0.0]).numpy())
    [3. 0.]
    """
    with door.level().scoped(name or "div_no_nan") as scope:
        x, y = operators.in_order(x, y)
        if x.dtype is not y.dtype:
            raise TypeError(
                f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}."
            )
        if x.dtype not in operators.QUOTIENT:
            raise TypeError(
                f"Invalid dtype {x.dtype!r} in tf.math.divide_no_nan. Expected one of"
                f" {{{', '.join([repr(d) for d in operators.QUOTIENT])}}}."
            )
        wanted = operators.QUOTIENT[x.dtype]
        if wanted is not None:
            x = raw.Cast(x, DstT=wanted, name="Cast")
            y = raw.Cast(y, DstT=wanted, name="Cast")
        return raw.DivNoNan(x, y, name=scope)


@dispatchable
def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, and 0 where y is 0 whatever x is, for floating-point and complex numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/multiply_no_nan

    >>> print(tf.math.multiply_no_nan([2.0, float("inf")], [3.0, 0.0]).numpy())
    [6. 0.]
    """
    with door.level().scoped(name or "multiply_no_nan") as scope:
        x = convert.to_tensor(x)
        y = convert.to_tensor(y, x.dtype)
        return raw.MulNoNan(x, y, name=scope)


@dispatchable
def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y rounded down, as Python rounds. Raises InvalidArgumentError for integers / 0.

    https://www.tensorflow.org/api_docs/python/tf/math/floordiv

    >>> print(tf.math.floordiv([7, -7], 2).numpy())
    [ 3 -4]
    """
    return operators.floordiv(x, y, name)


@dispatchable
def floormod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The remainder of x / y with the sign of y, as Python has it.

    https://www.tensorflow.org/api_docs/python/tf/math/floormod

    >>> print(tf.math.floormod([7, -7], 3).numpy())
    [1 2]
    """
    return raw.FloorMod(x, y, name=name)


mod = floormod


@dispatchable
def realdiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y of floating-point and complex numbers.

    https://www.tensorflow.org/api_docs/python/tf/realdiv

    >>> print(tf.realdiv(7.0, 2.0).numpy())
    3.5
    """
    return raw.RealDiv(x, y, name=name)


@dispatchable
def truncatediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y rounded towards zero, as C rounds.

    https://www.tensorflow.org/api_docs/python/tf/truncatediv

    >>> print(tf.truncatediv(-7, 2).numpy())
    -3
    """
    return raw.TruncateDiv(x, y, name=name)


@dispatchable
def truncatemod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The remainder of x / y with the sign of x, as C has it.

    https://www.tensorflow.org/api_docs/python/tf/truncatemod

    >>> print(tf.truncatemod(-7, 2).numpy())
    -1
    """
    return raw.TruncateMod(x, y, name=name)


@dispatchable
def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x ** y. Raises InvalidArgumentError for integers to negative powers.

    https://www.tensorflow.org/api_docs/python/tf/math/pow

    >>> print(tf.pow([2, 3], 2).numpy())
    [4 9]
    """
    return operators.power(x, y, name)


@dispatchable
def maximum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The larger of x and y, for real numbers; NaN if either is.

    https://www.tensorflow.org/api_docs/python/tf/math/maximum

    >>> print(tf.maximum([1, 5, 3], [4, 2, 3]).numpy())
    [4 5 3]
    """
    return raw.Maximum(x, y, name=name)


@dispatchable
def minimum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The smaller of x and y, for real numbers; NaN if either is.

    https://www.tensorflow.org/api_docs/python/tf/math/minimum

    >>> print(tf.minimum([1, 5, 3], [4, 2, 3]).numpy())
    [1 2 3]
    """
    return raw.Minimum(x, y, name=name)


@dispatchable
def squared_difference(x: Any, y: Any, name: str | None = None) -> Tensor:
    """conj(x - y) * (x - y).

    https://www.tensorflow.org/api_docs/python/tf/math/squared_difference

    >>> print(tf.math.squared_difference([1, 5], [3, 2]).numpy())
    [4 9]
    """
    return raw.SquaredDifference(x, y, name=name)


@dispatchable
def negative(x: Any, name: str | None = None) -> Tensor:
    """-x, for signed numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/negative

    >>> print(tf.negative([1, -2]).numpy())
    [-1  2]
    """
    return raw.Neg(x, name=name)


@dispatchable
def abs(x: Any, name: str | None = None) -> Tensor:
    """|x|; of complex numbers, real numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/abs

    >>> print(tf.abs([-2.5, 3.0]).numpy())
    [2.5 3. ]
    """
    return operators.absolute(x, name)


@dispatchable
def sign(x: Any, name: str | None = None) -> Tensor:
    """-1, 0 or 1; of complex numbers, x / |x|.

    https://www.tensorflow.org/api_docs/python/tf/math/sign

    >>> print(tf.sign([-2.0, 0.0, 5.0]).numpy())
    [-1.  0.  1.]
    """
    return raw.Sign(x, name=name)


@dispatchable
def square(x: Any, name: str | None = None) -> Tensor:
    """x * x.

    https://www.tensorflow.org/api_docs/python/tf/math/square

    >>> print(tf.square([3, -4]).numpy())
    [ 9 16]
    """
    return raw.Square(x, name=name)


@dispatchable
def reciprocal(x: Any, name: str | None = None) -> Tensor:
    """1 / x.

    https://www.tensorflow.org/api_docs/python/tf/math/reciprocal

    >>> print(tf.math.reciprocal([2.0, 4.0]).numpy())
    [0.5  0.25]
    """
    return raw.Reciprocal(x, name=name)


@dispatchable
def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0.

    https://www.tensorflow.org/api_docs/python/tf/math/reciprocal_no_nan

    >>> print(tf.math.reciprocal_no_nan([2.0, 0.0]).numpy())
    [0.5 0. ]
    """
    with door.level().scoped(name or "reciprocal_no_nan") as scope:
        x = convert.to_tensor(x)
        one = convert.to_tensor(constant_of(1, x), name="one")
        return raw.DivNoNan(one, x, name=scope)


@dispatchable
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A number times a tensor or IndexedSlices. Raises ValueError if it is no number.

    https://www.tensorflow.org/api_docs/python/tf/math/scalar_mul

    >>> print(tf.scalar_mul(2.0, tf.constant([1.0, 3.0])).numpy())
    [2. 6.]
    """
    values = x.values if isinstance(x, IndexedSlices) else convert.to_tensor(x)
    with door.level().scoped(name or "scalar_mul") as scope:
        factor = convert.to_tensor(scalar, values.dtype, "scalar")
        if factor.dims != ():
            raise ValueError(
                f"The input scalar must be a 0-D value. Received shape {factor.shape}."
            )
        if isinstance(x, IndexedSlices):
            scaled = raw.Mul(factor, values)
            return IndexedSlices(scaled, x.indices, x.dense_shape)
        return raw.Mul(factor, values, name=scope)


@dispatchable
def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of tensors or IndexedSlices of one dtype and shape.

    Raises ValueError if there is none.

    https://www.tensorflow.org/api_docs/python/tf/math/add_n

    >>> print(tf.add_n([tf.constant([1, 2]), tf.constant([3, 4])]).numpy())
    [4 6]
    """
    tensors = _listed(inputs)
    if len(tensors) == 1:
        return raw.Identity(tensors[0], name=name) if name else tensors[0]
    return raw.AddN(tensors, name=name)


_NOTHING = (
    "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
)


def _listed(inputs: Any) -> Sequence[Tensor]:
    if inputs is None or not hasattr(inputs, "__iter__"):
        raise ValueError(_NOTHING)
    items = list(inputs)
    if not items:
        raise ValueError(_NOTHING)
    return [convert.to_tensor(item) for item in items]


@dispatchable
def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """The sum of tensors of one dtype and shape; `shape` and `tensor_dtype` may repeat them.

    Raises ValueError if there is none, TypeError if `tensor_dtype` is another dtype.

    https://www.tensorflow.org/api_docs/python/tf/math/accumulate_n

    >>> print(tf.math.accumulate_n([tf.constant([1, 2]), tf.constant([3, 4])]).numpy())
    [4 6]
    """
    tensors = _listed(inputs)
    if tensor_dtype is not None and tensors[0].dtype != tensor_dtype:
        raise TypeError(
            f"The `tensor_dtype` argument is {tensor_dtype}, but `input` is of type"
            f" {tensors[0].dtype}. These must be equal. Try casting the input to the"
            " desired type."
        )
    if len(tensors) == 1 and name is None:
        return tensors[0]
    if len(tensors) == 1:
        return raw.Identity(tensors[0], name=name)
    return raw.AddN(tensors, name=name)


@dispatchable
def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """The polynomial with these coefficients, the highest power's first, at x.

    Raises ValueError if `coeffs` is no list.

    https://www.tensorflow.org/api_docs/python/tf/math/polyval

    >>> print(tf.math.polyval([2.0, 0.0, 1.0], 3.0).numpy())
    19.0
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    with door.level().scoped(name or "polyval"):
        x = convert.to_tensor(x)
        if not coeffs:
            return raw.ZerosLike(x)
        total = convert.to_tensor(coeffs[0])
        for coefficient in coeffs[1:]:
            product = raw.Mul(total, x, name="mul")
            total = operators.add(coefficient, product, "add")
        return total


@dispatchable
def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Tensor:
    """`num` evenly spaced numbers from `start` to `stop`, along a new axis.

    `start` and `stop` have one shape, which may be that of a scalar, and one floating-point
    dtype; integers become float64. Raises InvalidArgumentError unless `num` is above 0.

    https://www.tensorflow.org/api_docs/python/tf/linspace

    >>> print(tf.linspace(0.0, 1.0, 3).numpy())
    [0.  0.5 1. ]
    """
    with door.level().scoped(name or "linspace"):
        start = convert.to_tensor(start, name="start")
        stop = convert.to_tensor(stop, start.dtype, name="stop")
        if start.dtype.is_integer:
            start = raw.Cast(start, DstT=_INTEGER_QUOTIENT)
            stop = raw.Cast(stop, DstT=_INTEGER_QUOTIENT)
        whole = raw.BroadcastArgs(raw.Shape(start), raw.Shape(stop))
        first = raw.ExpandDims(raw.BroadcastTo(start, whole), axis)
        last = raw.ExpandDims(raw.BroadcastTo(stop, whole), axis)
        num = convert.to_tensor(num, name="num")
        line = _spaced(first, last, raw.Cast(num, DstT="int32"), axis)
        if not isinstance(axis, Tensor) and not shapes.known(line.dims) and first.dims is not None:
            # Inference does not follow which size is selected for which axis.
            dims = [*first.dims]
            dims[axis] = number(num.spec)
            line.set_shape(dims)
        return line


def _spaced(first: Any, last: Any, count: Any, axis: int) -> Tensor:
    steps = raw.Maximum(raw.Sub(count, 1), 1)
    delta = raw.RealDiv(raw.Sub(last, first), raw.Cast(steps, DstT=first.dtype))
    inner = raw.Cast(raw.Range(1, steps, 1), DstT=first.dtype)
    rank = raw.Rank(first)
    index = raw.FloorMod(convert.to_tensor(axis, count.dtype), rank)
    marks = raw.OneHot(raw.Reshape(index, [1]), rank, True, False)
    ones = raw.Fill(raw.ExpandDims(rank, 0), 1)
    shape = raw.SelectV2(raw.Reshape(marks, [-1]), raw.Size(inner), ones)
    between = raw.AddV2(first, raw.Mul(delta, raw.Reshape(inner, shape)))
    line = raw.ConcatV2([first, between, last], index)
    sizes = raw.SelectV2(raw.Reshape(marks, [-1]), count, raw.Shape(line))
    return raw.Slice(line, raw.ZerosLike(sizes), sizes)
