"""Where answers differ from TensorFlow's on purpose, each with its reason.

A row covers the calls of its ops (all, if none are named) whose change matches the pattern, where
TensorFlow says `theirs` and Intaglio `ours` (any, if empty). test_errors.py and test_variants.py
fail for calls that no row covers, and for rows that cover nothing.
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
# What differs where both accept a call.
SHAPES = "other shapes"
VALUES = "other values"
DTYPE = r" as \w+$| = '(float32|int32|string|bool|complex64)'$"

TABLE = (
    Deviation(
        "Windows beyond the array, or more gradients than windows: TensorFlow cuts them off, or "
        "reads what lies behind them in memory.",
        theirs="accepted",
        ours=INVALID,
        ops="FractionalAvgPoolGrad FractionalMaxPoolGrad",
    ),
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
        "Lists of different lengths are a ValueError, as in TensorFlow when they are Python lists.",
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
    Deviation(
        "Filters and images without elements do not belong together; TensorFlow does not look "
        "where there is nothing to compute.",
        theirs="accepted",
        ours=INVALID,
        ops="Conv2D",
    ),
    Deviation(
        "A negative dimension is refused, whatever is done with it.",
        theirs="accepted",
        ours=INVALID,
        ops="SparseReorder",
        change="shape with",
    ),
    Deviation(
        "Keys are vectors here, and numbers of features those of the keys; TensorFlow's op reads "
        "keys of any rank and refuses other numbers.",
        theirs="accepted",
        ops="ParseSequenceExampleV2",
    ),
    Deviation("The same.", theirs=INVALID, ours="accepted", ops="ParseSequenceExampleV2"),
    Deviation(
        "What is no dtype is a TypeError.", theirs=INVALID, ours="TypeError", ops="ParseExampleV2"
    ),
    Deviation(
        "A dense feature without its default: TensorFlow does not look.",
        theirs="accepted",
        ours=INVALID,
        ops="ParseExampleV2",
        change="dense_defaults empty",
    ),
    Deviation(
        "Shapes that do not belong together: TensorFlow reads past the arrays that are too "
        "small, and ignores what is too large. Here they are refused, as for BlockLSTM in both.",
        theirs="accepted",
        ours=INVALID,
        ops="BlockLSTMGrad BlockLSTMGradV2",
        change="longer at|empty at the end",
    ),
)
# Calls derived from the samples (test_variants.py).
OF_VARIANTS: tuple[Deviation, ...] = (
    Deviation(
        "TensorFlow rounds each step to 16 bits, where the exponential overflows sooner: infinite "
        "gradients become NaN there. Intaglio's steps are those of float32.",
        theirs="accepted",
        ours=VALUES,
        ops="SoftplusGrad",
        change="^at the ends of float16",
    ),
    Deviation(
        "TensorFlow divides long results among threads, whose numbers begin at other places: the bits "
        "depend on the processor. Here they are those of one thread.",
        theirs="accepted",
        ours=VALUES,
        ops="StatelessParameterizedTruncatedNormal",
        change="^shape longer at the start",
    ),
    Deviation(
        "TensorFlow's kernels for CPUs know images with channels last only, or fail with these. "
        "Intaglio computes them.",
        theirs=INVALID,
        change=r"data_format = 'NCD?HW'",
    ),
    Deviation(
        "The same.", theirs="UnimplementedError", ours="accepted", change=r"data_format = 'NCD?HW'"
    ),
    Deviation(
        "Two things are wrong, and either may be named first.",
        theirs=INVALID,
        ours="FailedPreconditionError",
        ops="CTCGreedyDecoder",
    ),
    Deviation(
        "Gradients that do not belong to the window and padding named: TensorFlow takes those "
        "that are larger than they can be.",
        theirs="accepted",
        ours=INVALID,
        ops="AvgPool3DGrad ResizeNearestNeighborGrad",
    ),
    Deviation(
        "Attributes that contradict one another: dtypes or hashes that are not those of the "
        "other arguments.",
        theirs="accepted",
        ours=SHAPES,
        ops="RaggedCross SparseAdd SparseCross",
        change=r"hashed_output|out_type|Treal|sparse_values",
    ),
    Deviation(
        "The same, where TensorFlow refuses.",
        theirs=INVALID,
        ours="accepted",
        ops="ArgMax ComplexAbs StatelessRandomUniformFullInt",
    ),
    Deviation(
        "Arrays without elements have an ordinary, empty answer here.",
        theirs=INVALID,
        ours="accepted",
        ops="CropAndResizeGradBoxes DeserializeManySparse DeserializeSparse "
        "FractionalMaxPoolGrad LSTMBlockCell RaggedGather ResizeBicubicGrad ResizeBilinearGrad "
        "ScaleAndTranslateGrad",
        change=r"without axis|all empty",
    ),
    Deviation(
        "TensorFlow does not write its result where there is nothing to compute, and returns "
        "what stood in memory. Here it is 0, or the mean of nothing.",
        theirs="accepted",
        ours=VALUES,
        ops="Conv2DBackpropFilter DepthwiseConv2dNativeBackpropFilter Fingerprint "
        "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 IRFFT IRFFT2D IRFFT3D MatrixSolveLs "
        "RFFT RFFT2D RFFT3D",
        change=r"without axis|empty at the end|is_training = False",
    ),
    Deviation(
        "TensorFlow does not write the gates of the steps after the last, and returns what stood "
        "in memory. Here they are 0.",
        theirs="accepted",
        ours=VALUES,
        ops="BlockLSTM BlockLSTMV2",
        change="x longer at the start",
    ),
    Deviation(
        "With the accurate transform Pillow offers no other upscaling of a JPEG's colours.",
        theirs="accepted",
        ours=VALUES,
        ops="DecodeAndCropJpeg DecodeJpeg",
        change="fancy_upscaling",
    ),
    Deviation(
        "TensorFlow's kernels return no number at the largest numbers, at infinities, or for "
        "orders above 170, where the functions have values.",
        theirs="accepted",
        ours=VALUES,
        ops="Erf Expint Polygamma Spence",
        change="at the ends of float64",
    ),
    Deviation(
        "Numbers at which a gradient overflows on the way, in an order of operations that "
        "is another in TensorFlow's vector code than in its scalar code.",
        theirs="accepted",
        ours=VALUES,
        ops="InvGrad ReciprocalGrad SqrtGrad",
        change="at the ends of float64",
    ),
    Deviation(
        "The quotient is too small for a number, which TensorFlow sets to 0 before it rounds: "
        "-1e-40 is rounded down to -1 here, and to 0 there.",
        theirs="accepted",
        ours=VALUES,
        ops="FloorDiv",
        change="at the ends of",
    ),
    Deviation(
        "exp(x) - 1 with the last bit of exp another; in float64 with NumPy 1.",
        theirs="accepted",
        ours=VALUES,
        ops="Elu Selu",
        change="at the ends of float",
    ),
    Deviation(
        "Shapes and places so small that their powers are below the smallest number, or both "
        "0 and infinite: the limits that TensorFlow takes are others.",
        theirs="accepted",
        ours=VALUES,
        ops="Igamma IgammaGradA Igammac RandomGammaGrad Zeta",
        change="at the ends of",
    ),
    Deviation(
        "0 ** 0 and powers with whole exponents are what they are for real numbers; "
        "TensorFlow goes by logarithms. On the negative real axis the sign of 0 says on which "
        "side of the cut a number is, and TensorFlow forgets it.",
        theirs="accepted",
        ours=VALUES,
        ops="Pow Rsqrt",
        change="at the ends of complex",
    ),
    Deviation(
        "TensorFlow's op makes 0 of integers, and its public function does not use it for them.",
        theirs="accepted",
        ours=VALUES,
        ops="Round",
        change="int",
    ),
    Deviation(
        "Indices outside the shape, out of order or repeated, which neither looks for.",
        theirs="accepted",
        ours=VALUES,
        ops="SparseAdd SparseAddGrad SparseReshape SparseSliceGrad",
        change="indices",
    ),
    Deviation("The same.", theirs="accepted", ours=SHAPES, ops="SparseAdd", change="indices"),
    Deviation(
        "Fewer than no values: TensorFlow writes packed fields of a negative length, which "
        "nobody can read.",
        theirs="accepted",
        ours=VALUES,
        ops="EncodeProto",
        change="sizes with -37",
    ),
    Deviation(
        "Not sorted, the largest elements may come in any order.",
        theirs="accepted",
        ours=VALUES,
        ops="TopKV2",
        change="sorted = False",
    ),
)
ALL = TABLE + OF_VARIANTS
