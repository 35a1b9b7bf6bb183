"""The one table of ops whose native code need not give the bits of their NumPy kernels, and why."""

from __future__ import annotations

import numpy as np

from tests.ops import calls

CLOSE = {
    "NumPy computes the function in a way of its own": (
        "Exp", "Expm1", "Log", "Log1p", "Tanh", "Sigmoid", "Elu", "Selu", "Softplus", "SoftplusGrad",
        "Sin", "Cos", "Tan", "Sinh", "Cosh", "Asin", "Acos", "Atan", "Atan2", "Asinh", "Acosh",
        "Atanh", "Erf", "Erfc", "Erfinv", "Ndtri", "Lgamma", "Digamma",
        "BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1",
        "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1",
        "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence",
        "Igamma", "Igammac", "Betainc", "Zeta", "Polygamma", "Pow", "Xlogy", "Xlog1py", "Angle", "ComplexAbs",
        "CumulativeLogsumexp",
    ),
    "sums are added up in another order": (
        "MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Sum", "Mean", "Prod",
        "BiasAddGrad", "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", "DepthwiseConv2dNative",
        "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter", "MaxPoolGrad",
        "MaxPool3DGrad", "AvgPool3D", "AvgPool3DGrad",
        "Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", "AvgPool", "AvgPoolGrad", "Softmax", "LogSoftmax", "SoftmaxCrossEntropyWithLogits",
        "SparseSoftmaxCrossEntropyWithLogits", "UnsortedSegmentSum", "ScatterNd",
        "TensorScatterAdd", "TensorScatterSub", "FusedBatchNorm", "FusedBatchNormV2",
        "FusedBatchNormV3", "FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3",
        "SparseTensorDenseMatMul", "L2Loss", "EuclideanNorm", "AdjustContrastv2", "LRN", "LRNGrad",
    ),
    "products of complex numbers, one after the other, NumPy rounds twice": ("Cumprod", "UnsortedSegmentProd"),
    "LAPACK factorises in blocks, and divides by multiplying": (
        "Cholesky", "MatrixDeterminant", "MatrixInverse", "MatrixSolve", "MatrixTriangularSolve",
    ),
    "logarithms and sines are of float64 there and here, and rounded": (
        "RandomStandardNormal", "StatelessRandomNormal", "StatelessRandomNormalV2",
        "TruncatedNormal", "StatelessTruncatedNormal", "StatelessTruncatedNormalV2",
    ),
}  # fmt: skip
CLOSE_OPS = frozenset([op for ops in CLOSE.values() for op in ops])
# Roots of complex numbers go through float64; those of real ones are exact.
COMPLEX_ROOTS = frozenset(["Sqrt", "Rsqrt"])


def assert_alike(mine, theirs, sample) -> None:
    """The same bits, or close for an op of the table."""
    root = sample.op in COMPLEX_ROOTS and np.iscomplexobj(theirs)
    if root or sample.op in CLOSE_OPS:
        calls.assert_close(mine, theirs, sample)
    else:
        calls.assert_same(mine, theirs, repr(sample))


def foreseeable(sample) -> bool:
    """False for random numbers of a stream that starts anywhere."""
    if ("service", "stream") not in calls.CATALOGUE[sample.op].kernel_order:
        return True
    return any(sample.args.get(k, 0) for k in ("seed", "seed2"))
