"""Matrix products: of two matrices, and of batches that broadcast."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import (
    COMPLEX,
    FLOATING,
    UNSIGNED,
    DType,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import Dims
from intaglio.opdef import raw, short_floats
from intaglio.opdef.machine_code import MIN_COMPILED_WORK, exact_kernel
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.compiled import select_kernel
from intaglio.ops.families import shape_of, spec_of, unbroadcast
from intaglio.ops.math.summation import is_long_product, long_product

BATCHED = (*FLOATING, int16, int32, int64, *UNSIGNED, *COMPLEX)
MIXED = (*FLOATING, uint8, int8, int16, int32, int64, *COMPLEX)


def brackets(shape: tuple[int, ...]) -> str:
    """A shape as kernels print it: `[2,3]`."""
    return "[" + ",".join(map(str, shape)) + "]"


def _inner(left: int | None, right: int | None) -> None:
    if left is not None and right is not None and left != right:
        raise ShapeError(f"Dimensions must be equal, but are {left} and {right}")


def _rank_two(dims: Dims) -> tuple[int | None, int | None]:
    if dims is None:
        return (None, None)
    if len(dims) != 2:
        raise ShapeError(f"Shape must be rank 2 but is rank {len(dims)}")
    return dims


def _conj(x: Any) -> Any:
    return raw.Conj(x) if x.dtype.is_complex else x


def _product(a: Any, b: Any) -> Any:
    """The product of two matrices as they are; anything else takes the slow path."""
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("not two matrices")
    return a.dot(b) if 1 < a.size < MIN_HALVED_SIZE and b.size > 1 else dot(a, b)


def _numpy_dot(a: Any, b: Any) -> Any:
    """`a.dot(b)` of two matrices."""
    if 1 in (a.size, b.size) and a.shape[1] == b.shape[0]:
        # NumPy's product with a single 0 is zeros, also of infinities and NaN. Its sums begin with 0.
        return np.multiply(a, b) + 0
    return a.dot(b)


# From this many elements on, three products of floats are faster than one of integers.
MIN_HALVED_SIZE = 1 << 10
# With more terms than this, the sums of the halves' products could leave float64's integers.
MAX_TERMS = 1 << 20


def dot(a: Any, b: Any) -> Any:
    """`a.dot(b)` for matrices, large ones by a compiled kernel if there is one."""
    if a.dtype.kind in "iu":
        return _integer_dot(a, b)
    work = a.size * b.shape[-1]
    if work < MIN_COMPILED_WORK or a.size < MIN_HALVED_SIZE or a.shape[1] != b.shape[0]:
        return _numpy_dot(a, b)
    if is_long_product(a, b):
        return long_product(a, b)
    if not (a.flags.forc and b.flags.forc):
        return _numpy_dot(a, b)
    if a.dtype.kind == "c":
        return _complex_dot(a, b)
    transposed = not a.flags.c_contiguous, not b.flags.c_contiguous
    run = select_kernel("product", a.dtype, work, a.shape, b.shape, *transposed)
    if run is None:
        return _numpy_dot(a, b)
    return run(a.T if transposed[0] else a, b.T if transposed[1] else b)


def _complex_dot(a: Any, b: Any) -> Any:
    """Four products of the parts, which have kernels: NumPy's library has none for complex numbers
    that uses the processor's widest registers."""
    # Contiguous as the matrices are, by rows or by columns.
    (x, u), (y, v) = ([part.copy(order="K") for part in (m.real, m.imag)] for m in (a, b))
    result = np.empty((a.shape[0], b.shape[1]), a.dtype)
    np.subtract(dot(x, y), dot(u, v), out=result.real)
    np.add(dot(x, v), dot(u, y), out=result.imag)
    return result


def _short_dot(a: Any, b: Any) -> Any:
    """`a.dot(b)` of large matrices of 16-bit floats, if there is a kernel for them."""
    work = a.size * b.shape[-1]
    if work < MIN_COMPILED_WORK or a.shape[1] != b.shape[0]:
        return None
    if not (a.flags.forc and b.flags.forc):
        return None
    transposed = not a.flags.c_contiguous, not b.flags.c_contiguous
    run = select_kernel("product", a.dtype, work, a.shape, b.shape, *transposed)
    return run and run(a.T if transposed[0] else a, b.T if transposed[1] else b)


def _integer_dot(a: Any, b: Any) -> Any:
    """`a.dot(b)` of integers; large ones of 32 bits in float arithmetic.

    NumPy multiplies integers one by one. Each number is split into a high and a low half of 16
    bits; of the four products that of the high halves is a multiple of 2**32, and float64 holds the
    sums of the others exactly.
    """
    inner = a.shape[1]
    if (
        a.size < MIN_HALVED_SIZE
        or b.size < MIN_HALVED_SIZE
        or inner > MAX_TERMS
        or a.dtype.itemsize != 4
        or inner != b.shape[0]
    ):
        return a.dot(b)
    low_a, high_a = _halves(a)
    low_b, high_b = _halves(b)
    crossed = dot(high_a, low_b)
    crossed += dot(low_a, high_b)
    product = crossed.astype(np.int64)
    product <<= 16
    product += dot(low_a, low_b).astype(np.int64)
    return product.astype(a.dtype)


def _halves(x: Any) -> tuple[Any, Any]:
    """The low 16 bits and the others, as floats."""
    return (x & 0xFFFF).astype(np.float64), (x >> 16).astype(np.float64)


def _with_transposes(product: Callable[..., Any], transpose_a: bool, transpose_b: bool) -> Any:
    """The product of matrices of which some are transposed first."""
    if transpose_a and transpose_b:
        return lambda a, b: product(a.T, b.T)
    if transpose_a:
        return lambda a, b: product(a.T, b)
    if transpose_b:
        return lambda a, b: product(a, b.T)
    return product


@op
class MatMul(Op):
    """The product of two matrices, each optionally transposed."""

    signature = (
        "a: T, b: T; transpose_a: bool = False, transpose_b: bool = False, "
        "grad_a: bool = False, grad_b: bool = False -> product: T"
    )
    bilinear = True
    T = (*FLOATING, int32, int64, *UNSIGNED, *COMPLEX)
    gradient_needs = {"a": ("b",), "b": ("a",)}
    quick_kernel = staticmethod(_product)
    quick_types = (float32, float64, int32, int64, *UNSIGNED, *COMPLEX)
    fresh_result = True

    def infer(self, a: Spec, b: Spec, transpose_a, transpose_b) -> Spec:
        rows, inner = _rank_two(a.shape)
        left, columns = _rank_two(b.shape)
        if transpose_a:
            rows, inner = inner, rows
        if transpose_b:
            left, columns = columns, left
        _inner(inner, left)
        return Spec(a.dtype, (rows, columns))

    def kernel(self, a, b, transpose_a, transpose_b):
        if a.ndim != 2 or b.ndim != 2:
            raise _matrix_error(a, b)
        if transpose_a:
            a = a.T
        if transpose_b:
            b = b.T
        if short_floats.is_short(a.dtype):
            product = _short_dot(a, b)
            if product is not None:
                return product
            return self.kernel(
                short_floats.widened(a), short_floats.widened(b), False, False
            ).astype(a.dtype)
        try:
            return dot(a, b)
        except ValueError:
            raise _size_error(a.T if transpose_a else a, b.T if transpose_b else b) from None

    def native(self, a, b, transpose_a, transpose_b) -> Any:
        if not a.dtype.is_complex:
            return NotImplemented

        def product(x: Any, y: Any) -> Any:
            return raw.MatMul(x, y, transpose_a=transpose_a, transpose_b=transpose_b)

        return in_parts(product, parts(a), parts(b))

    def kernel_for(self, a: Spec, b: Spec, transpose_a, transpose_b) -> Any:
        """NumPy's product, where the shapes are known to fit and need no check."""
        if a.shape is None or b.shape is None or a.dtype.size == 2:
            return None
        inner = a.shape[0 if transpose_a else 1]
        left, columns = b.shape[::-1] if transpose_b else b.shape
        if inner is None or inner != left:
            return None
        count, product = a.count, dot
        if inner == 1:
            pass  # an operand may be a single number
        elif count is not None and count < MIN_HALVED_SIZE:
            product = np.ndarray.dot
        elif count is not None and columns is not None and not a.dtype.is_integer:
            product = np.ndarray.dot if count * columns < MIN_COMPILED_WORK else dot
        return _with_transposes(product, transpose_a, transpose_b)

    def gradient(self, a, b, dproduct, transpose_a, transpose_b) -> Any:
        d = dproduct

        def by_a() -> Any:
            if transpose_a:
                return raw.MatMul(_conj(b), d, transpose_a=transpose_b, transpose_b=True)
            return raw.MatMul(d, _conj(b), transpose_b=not transpose_b)

        def by_b() -> Any:
            if transpose_b:
                return raw.MatMul(d, _conj(a), transpose_a=True, transpose_b=transpose_a)
            return raw.MatMul(_conj(a), d, transpose_a=not transpose_a)

        return by_a, by_b


def parts(x: Any, conjugated: bool = False) -> tuple[Any, Any]:
    """The real and the imaginary part of a complex tensor, or of its conjugate."""
    kind = float32 if x.dtype.size == 8 else float64
    imaginary = raw.Imag(x, Tout=kind)
    return raw.Real(x, Tout=kind), raw.Neg(imaginary) if conjugated else imaginary


def in_parts(product: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """A product of complex operands, which are given as their parts, by those of real ones."""
    (a, b), (c, d) = x, y
    real = raw.Sub(product(a, c), product(b, d))
    imaginary = raw.AddV2(product(a, d), product(b, c))
    whole = complex64 if real.dtype is float32 else complex128
    return raw.Complex(real, imaginary, Tout=whole)


def _size_error(a: Any, b: Any) -> Exception:
    return invalid_argument(
        f"Matrix size-incompatible: In[0]: {brackets(a.shape)}, In[1]: {brackets(b.shape)}"
    )


def _matrix_error(a: Any, b: Any) -> Exception:
    if a.ndim != b.ndim:
        return invalid_argument(
            f"In[0] and In[1] has different ndims: {brackets(a.shape)} vs. {brackets(b.shape)}"
        )
    return invalid_argument(f"In[0] and In[1] ndims must be == 2: {a.ndim}")


# -- batches ---------------------------------------------------------------------------


def _batched(x: Dims, y: Dims, adj_x: bool, adj_y: bool) -> Dims:
    """The shape of a batch of products."""
    if x is None or y is None:
        return None
    for dims in (x, y):
        if len(dims) < 2:
            raise ShapeError(f"Shape must be at least rank 2 but is rank {len(dims)}")
    rows, inner = (x[-1], x[-2]) if adj_x else (x[-2], x[-1])
    left, columns = (y[-1], y[-2]) if adj_y else (y[-2], y[-1])
    _inner(inner, left)
    batch = shapes.broadcast(x[:-2], y[:-2])
    return (*(batch or ()), rows, columns)


def _adjoint(x: Any) -> Any:
    swapped = x.swapaxes(-1, -2)
    return swapped.conj() if x.dtype.kind == "c" else swapped


def _multiply(x: Any, y: Any, adj_x: bool, adj_y: bool) -> np.ndarray:
    if x.ndim < 2 or y.ndim < 2:
        at = 0 if x.ndim < 2 else 1
        raise invalid_argument(f"In[{at}] ndims must be >= 2: {(x.ndim, y.ndim)[at]}")
    work = x.size * y.shape[-2 if adj_y else -1]
    if work >= MIN_COMPILED_WORK and x.ndim > 2:
        run = select_kernel("products", x.dtype, work, x.shape, y.shape, adj_x, adj_y)
        if run is not None:
            return run(x, y)
    left = _adjoint(x) if adj_x else x
    right = _adjoint(y) if adj_y else y
    if short_floats.is_short(x.dtype):
        left, right = short_floats.widened(left), short_floats.widened(right)
    if right.ndim == 2 and left.ndim > 2 and left.flags.c_contiguous:
        if left.shape[-1] != right.shape[0]:
            raise _size_error(x, y)
        rows = math.prod(left.shape[:-1])
        flat = dot(left.reshape(rows, left.shape[-1]), right)  # one product, not many
        result = flat.reshape(*left.shape[:-1], right.shape[1])
    else:
        try:
            if left.ndim == right.ndim == 2:
                result = dot(left, right)
            else:
                long = is_long_product(left, right)
                result = long_product(left, right) if long else np.matmul(left, right)
        except ValueError:
            raise _batch_error(x, y, left, right) from None
    return result.astype(x.dtype) if result.dtype != x.dtype else result


def product_of_batches(a: Any, b: Any) -> np.ndarray:
    """`np.matmul(a, b)` by the kernels that large products have; matrices may be transposed in memory."""
    vectors = a.shape[-2] == 1 or b.shape[-1] == 1
    if a.dtype.kind == "c" or (vectors and a.ndim > 2):
        return np.matmul(a, b)
    swapped = [
        x.ndim > 2 and not x.flags.c_contiguous and x.swapaxes(-1, -2).flags.c_contiguous
        for x in (a, b)
    ]
    x, y = (m.swapaxes(-1, -2) if s else m for m, s in zip((a, b), swapped, strict=True))
    return _multiply(x, y, *swapped)


def _integer_kernel(x: Any, y: Any, adj_x: bool, adj_y: bool) -> Any:
    """A kernel for products of 8-bit integers with sums of 32 bits, which are exact; None without
    one."""
    if x.ndim < 2 or y.ndim < 2:
        return None
    work = x.size * y.shape[-2 if adj_y else -1]
    dtypes = x.dtype, y.dtype
    return exact_kernel("integer products", work, dtypes, x.shape, y.shape, adj_x, adj_y)


def _batch_error(x: Any, y: Any, left: Any, right: Any) -> Exception:
    if left.shape[-1] != right.shape[-2]:
        return _size_error(x, y)
    return invalid_argument(
        f"In[0] and In[1] must have compatible batch dimensions: "
        f"{brackets(x.shape)} vs. {brackets(y.shape)}"
    )


class Batched(Op):
    """Products of the matrices in the last two dimensions; the others broadcast."""

    signature = (
        "x: T, y: T; adj_x: bool = False, adj_y: bool = False, "
        "grad_x: bool = False, grad_y: bool = False -> output: T"
    )
    bilinear = True
    T: tuple[DType, ...] = BATCHED
    gradient_needs = {"x": ("y",), "y": ("x",)}

    def infer(self, x: Spec, y: Spec, adj_x, adj_y) -> Spec:
        return Spec(x.dtype, _batched(x.shape, y.shape, adj_x, adj_y))

    def kernel(self, x, y, adj_x, adj_y):
        return _multiply(x, y, adj_x, adj_y)

    def native(self, x, y, adj_x, adj_y) -> Any:
        return _simpler(x, y, adj_x, adj_y)

    def gradient(self, x, y, doutput, adj_x, adj_y) -> Any:
        by_x, by_y = _batched_gradient(x, y, doutput, adj_x, adj_y)
        return lambda: _unbatched(by_x(), x, y), lambda: _unbatched(by_y(), y, x)


def _simpler(x: Any, y: Any, adj_x: bool, adj_y: bool) -> Any:
    """A batch of products by those of real numbers, in batches of one shape."""

    def product(x: Any, y: Any) -> Any:
        return raw.BatchMatMulV2(x, y, adj_x=adj_x, adj_y=adj_y)

    if min(len(x.dims), len(y.dims)) < 2 or x.dtype is not y.dtype:
        return NotImplemented
    if x.dtype.is_complex:
        return in_parts(product, parts(x, adj_x), parts(y, adj_y))
    batches = x.dims[:-2], y.dims[:-2]
    if batches[0] == batches[1] or 1 in map(shapes.count, batches):
        return NotImplemented
    batch = shapes.broadcast(*batches)
    wide = [
        raw.BroadcastTo(v, np.asarray((*(batch or ()), *v.dims[-2:]), np.int32)) for v in (x, y)
    ]
    return product(*wide)


def _batched_gradient(x: Any, y: Any, d: Any, adj_x: bool, adj_y: bool) -> Any:
    """Functions that make the gradients of the operands, before `_unbatched`."""
    product = raw.BatchMatMulV2

    def by_x() -> Any:
        if adj_x:
            return product(y, d, adj_x=adj_y, adj_y=True)
        return product(d, y, adj_y=not adj_y)

    def by_y() -> Any:
        if adj_y:
            return product(d, x, adj_x=True, adj_y=adj_x)
        return product(x, d, adj_x=not adj_x)

    return by_x, by_y


def _unbatched(gradient: Any, operand: Any, other: Any) -> Any:
    """The gradient summed over the batch dimensions that were broadcast."""
    own, others = spec_of(operand).shape, spec_of(other).shape
    if shapes.known(own) and shapes.known(others) and own[:-2] == others[:-2]:
        return gradient
    if not (shapes.known(own) and shapes.known(others)):
        return _unbatched_late(gradient, operand, other)
    batch = shapes.broadcast(own[:-2], others[:-2]) or ()
    # The matrices' own dimensions take part in no broadcast.
    return unbroadcast(gradient, Spec(operand.dtype, own), Spec(operand.dtype, (*batch, *own[-2:])))


def _unbatched_late(gradient: Any, operand: Any, other: Any) -> Any:
    whole, others = shape_of(spec_of(operand)), shape_of(spec_of(other))
    end = np.asarray([-2], np.int32)
    zero, one = np.asarray([0], np.int32), np.asarray([1], np.int32)
    axes, _ = raw.BroadcastGradientArgs(
        raw.StridedSlice(whole, zero, end, one, begin_mask=1),
        raw.StridedSlice(others, zero, end, one, begin_mask=1),
    )
    return raw.Reshape(raw.Sum(gradient, axes), whole)


@op
class BatchMatMulV2(Batched):
    """Products of matrices in batches that broadcast."""

    fresh_result = True
    batching = "broadcast"


@op
class BatchMatMul(Batched):
    """Products of matrices in batches of one shape."""

    T = (*FLOATING, int32, int64, *COMPLEX)
    batching = "alike"

    def infer(self, x: Spec, y: Spec, adj_x, adj_y) -> Spec:
        if x.shape is not None and y.shape is not None:
            shapes.merge(x.shape[:-2], y.shape[:-2])
        return Spec(x.dtype, _batched(x.shape, y.shape, adj_x, adj_y))

    def kernel(self, x, y, adj_x, adj_y):
        if x.ndim != y.ndim:
            raise _matrix_error(x, y)
        return _multiply(x, y, adj_x, adj_y)


@op
class BatchMatMulV3(Op):
    """As BatchMatMulV2, with a dtype of its own for each operand and the result."""

    signature = (
        "x: Ta, y: Tb; Tout: type, adj_x: bool = False, adj_y: bool = False, "
        "grad_x: bool = False, grad_y: bool = False -> output: Tout"
    )
    bilinear = True
    Ta = MIXED
    Tb = MIXED
    Tout = MIXED
    batching = "broadcast"

    def infer(self, x: Spec, y: Spec, Tout: DType, adj_x, adj_y) -> Spec:
        return Spec(Tout, _batched(x.shape, y.shape, adj_x, adj_y))

    def kernel(self, x, y, Tout: DType, adj_x, adj_y):
        if Tout is int32 and x.dtype.itemsize == y.dtype.itemsize == 1:
            run = _integer_kernel(x, y, adj_x, adj_y)
            if run is not None:
                return run(x, y)
        wide = np.dtype(np.float32) if Tout.size == 2 and Tout.is_floating else Tout.numpy
        product = _multiply(x.astype(wide), y.astype(wide), adj_x, adj_y)
        return product.astype(Tout.numpy, copy=False)

    def native(self, x, y, Tout: DType, adj_x, adj_y) -> Any:
        return _simpler(x, y, adj_x, adj_y) if x.dtype is Tout else NotImplemented

    def gradient(self, x, y, doutput, adj_x, adj_y) -> Any:
        dtype = doutput.dtype
        wide_x, wide_y = raw.Cast(x, DstT=dtype), raw.Cast(y, DstT=dtype)
        by_x, by_y = _batched_gradient(wide_x, wide_y, doutput, adj_x, adj_y)
        return (
            lambda: raw.Cast(_unbatched(by_x(), x, y), DstT=x.dtype),
            lambda: raw.Cast(_unbatched(by_y(), y, x), DstT=y.dtype),
        )
