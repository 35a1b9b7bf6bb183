"""Where errors differ from TensorFlow's on purpose, each with its reason.

A row covers the calls of its ops (all, if none are named) whose change matches the pattern, where
TensorFlow says `theirs` and Intaglio `ours` (any, if empty). test_errors.py fails for calls that
no row covers, and for rows that cover nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Deviation:
    """Calls whose errors differ, and why."""

    reason: str
    theirs: str
    ours: str = ""
    ops: str = ""
    change: str = ""

    def covers(self, op: str, change: str, theirs: str, ours: str) -> bool:
        """True for a call that this row is about."""
        return (
            theirs == self.theirs
            and self.ours in ("", ours)
            and (not self.ops or op in self.ops.split())
            and re.search(self.change, change) is not None
        )


INVALID = "InvalidArgumentError"
DTYPE = r" as \w+$| = '(float32|int32|string|bool|complex64)'$"

TABLE = (
    Deviation(
        "TensorFlow has no kernel of this dtype for CPUs. Intaglio computes it, or names the "
        "input that does not fit the others.",
        theirs="NotFoundError",
        change=DTYPE,
    ),
    Deviation(
        "For some ops TensorFlow converts inputs in Python, with ValueError. Here a tensor of "
        "another dtype is always InvalidArgumentError, as for its other ops.",
        theirs="ValueError",
        ours=INVALID,
        change=DTYPE,
    ),
    Deviation(
        "TensorFlow compares numbers of elements only; its graphs compare shapes, as Intaglio "
        "does always.",
        theirs="accepted",
        ours=INVALID,
        ops="InvGrad ReciprocalGrad RsqrtGrad SigmoidGrad SqrtGrad TanhGrad",
    ),
    Deviation(
        "A number wrong in two ways, at once too small and in a dimension that has no window: "
        "TensorFlow's kernels differ among themselves in which they name first.",
        theirs=INVALID,
        ours="UnimplementedError",
        change=r"(strides|ksize) = \[(-1|0),",
    ),
    Deviation(
        "The same, the other way about.",
        theirs="UnimplementedError",
        ours=INVALID,
        change=r"(strides|ksize) = \[(-1|0),",
    ),
    Deviation(
        "One tensor joined is that tensor. TensorFlow's public function knows that too, its op "
        "does not.",
        theirs=INVALID,
        ours="accepted",
        ops="Concat ConcatV2",
        change="values one less",
    ),
    Deviation(
        "Arguments of the wrong rank, numbers outside their range and unknown names, which "
        "TensorFlow reads as far as it understands them, or not at all. Intaglio refuses.",
        theirs="accepted",
        ours=INVALID,
        ops="AvgPoolGrad BroadcastArgs CTCGreedyDecoder ExtractImagePatches "
        "ExtractVolumePatches ImageProjectiveTransformV2 ImageProjectiveTransformV3 "
        "MatrixDiagV3 RaggedBincount RaggedCountSparseOutput RaggedCross RaggedGather "
        "RaggedTensorToSparse RaggedTensorToTensor Range ScatterNdNonAliasingAdd "
        "StatelessRandomNormalV2 StatelessRandomUniformV2 StatelessTruncatedNormalV2 "
        "StringNGrams TensorStridedSliceUpdate Unpack UnravelIndex",
    ),
    Deviation(
        "Lists of different lengths are a ValueError, as in TensorFlow when they are Python "
        "lists.",
        theirs=INVALID,
        ours="ValueError",
        ops="DynamicStitch ParallelDynamicStitch",
    ),
    Deviation(
        "TensorFlow stumbles over its own list when it asks for its first element.",
        theirs="IndexError",
        ours=INVALID,
        ops="ShapeN",
    ),
    Deviation(
        "Two things are wrong, the rank and the index of a box.",
        theirs=INVALID,
        ours="OutOfRangeError",
        ops="CropAndResizeGradBoxes",
    ),
    Deviation(
        "Indices of sparse tensors outside their shape: TensorFlow reads past them, or calls "
        "it an error of its own.",
        theirs="accepted",
        ours=INVALID,
        ops="DeserializeManySparse SerializeSparse SparseCross SparseCrossV2 SparseReduceMax "
        "SparseReduceMaxSparse SparseReduceSum SparseReduceSumSparse",
    ),
    Deviation(
        "The same.",
        theirs="InternalError",
        ops="EditDistance SparseConcat SparseReduceMax SparseReduceSum SparseSliceGrad",
    ),
    Deviation(
        "Lists of different lengths, and what is no list, are a ValueError and a TypeError.",
        theirs=INVALID,
        ops="SparseConcat SparseCross SparseCrossV2",
    ),
    # -- not there yet: these are to be mended ----------------------------------------
    Deviation(
        "Not yet: arrays without a channel or a class are refused, where TensorFlow gives an "
        "empty result.",
        theirs="accepted",
        ours=INVALID,
        ops="AvgPool BiasAddGrad CombinedNonMaxSuppression Conv2D CropAndResize MaxPool "
        "ResizeNearestNeighborGrad",
        change="empty at the end",
    ),
    Deviation(
        "Not yet: empty arrays of the wrong shape get an empty result.",
        theirs=INVALID,
        ours="accepted",
        ops="BandedTriangularSolve GatherNd MaxPoolWithArgmax RaggedFillEmptyRows "
        "UnravelIndex RaggedTensorToTensor",
        change="empty at the end",
    ),
    Deviation(
        "Not yet: the parts of ragged and sparse arguments are not all compared.",
        theirs=INVALID,
        ops="CTCLoss RaggedCross RaggedFillEmptyRows RaggedGather RaggedTensorToSparse "
        "RaggedTensorToTensor",
    ),
    Deviation(
        "Not yet: parameters broadcast further than TensorFlow lets them.",
        theirs=INVALID,
        ours="accepted",
        ops="MatrixTriangularSolve StatelessParameterizedTruncatedNormal UniqueV2 "
        "UniqueWithCountsV2",
    ),
    Deviation(
        "Not yet: sparse indices, their shapes and the shapes of gradients are not all compared.",
        theirs=INVALID,
        ours="accepted",
        ops="EditDistance QuantizeAndDequantizeV2 QuantizeAndDequantizeV4 "
        "QuantizeAndDequantizeV4Grad SerializeManySparse SerializeSparse SparseBincount "
        "SparseConcat SparseFillEmptyRowsGrad SparseReduceMax SparseReduceMaxSparse "
        "SparseReduceSum SparseReduceSumSparse SparseSegmentMeanGradV2 "
        "SparseSegmentSqrtNGradV2 SparseSegmentSumGradV2 SparseSlice SparseSliceGrad "
        "SparseSoftmax SparseSparseMaximum SparseSparseMinimum SparseSplit",
    ),
)
