"""Diagonals of matrices: extraction, assignment, diagonal matrices; bands."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import ALL, COMPLEX, FLOATING, INDEX, int32, int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.base.shapes import Dims, brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number, numbers
from intaglio.ops.families import check_rank, shape_of

ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


# Masks of up to so many elements are cached: those of attention are the same at each call.
MAX_REMEMBERED = 1 << 18


def _band(rows: int, columns: int, below: int, above: int) -> np.ndarray:
    """The mask of a band of so many diagonals below and above the main one; a negative number means
    all."""
    kept = np.tri(rows, columns, above if above >= 0 else columns, dtype=bool)
    if below >= 0:
        kept &= ~np.tri(rows, columns, -below - 1, dtype=bool)
    return kept


_remembered_band = functools.lru_cache(8)(_band)


@op
class MatrixBandPart(Op):
    """The band of each matrix around its diagonal; zeros elsewhere. Negative counts keep all."""

    signature = "input: T, num_lower: Tindex, num_upper: Tindex -> band: T"
    T = ALL
    Tindex = INDEX
    batching = "leading"
    data_inputs = ("input",)

    def infer(self, input: Spec) -> Spec:
        if input.shape is not None and len(input.shape) < 2:
            raise ShapeError(f"Shape must be at least rank 2 but is rank {len(input.shape)}")
        return Spec(input.dtype, input.shape)

    def kernel(self, input, num_lower, num_upper):
        if input.ndim < 2:
            raise invalid_argument(
                f"input must be at least 2-dim, received shape: {brackets(input.shape)}"
            )
        rows, columns = input.shape[-2:]
        below, above = int(num_lower), int(num_upper)
        for name, n, size in (("lower", below, rows), ("upper", above, columns)):
            if n > size:
                raise invalid_argument(
                    f"num_{name} must be negative or less or equal to number of {'rows' if name == 'lower' else 'columns'} ({size}) got: {n}"
                )
        make = _remembered_band if rows * columns <= MAX_REMEMBERED else _band
        kept = make(rows, columns, below, above)
        zero = b"" if input.dtype == object else np.zeros((), input.dtype)[()]
        return np.where(kept, input, np.asarray(zero, input.dtype))

    def gradient(self, dband, num_lower, num_upper) -> Any:
        return raw.MatrixBandPart(dband, num_lower, num_upper), None, None


# -- several diagonals -----------------------------------------------------------------


def _range_of(k: Any) -> tuple[int, int]:
    """The lowest and highest diagonal that k names. Raises InvalidArgumentError if unordered."""
    values = np.atleast_1d(k).tolist()
    if not 1 <= len(values) <= 2:
        raise invalid_argument(
            f"diag_index must be a scalar or a vector with one or two elements, received shape: {brackets(np.shape(k))}"
        )
    low, high = values[0], values[-1]
    if low > high:
        raise invalid_argument(
            f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}"
        )
    return low, high


def _length(rows: int, columns: int, d: int) -> int:
    return min(rows + min(d, 0), columns - max(d, 0))


def _longest(rows: int, columns: int, low: int, high: int) -> int:
    return min(rows + min(high, 0), columns - max(low, 0))


def _start(d: int, length: int, longest: int, align: str) -> int:
    """Where a shorter diagonal begins in its row."""
    upper, lower = align.split("_")
    side = upper if d >= 0 else lower
    return longest - length if side == "RIGHT" else 0


def diagonal_indices(
    rows: int, columns: int, low: int, high: int, align: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Row and column in the matrix, diagonal and position in the packed form, longest length."""
    for d in (low, high):
        if not -rows < d < columns and not (d == 0):
            raise invalid_argument(
                f"{'lower' if d == low else 'upper'}_diag_index is out of bound: {d}. It must be between {-rows} and {columns}"
            )
    longest = _longest(rows, columns, low, high)
    parts: list[tuple[np.ndarray, ...]] = []
    for i, d in enumerate(range(high, low - 1, -1)):
        n = _length(rows, columns, d)
        steps = np.arange(n)
        at = steps + _start(d, n, longest, align)
        parts.append((steps + max(-d, 0), steps + max(d, 0), np.full(n, i), at))
    r, c, i, at = (np.concatenate(p) for p in zip(*parts, strict=True))
    return r, c, i, at, longest


def _packed_shape(lead: Any, low: int, high: int, longest: int) -> tuple[Any, ...]:
    return (*lead, longest) if low == high else (*lead, high - low + 1, longest)


class DiagonalPart(Op):
    """Diagonals k[0] to k[1] of each matrix as rows, highest first, padded and aligned."""

    T = ALL
    batching = "leading"
    data_inputs = ("input", "padding_value")

    def infer(self, input: Spec, k: Spec) -> Spec:
        if input.shape is None:
            return Spec(input.dtype, None)
        if len(input.shape) < 2:
            raise ShapeError(f"Shape must be at least rank 2 but is rank {len(input.shape)}")
        ks = numbers(k)
        if ks is None:
            return Spec(input.dtype, None)
        low, high = ks[0], ks[-1]
        rows, columns = input.shape[-2:]
        longest = None
        if rows is not None and columns is not None:
            longest = _longest(rows, columns, low, high)
        return Spec(input.dtype, _packed_shape(input.shape[:-2], low, high, longest))  # type: ignore[arg-type]  # its rank was checked above


def _packed_diagonals(input: Any, k: Any, padding_value: Any, align: str) -> Any:
    if input.ndim < 2:
        raise invalid_argument(
            f"input must be at least 2-dim, received shape: {brackets(input.shape)}"
        )
    low, high = _range_of(k)
    rows, columns = input.shape[-2:]
    r, c, i, at, longest = diagonal_indices(rows, columns, low, high, align)
    lead = input.shape[:-2]
    result = np.full((*lead, high - low + 1, longest), padding_value[()], input.dtype)
    result[..., i, at] = input[..., r, c]
    return result.reshape(_packed_shape(lead, low, high, longest))


def _packed_gradient(ddiagonal: Any, input: Spec, k: Any, align: str) -> Any:
    zero = np.zeros((), input.dtype.numpy)
    if input.shape is not None and None not in input.shape[-2:]:
        rows, columns = input.shape[-2:]
        gradient = raw.MatrixDiagV3(ddiagonal, k, rows, columns, zero, align=align)
        return gradient, None, None
    zeros = raw.Fill(shape_of(input), zero)
    return raw.MatrixSetDiagV3(zeros, ddiagonal, k, align=align), None, None


@op
class MatrixDiagPartV3(DiagonalPart):
    """Diagonals k[0] to k[1] of each matrix as rows, highest first, padded and aligned."""

    signature = "input: T, k: int32, padding_value: T; align: str = 'RIGHT_LEFT' -> diagonal: T"
    align = ALIGNMENTS

    def kernel(self, input, k, padding_value, align):
        return _packed_diagonals(input, k, padding_value, align)

    def gradient(self, ddiagonal, input: Spec, k, align) -> Any:
        return _packed_gradient(ddiagonal, input, k, align)


@op
class MatrixDiagPartV2(DiagonalPart):
    """Diagonals k[0] to k[1] of each matrix as rows, highest first, padded at the end."""

    signature = "input: T, k: int32, padding_value: T -> diagonal: T"

    def kernel(self, input, k, padding_value):
        return _packed_diagonals(input, k, padding_value, "LEFT_LEFT")

    def gradient(self, ddiagonal, input: Spec, k) -> Any:
        return _packed_gradient(ddiagonal, input, k, "LEFT_LEFT")


def _diag_size(
    depth: int, longest: int, low: int, high: int, rows: int, columns: int
) -> tuple[int, int]:
    """The smallest matrix for the diagonals, where rows or columns are -1."""
    least_rows = longest - min(high, 0)
    least_columns = longest + max(low, 0)
    if rows == -1 and columns == -1:
        size = max(least_rows, least_columns)
        return size, size
    if rows == -1:
        rows = least_rows
    if columns == -1:
        columns = least_columns
    if rows < least_rows:
        raise invalid_argument("The number of rows is too small.")
    if columns < least_columns:
        raise invalid_argument("The number of columns is too small.")
    if rows != least_rows and columns != least_columns:
        raise invalid_argument(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal."
        )
    return rows, columns


@op
class MatrixDiagV3(Op):
    """Matrices with the given diagonals k[0] to k[1]; the padding value elsewhere."""

    signature = "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T; align: str = 'RIGHT_LEFT' -> output: T"
    T = ALL
    align = ALIGNMENTS
    batching = "leading"
    data_inputs = ("diagonal", "padding_value")

    def infer(self, diagonal: Spec, k: Spec, num_rows: Spec, num_cols: Spec) -> Spec:
        if diagonal.shape is None:
            return Spec(diagonal.dtype, None)
        if not diagonal.shape:
            raise ShapeError("Shape must be at least rank 1 but is rank 0")
        ks = numbers(k)
        if ks is None:
            return Spec(diagonal.dtype, None)
        low, high = ks[0], ks[-1]
        depth = 1 if low == high else 2
        lead = diagonal.shape[:-depth]
        longest = diagonal.shape[-1]
        rows, columns = number(num_rows), number(num_cols)
        if longest is None or rows is None or columns is None:
            return Spec(diagonal.dtype, (*lead, None, None))
        return Spec(
            diagonal.dtype, (*lead, *_diag_size(high - low + 1, longest, low, high, rows, columns))
        )

    def kernel(self, diagonal, k, num_rows, num_cols, padding_value, align):
        low, high = _range_of(k)
        if diagonal.ndim < 1:
            raise invalid_argument(
                f"diagonal must be at least 1-dim, received shape: {brackets(diagonal.shape)}"
            )
        check_rank("padding_value", padding_value, 0)
        packed = diagonal[..., None, :] if low == high else diagonal
        if packed.ndim < 2 or packed.shape[-2] != high - low + 1:
            raise invalid_argument(
                f"The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index range: {brackets(diagonal.shape)}"
            )
        longest = packed.shape[-1]
        rows, columns = _diag_size(high - low + 1, longest, low, high, int(num_rows), int(num_cols))
        lead = packed.shape[:-2]
        check_allocated((*lead, rows, columns), diagonal.dtype.itemsize, "MatrixDiag")
        r, c, i, at, _ = diagonal_indices(rows, columns, low, high, align)
        lead = packed.shape[:-2]
        result = np.full((*lead, rows, columns), padding_value[()], diagonal.dtype)
        result[..., r, c] = packed[..., i, at]
        return result

    def gradient(self, doutput, k, align) -> Any:
        zero = np.zeros((), doutput.dtype.numpy)
        part = raw.MatrixDiagPartV3(doutput, k, zero, align=align)
        return part, None, None, None, None


@op
class MatrixSetDiagV3(Op):
    """The matrices with other diagonals k[0] to k[1]."""

    signature = "input: T, diagonal: T, k: int32; align: str = 'RIGHT_LEFT' -> output: T"
    T = ALL
    align = ALIGNMENTS
    batched_inputs = 2
    batching = "leading"
    data_inputs = ("input", "diagonal")

    def infer(self, input: Spec, diagonal: Spec, k: Spec) -> Spec:
        if input.shape is not None and len(input.shape) < 2:
            raise ShapeError(f"Shape must be at least rank 2 but is rank {len(input.shape)}")
        return Spec(input.dtype, input.shape)

    def kernel(self, input, diagonal, k, align):
        if input.ndim < 2:
            raise invalid_argument(
                f"input must be at least 2-dim, received shape: {brackets(input.shape)}"
            )
        low, high = _range_of(k)
        rows, columns = input.shape[-2:]
        r, c, i, at, longest = diagonal_indices(rows, columns, low, high, align)
        wanted = _packed_shape(input.shape[:-2], low, high, longest)
        if diagonal.shape != wanted:
            raise invalid_argument(
                f"Expected shape of diagonal: {brackets(wanted)}, Actual: {brackets(diagonal.shape)}"
            )
        packed = diagonal[..., None, :] if low == high else diagonal
        result = np.array(input)
        result[..., r, c] = packed[..., i, at]
        return result

    def gradient(self, doutput, diagonal: Spec, k, align) -> Any:
        zero = np.zeros((), doutput.dtype.numpy)
        part = raw.MatrixDiagPartV3(doutput, k, zero, align=align)
        zeros = raw.Fill(shape_of(diagonal), zero)
        return raw.MatrixSetDiagV3(doutput, zeros, k, align=align), part, None


@op
class MatrixDiag(Op):
    """Square matrices with the given diagonal, zeros elsewhere."""

    signature = "diagonal: T -> output: T"
    T = ALL
    batching = "leading"
    data_inputs = ("diagonal",)

    def infer(self, diagonal: Spec) -> Spec:
        if diagonal.shape is None:
            return Spec(diagonal.dtype, None)
        if not diagonal.shape:
            raise ShapeError("Shape must be at least rank 1 but is rank 0")
        return Spec(diagonal.dtype, (*diagonal.shape, diagonal.shape[-1]))

    def kernel(self, diagonal):
        n = diagonal.shape[-1]
        fill = b"" if diagonal.dtype == object else 0
        result = np.full((*diagonal.shape, n), fill, diagonal.dtype)
        result[..., np.arange(n), np.arange(n)] = diagonal
        return result

    def gradient(self, doutput) -> Any:
        return raw.MatrixDiagPart(doutput)


@op
class MatrixDiagPart(Op):
    """The diagonal of each matrix."""

    signature = "input: T -> diagonal: T"
    T = ALL
    batching = "leading"
    data_inputs = ("input",)

    def infer(self, input: Spec) -> Spec:
        if input.shape is None:
            return Spec(input.dtype, None)
        if len(input.shape) < 2:
            raise ShapeError(f"Shape must be at least rank 2 but is rank {len(input.shape)}")
        a, b = input.shape[-2:]
        size = None if a is None or b is None else min(a, b)
        return Spec(input.dtype, (*input.shape[:-2], size))

    def kernel(self, input):
        return np.diagonal(input, axis1=-2, axis2=-1)

    def gradient(self, ddiagonal, input: Spec) -> Any:
        zeros = raw.Fill(shape_of(input), np.zeros((), input.dtype.numpy))
        return raw.MatrixSetDiag(zeros, ddiagonal)


@op
class MatrixSetDiag(Op):
    """The matrices with another diagonal."""

    signature = "input: T, diagonal: T -> output: T"
    T = ALL
    batching = "alike"
    data_inputs = ("input", "diagonal")

    def infer(self, input: Spec, diagonal: Spec) -> Spec:
        return Spec(input.dtype, input.shape)

    def kernel(self, input, diagonal):
        n = min(input.shape[-2:])
        if diagonal.shape != (*input.shape[:-2], n):
            raise invalid_argument(
                f"must have diagonal.shape == input.shape[:-2] + min(input.shape[-2:]), but received input shape: {brackets(input.shape)} and diagonal shape: {brackets(diagonal.shape)}"
            )
        result = np.array(input)
        result[..., np.arange(n), np.arange(n)] = diagonal
        return result

    def gradient(self, doutput, diagonal: Spec) -> Any:
        zeros = raw.Fill(shape_of(diagonal), np.zeros((), diagonal.dtype.numpy))
        return raw.MatrixSetDiag(doutput, zeros), raw.MatrixDiagPart(doutput)


# -- tensors of any rank -----------------------------------------------------------------

DIAGONAL_TYPES = (*FLOATING, int32, int64, *COMPLEX)


@op
class Diag(Op):
    """`output[i..., i...] = diagonal[i...]`, zeros elsewhere."""

    signature = "diagonal: T -> output: T"
    T = DIAGONAL_TYPES
    data_inputs = ("diagonal",)
    numerics_checked = False

    def infer(self, diagonal: Spec) -> Spec:
        dims = diagonal.shape
        return Spec(diagonal.dtype, None if dims is None else dims + dims)

    def kernel(self, diagonal):
        if diagonal.ndim < 1:
            raise invalid_argument("Input must be at least rank 1, got 0")
        return np.diag(diagonal.reshape(-1)).reshape(diagonal.shape * 2)

    def gradient(self, doutput) -> Any:
        return raw.DiagPart(doutput)


@op
class DiagPart(Op):
    """`diagonal[i...] = input[i..., i...]`."""

    signature = "input: T -> diagonal: T"
    T = DIAGONAL_TYPES
    data_inputs = ("input",)
    numerics_checked = False

    def infer(self, input: Spec) -> Spec:
        dims: Dims = input.shape
        if dims is None:
            return Spec(input.dtype, None)
        if not dims or len(dims) % 2:
            raise ShapeError(f"Input must have even and non-zero rank, but is {len(dims)}")
        half = len(dims) // 2
        if not shapes.compatible(dims[:half], dims[half:]):
            raise ShapeError(
                f"Invalid shape {brackets(dims)}: the first half must equal the second"
            )
        return Spec(input.dtype, shapes.merge(dims[:half], dims[half:]))

    def kernel(self, input):
        half = input.ndim // 2
        if input.ndim % 2 or not input.ndim or input.shape[:half] != input.shape[half:]:
            raise invalid_argument(
                f"The rank of the tensor should be even and positive and its halves equal, got shape {brackets(input.shape)}"
            )
        n = int(np.prod(input.shape[:half]))
        return np.diagonal(input.reshape(n, n)).reshape(input.shape[:half])

    def gradient(self, ddiagonal) -> Any:
        return raw.Diag(ddiagonal)
