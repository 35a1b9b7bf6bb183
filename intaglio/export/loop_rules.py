"""Ops without other expressions as loops over elements: which function of `loops/` computes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import later
from intaglio.base.dtypes import DType, float32, float64, int32, int64
from intaglio.export import assertions
from intaglio.export.assertions import asserted
from intaglio.export.portable_rules import Rule
from intaglio.export.rules import NoRule, Rules
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import late, raw
from intaglio.ops.math.integral_series import LEAST_SHAPE, STIRLING

# The outputs of a node by loops, recorded in the graph that is written.
OPS: Rules[Rule] = Rules()
# The rounds of a series of the exponential, which is one for matrices of norms up to 1/2.
_TERMS = 18
# The resolvents whose sum is the logarithm of a matrix near to the identity.
_RESOLVENTS = 12


def loops(
    function: str,
    inputs: Sequence[Any],
    outputs: Sequence[tuple[DType, Sequence[int]]],
    owned: Sequence[tuple[DType, int]],
    *integers: int,
    refusal: str = "",
) -> list[Any]:
    """What a function writes to outputs of these dtypes and shapes; `owned` are arrays of its own.

    Outputs without elements come last: nothing is written to them. With a `refusal` the function has an
    array before those owned, in which it notes that inputs have no result (`ops/element_loops.py`).
    """
    written = [o for o in outputs if math.prod(o[1])]
    if written != [*outputs][: len(written)] or not written:
        raise NoRule("it has no elements")
    empty = [np.zeros(dims, t.numpy) for t, dims in outputs[len(written) :]]
    arrays = [*[(t, 1) for t, _ in outputs[len(written) :]], *owned]
    if refusal:
        arrays.insert(0, (int64, 1))
    found = raw._ElementLoops(
        list(inputs),
        function=f"intaglio.export.loops.{function}",
        integers=list(map(int, integers)),
        shapes=[tuple(dims) for _, dims in written],
        Tout=[t for t, _ in written],
        owned_sizes=[size for _, size in arrays],
        Towned=[t for t, _ in arrays],
        refusal=refusal,
    )
    rest = [
        raw.Const(value=a, dtype=t)
        for a, (t, _) in zip(empty, outputs[len(written) :], strict=True)
    ]
    return [*found, *rest]


def _sizes(value: SymbolicTensor) -> tuple[int, ...]:
    return tuple([d for d in value.dims or () if d is not None])


def _matrices(value: SymbolicTensor) -> tuple[tuple[int, ...], int, int, int]:
    """The dimensions before those of matrices, how many these are, and their rows and columns."""
    dims = _sizes(value)
    if value.dtype not in (float32, float64) or len(dims) < 2:
        raise NoRule(f"loops are for float32 and float64, and it has {value.dtype.name}")
    return dims[:-2], math.prod(dims[:-2]), dims[-2], dims[-1]


@OPS.of(late.Qr)
def _orthogonalised(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    (x,) = inputs
    before, batch, m, n = _matrices(x)
    k = m if node.attrs["full_matrices"] else min(m, n)
    outputs = [(x.dtype, (*before, m, k)), (x.dtype, (*before, k, n))]
    owned = [(float64, m * n), (float64, min(m, n)), (float64, m * k)]
    return loops("matrices:qr", [x], outputs, owned, batch, m, n, k)


@OPS.of(late.Lu)
def _factorised(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    (x,) = inputs
    before, batch, n, _ = _matrices(x)
    outputs = [(x.dtype, (*before, n, n)), (node.outputs[1].dtype, (*before, n))]
    return loops(
        "matrices:lu",
        [x],
        outputs,
        [(float64, n * n), (int64, n)],
        batch,
        n,
        refusal=assertions.SINGULAR,
    )


@OPS.of(late.LogMatrixDeterminant)
def _logarithm_of_determinant(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    (x,) = inputs
    before, batch, n, _ = _matrices(x)
    owned = [(float64, n * n), (int64, n)]
    return loops("matrices:log_determinant", [x], [(x.dtype, before)] * 2, owned, batch, n)


@OPS.of(late.MatrixDeterminant)
def _determinant(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    (x,) = inputs
    before, batch, n, _ = _matrices(x)
    owned = [(float64, n * n), (int64, n)]
    return loops("matrices:determinant", [x], [(x.dtype, before)], owned, batch, n)


@OPS.of(late.MatrixSolve)
def _solved(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    x, right = inputs
    before, batch, n, k = _matrices(right)
    owned = [(float64, n * n), (int64, n), (float64, n)]
    integers = batch, n, k, node.attrs["adjoint"]
    outputs = [(x.dtype, (*before, n, k))]
    return loops(
        "matrices:solve", [x, right], outputs, owned, *integers, refusal=assertions.SINGULAR
    )


@OPS.of(late.MatrixInverse)
def _inverted(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    (x,) = inputs
    before, batch, n, _ = _matrices(x)
    one = np.broadcast_to(np.eye(n, dtype=x.dtype.numpy), (*before, n, n)).copy()
    owned = [(float64, n * n), (int64, n), (float64, n)]
    integers = batch, n, n, node.attrs["adjoint"]
    outputs = [(x.dtype, (*before, n, n))]
    return loops("matrices:solve", [x, one], outputs, owned, *integers, refusal=assertions.SINGULAR)


@OPS.of(late.MatrixTriangularSolve)
def _substituted(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    x, right = inputs
    before, batch, n, k = _matrices(right)
    if _matrices(x)[0] != before:
        raise NoRule("the batches of its operands differ")
    integers = batch, n, k, node.attrs["lower"], node.attrs["adjoint"]
    outputs = [(x.dtype, (*before, n, k))]
    owned = [(float64, n)]
    return loops("matrices:triangular", [x, right], outputs, owned, *integers)


@OPS.of(late.TridiagonalSolve)
def _tridiagonal(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    diagonals, right = inputs
    before, batch, n, k = _matrices(right)
    if node.attrs["perturb_singular"] or _matrices(diagonals)[0] != before:
        raise NoRule("a singular matrix is perturbed, or batches differ")
    integers = batch, n, k, node.attrs["partial_pivoting"]
    owned, outputs = [(float64, 3 * n), (float64, n * k)], [(right.dtype, (*before, n, k))]
    arrays, refusal = [diagonals, right], assertions.SINGULAR
    return loops("matrices:tridiagonal", arrays, outputs, owned, *integers, refusal=refusal)


@OPS.of(late.Cholesky)
def _root(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    (x,) = inputs
    before, batch, n, _ = _matrices(x)
    outputs = [(x.dtype, (*before, n, n))]
    return loops("matrices:cholesky", [x], outputs, [(float64, n * n)], batch, n)


@OPS.of(late.SelfAdjointEigV2)
def _eigenvalues(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    (x,) = inputs
    before, batch, n, _ = _matrices(x)
    wanted = bool(node.attrs["compute_v"])
    vectors = (*before, n, n) if wanted else (0,)
    outputs = [(x.dtype, (*before, n)), (x.dtype, vectors)]
    owned = [(float64, n * n)] * 2
    return loops("matrices:eigen", [x], outputs, owned, batch, n, wanted)


@OPS.of(late.Svd)
def _singular_values(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    (x,) = inputs
    before, batch, rows, columns = _matrices(x)
    m, n = max(rows, columns), min(rows, columns)
    wanted = bool(node.attrs["compute_uv"])
    k = m if node.attrs["full_matrices"] else n
    longer, shorter = (*before, m, k), (*before, n, n)
    vectors = [shorter, longer] if rows < columns else [longer, shorter]
    shapes = [(*before, n), *(vectors if wanted else [(0,), (0,)])]
    owned = [(float64, m * n), (float64, n * n), (float64, m * k), (int64, n), (float64, n)]
    integers = batch, rows, columns, k, wanted
    return loops("matrices:svd", [x], [(x.dtype, s) for s in shapes], owned, *integers)


@OPS.of(late.MatrixExponential)
def _exponential(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    (x,) = inputs
    before, batch, n, _ = _matrices(x)
    owned = [(float64, n * n)] * 3
    return loops("matrices:exponential", [x], [(x.dtype, (*before, n, n))], owned, batch, n, _TERMS)


@OPS.of(late.MatrixLogarithm, late.MatrixSquareRoot)
def _function_of_matrix(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """By the Schur form of complex matrices; a real one may have a complex square root."""
    (x,) = inputs
    dims = _sizes(x)
    if not x.dtype.is_complex or not math.prod(dims):
        raise NoRule("loops are for complex matrices with elements")
    n, kind = dims[-1], x.dtype.real_dtype
    parts = [raw.Cast(part(x, Tout=kind), DstT=float64) for part in (raw.Real, raw.Imag)]
    nodes, weights = np.polynomial.legendre.leggauss(_RESOLVENTS)
    arrays = [raw.Const(value=a, dtype=float64) for a in ((nodes + 1) / 2, weights / 2)]
    owned = [(float64, n * n)] * 6 + [(float64, n * n + n)] * 2
    logarithm = node.op.name == late.MatrixLogarithm.name
    integers = math.prod(dims[:-2]), n, _RESOLVENTS, logarithm
    outputs = [(float64, dims)] * 2
    found = loops("complex_matrices:function", [*parts, *arrays], outputs, owned, *integers)
    return [raw.Complex(*[raw.Cast(f, DstT=kind) for f in found], Tout=x.dtype)]


# -- special functions ------------------------------------------------------------------------------------


@OPS.of(late.IgammaGradA, late.RandomGammaGrad)
def _gamma_slope(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Both derivatives, of which one is the result."""
    (result,) = node.outputs
    dims = _sizes(result)
    shape = np.array(dims, np.int32)
    a, x = [raw.BroadcastTo(raw.Cast(v, DstT=float64), shape) for v in inputs]
    digammas = raw.Digamma(raw.Maximum(a, np.float64(LEAST_SHAPE)))
    arrays = [a, x, digammas, raw.Const(value=np.array(STIRLING), dtype=float64)]
    outputs, size = [(float64, dims)] * 2, math.prod(dims)
    found = loops("special:gamma_slopes", arrays, outputs, [], size, len(STIRLING))
    number = 0 if node.op.name == late.IgammaGradA.name else 1
    return [raw.Cast(found[number], DstT=result.dtype)]


# -- boxes ----------------------------------------------------------------------------------------------


def suppressed(node: Node, inputs: Sequence[SymbolicTensor], padded: bool) -> list[Any]:
    """The boxes that are kept, with zeros behind them, and their number.

    There is memory for as many as there are boxes, or as are asked for if they are `padded`. Raises NoRule
    for boxes other than float32.
    """
    boxes, scores, limit, *rest = inputs
    size = (boxes.dims or (0,))[0]
    if boxes.dtype is not float32 or not size:
        raise NoRule("boxes are other than float32, or there are none")
    wanted = (node.outputs[0].dims or (None,))[0] if padded else size
    if not wanted:
        raise NoRule("how many boxes are asked for is data, or 0")
    share = np.asarray(node.attrs.get("iou_threshold", 0.5), np.float32)
    share = raw.Cast(rest[0], DstT=float32) if rest else share
    least = raw.Cast(rest[1], DstT=float32) if len(rest) > 1 else np.float32(-np.inf)
    asserted(raw.GreaterEqual(limit, np.int32(0)), assertions.NEGATIVE_OUTPUT_SIZE)
    within = raw.LogicalAnd(
        raw.GreaterEqual(share, np.float32(0)), raw.LessEqual(share, np.float32(1))
    )
    asserted(within, assertions.THRESHOLD_OUT_OF_RANGE)
    outputs = [(int32, (wanted,)), (int32, (1,))]
    arrays = [boxes, scores, limit, share, least]
    return loops("selection:suppress", arrays, outputs, [(int32, size)], size, wanted)


@OPS.of(late.NonMaxSuppressionV4)
def _kept_boxes(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Padded; others have as many results as data says (`selected_rows.py`)."""
    if not node.attrs["pad_to_max_output_size"]:
        raise NoRule("how many boxes are kept is data")
    chosen, count = suppressed(node, inputs, padded=True)
    return [chosen, raw.Reshape(count, np.zeros(0, np.int32))]


@OPS.of(late.DrawBoundingBoxes, late.DrawBoundingBoxesV2)
def _drawn_boxes(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """In colours that are data, or in ten that are not; one channel is drawn in white then."""
    images, boxes, *colors = inputs
    count, height, width, depth = _sizes(images)
    each = _sizes(boxes)[1]
    if images.dtype is not float32:
        raise NoRule("loops draw into images of float32")
    if not colors:
        palette = later.named("intaglio.ops.image.drawing:PALETTE")
        palette = np.ones_like(palette) if depth == 1 else palette
        colors = [raw.Const(value=palette, dtype=float32)]
    sizes = np.array([height - 1, width - 1] * 2, np.float32)
    arrays = [images, raw.Mul(boxes, sizes), *colors]
    integers = count, height, width, depth, each, *_sizes(colors[0])
    return loops("drawing:boxes", arrays, [(float32, _sizes(images))], [], *integers)
