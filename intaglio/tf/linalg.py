"""`tf.linalg`: products, decompositions and other functions of matrices.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg.
"""

from __future__ import annotations

from typing import Any

from intaglio.op import products
from intaglio.op.tensor import Tensor


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices, or of two batches of matrices: `a @ b`.

    `a` has the shape `[..., m, k]` and `b` `[..., k, n]`, before the transpositions and
    adjoints asked for; the batch dimensions broadcast. The hints that an operand is mostly
    zeros are accepted and change nothing. Raises ValueError if an operand is to be
    transposed and adjoint both, or the shapes do not fit in a graph; InvalidArgumentError
    if they do not fit eagerly.

    https://www.tensorflow.org/api_docs/python/tf/linalg/matmul
    """
    return products.matmul(
        a,
        b,
        transpose_a,
        transpose_b,
        adjoint_a,
        adjoint_b,
        output_type=output_type,
        name=name,
    )
