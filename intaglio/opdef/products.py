"""What `@` means on tensors; `tf.matmul` calls the same.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg/matmul.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import as_dtype
from intaglio.opdef import convert, raw
from intaglio.opdef.levels import leave_out_package
from intaglio.opdef.operators import pair, register_fast
from intaglio.opdef.overloads import install_overloadable
from intaglio.opdef.tensor import Tensor

_TRANSPOSED_TWICE = (
    "Only one of `transpose_{0}` and `adjoint_{0}` can be True. "
    "Received `transpose_{0}`=True, `adjoint_{0}`=True."
)


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    output_type: Any = None,
    name: str | None = None,
) -> Tensor:
    """The product of matrices, or of batches of matrices that broadcast.

    Raises ValueError if an operand is to be transposed and adjoint both.
    """
    if transpose_a and adjoint_a:
        raise ValueError(_TRANSPOSED_TWICE.format("a"))
    if transpose_b and adjoint_b:
        raise ValueError(_TRANSPOSED_TWICE.format("b"))
    if output_type is not None:
        a, b = convert.to_tensor(a), convert.to_tensor(b)
    else:
        a, b = pair(a, b)
    name = name or "MatMul"
    dims_a, dims_b = a.dims, b.dims
    mixed = output_type is not None and (
        as_dtype(output_type) is not a.dtype or a.dtype is not b.dtype
    )
    if (
        dims_a is not None
        and dims_b is not None
        and len(dims_a) <= 2
        and len(dims_b) <= 2
        and not mixed
    ):
        if not (transpose_a or transpose_b or adjoint_a or adjoint_b):
            return raw.MatMul(a, b, name=name)
        a = _conjugate(a) if adjoint_a else a
        b = _conjugate(b) if adjoint_b else b
        return raw.MatMul(
            a,
            b,
            transpose_a=transpose_a or adjoint_a,
            transpose_b=transpose_b or adjoint_b,
            name=name,
        )
    flags = {"adj_x": transpose_a or adjoint_a, "adj_y": transpose_b or adjoint_b}
    a = _conjugate(a) if transpose_a else a
    b = _conjugate(b) if transpose_b else b
    if mixed:
        return raw.BatchMatMulV3(a, b, Tout=output_type, **flags, name=name)
    return raw.BatchMatMulV2(a, b, **flags, name=name)


def _conjugate(x: Tensor) -> Tensor:
    return raw.Conj(x) if x.dtype.is_complex else x


def _forward(self: Any, other: Any) -> Any:
    if getattr(other, "__array_priority__", 0) > Tensor.__array_priority__:
        return NotImplemented
    try:
        return matmul(self, other, name="matmul")
    except Exception as e:
        leave_out_package(e)
        raise


def _backward(self: Any, other: Any) -> Any:
    try:
        return matmul(convert.to_tensor(other, self.dtype), self, name="matmul")
    except Exception as e:
        leave_out_package(e)
        raise


register_fast("__matmul__", lambda: raw.MatMul, install_overloadable("__matmul__", _forward))
install_overloadable("__rmatmul__", _backward)
