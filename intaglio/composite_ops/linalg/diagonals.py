"""Diagonals and bands of matrices.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Each matrix with zeros outside a band around its diagonal; negative numbers keep all.

    Raises InvalidArgumentError if a number is larger than the matrix.

    >>> print(tf.linalg.band_part([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 0, 1).numpy())
    [[1 2 0]
     [0 5 6]
     [0 0 9]]
    """
    return raw.MatrixBandPart(input, num_lower, num_upper, name=name)


@dispatchable
def diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with the given diagonals, numbered k or k[0] to k[1]; `padding_value` elsewhere.

    Raises InvalidArgumentError (ValueError in a graph) if the sizes do not fit.

    `num_rows` and `num_cols` are the size of the matrices, -1 for the smallest. `align` puts
    diagonals that are shorter than the longest to the "LEFT" or "RIGHT": first that of
    superdiagonals, then that of subdiagonals.

    >>> print(tf.linalg.diag([1, 2]).numpy())
    [[1 0]
     [0 2]]
    """
    x = convert.to_tensor(diagonal)
    padding = convert.to_tensor(_padding(padding_value, x), x.dtype)
    return raw.MatrixDiagV3(x, k, num_rows, num_cols, padding, align=align, name=name)


@dispatchable
def diag_part(
    input: Any,
    name: str = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """The diagonals k or k[0] to k[1] of each matrix, highest first, padded to one length.

    Raises InvalidArgumentError for a diagonal that is not there.

    `padding_value` fills diagonals up that are shorter than the longest. `align` puts diagonals
    that are shorter than the longest to the "LEFT" or "RIGHT": first that of superdiagonals, then
    that of subdiagonals.

    >>> print(tf.linalg.diag_part([[1, 2], [3, 4]]).numpy())
    [1 4]
    """
    x = convert.to_tensor(input)
    padding = convert.to_tensor(_padding(padding_value, x), x.dtype)
    return raw.MatrixDiagPartV3(x, k, padding, align=align, name=name)


def _padding(value: Any, x: Tensor) -> Any:
    """0 means False for booleans."""
    return bool(value) if x.dtype.is_bool and value in (0, 1) else value


@dispatchable
def set_diag(
    input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """The matrices with other diagonals. Raises InvalidArgumentError if the shapes do not fit.

    `k` is the diagonal, or the lowest and the highest one. `align` puts diagonals that are shorter
    than the longest to the "LEFT" or "RIGHT": first that of superdiagonals, then that of
    subdiagonals.

    >>> print(tf.linalg.set_diag([[1, 2], [3, 4]], [8, 9]).numpy())
    [[8 2]
     [3 9]]
    """
    return raw.MatrixSetDiagV3(input, diagonal, k, align=align, name=name)


@dispatchable
def tensor_diag(diagonal: Any, name: str | None = None) -> Tensor:
    """`output[i..., i...] = diagonal[i...]`, zeros elsewhere.

    >>> print(tf.linalg.tensor_diag([1, 2]).numpy())
    [[1 0]
     [0 2]]
    """
    return raw.Diag(diagonal, name=name)


@dispatchable
def tensor_diag_part(input: Any, name: str | None = None) -> Tensor:
    """`output[i...] = input[i..., i...]`.

    >>> print(tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy())
    [1 4]
    """
    return raw.DiagPart(input, name=name)


__all__ = ["band_part", "diag", "diag_part", "set_diag", "tensor_diag", "tensor_diag_part"]
