"""The catalogue: every op once, by family.

Importing this package declares the families listed first; those at the end are imported when
one of their ops is first asked for.
"""

from intaglio.op import raw
from intaglio.ops import (
    activation,
    arithmetic,
    batch_normalization,
    bias,
    blocks,
    calls,
    cast,
    comparison,
    control_flow,
    convolution,
    convolution_depthwise,
    counting,
    debugging,
    decomposition,
    diagonals,
    einsum,
    error_functions,
    filling,
    gamma_functions,
    gathering,
    graph_inputs,
    grouping,
    joining,
    logic,
    matmul,
    normalization,
    padding,
    passing,
    philox,
    pooling,
    printing,
    python_call,
    quantifiers,
    random,
    random_generator,
    random_stateless,
    reduction,
    regular_expressions,
    reshaping,
    resource_variable,
    reversing,
    rounding,
    scan,
    scattering,
    segments,
    selection,
    shaping,
    slicing,
    softmax,
    sorting,
    string_codecs,
    string_format,
    string_hashes,
    strings,
    sums,
    tensor_list,
    tensor_list_stacking,
    training,
    transcendental,
)

__all__ = [
    "activation",
    "arithmetic",
    "batch_normalization",
    "bias",
    "blocks",
    "calls",
    "cast",
    "comparison",
    "control_flow",
    "convolution",
    "convolution_depthwise",
    "counting",
    "debugging",
    "decomposition",
    "diagonals",
    "einsum",
    "error_functions",
    "filling",
    "gamma_functions",
    "gathering",
    "graph_inputs",
    "grouping",
    "joining",
    "logic",
    "matmul",
    "normalization",
    "padding",
    "passing",
    "philox",
    "pooling",
    "printing",
    "python_call",
    "quantifiers",
    "random",
    "random_generator",
    "random_stateless",
    "reduction",
    "regular_expressions",
    "reshaping",
    "resource_variable",
    "reversing",
    "rounding",
    "scan",
    "scattering",
    "segments",
    "selection",
    "shaping",
    "slicing",
    "softmax",
    "sorting",
    "string_codecs",
    "string_format",
    "string_hashes",
    "strings",
    "sums",
    "tensor_list",
    "tensor_list_stacking",
    "training",
    "transcendental",
]

# Families that are imported when one of their ops is first asked for, with all that each declares.
raw.expect(
    __name__,
    {
        "approximate_top_k": "ApproxTopK",
        "audio": "AudioSpectrogram DecodeWav EncodeWav Mfcc",
        "banded": "BandedTriangularSolve TridiagonalMatMul TridiagonalSolve",
        "batching": "BatchFunction",
        "bessel_functions": (
            "BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 "
            "BesselK0e BesselK1 BesselK1e BesselY0 BesselY1"
        ),
        "candidate_sampling": (
            "AllCandidateSampler ComputeAccidentalHits "
            "FixedUnigramCandidateSampler LearnedUnigramCandidateSampler "
            "LogUniformCandidateSampler ThreadUnsafeUnigramCandidateSampler "
            "UniformCandidateSampler"
        ),
        "clock": "Timestamp",
        "convolution_general": "Conv",
        "convolution_like": "Conv2DBackpropFilterV2 Conv2DBackpropInputV2",
        "ctc": "CTCGreedyDecoder CTCLoss CTCLossV2",
        "ctc_beam_search": "CTCBeamSearchDecoder",
        "eigenvalues": "Eig Lu",
        "fake_quantization": (
            "FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient "
            "FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsGradient "
            "FakeQuantWithMinMaxVarsPerChannel FakeQuantWithMinMaxVarsPerChannelGradient"
        ),
        "files": "MatchingFiles ReadFile WriteFile",
        "fractional_pooling": (
            "FractionalAvgPool FractionalAvgPoolGrad FractionalMaxPool "
            "FractionalMaxPoolGrad"
        ),
        "fourier": (
            "FFT FFT2D FFT3D FFTND IFFT IFFT2D IFFT3D IFFTND IRFFT IRFFT2D "
            "IRFFT3D IRFFTND RFFT RFFT2D RFFT3D RFFTND"
        ),
        "edit_distance": "EditDistance",
        "fused": (
            "_FusedCell _FusedElementwise _FusedLayers _FusedRows _Program _AddAt "
            "_ReluMaxPool _ReluMaxPoolGrad"
        ),
        "image_box_sampling": (
            "SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 "
            "StatelessSampleDistortedBoundingBox"
        ),
        "image_color": "AdjustContrastv2 AdjustHue AdjustSaturation HSVToRGB RGBToHSV",
        "image_crop": (
            "CropAndResize CropAndResizeGradBoxes CropAndResizeGradImage "
            "ExtractGlimpse ExtractGlimpseV2"
        ),
        "image_decoding": (
            "DecodeAndCropJpeg DecodeBmp DecodeGif DecodeImage DecodeJpeg "
            "DecodePng DecodeWebP ExtractJpegShape"
        ),
        "image_drawing": "DrawBoundingBoxes DrawBoundingBoxesV2",
        "image_encoding": "EncodeJpeg EncodeJpegVariableQuality EncodePng",
        "image_patches": "ExtractImagePatches ExtractVolumePatches",
        "image_projection": "ImageProjectiveTransformV2 ImageProjectiveTransformV3",
        "image_resize": (
            "ResizeArea ResizeBicubic ResizeBicubicGrad ResizeBilinear "
            "ResizeBilinearGrad ResizeNearestNeighbor ResizeNearestNeighborGrad "
            "ScaleAndTranslate ScaleAndTranslateGrad"
        ),
        "image_suppression": (
            "CombinedNonMaxSuppression NonMaxSuppression NonMaxSuppressionV2 "
            "NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 "
            "NonMaxSuppressionWithOverlaps"
        ),
        "incomplete_gamma": "Betainc Igamma IgammaGradA Igammac RandomGammaGrad",
        "lookup_tables": (
            "AnonymousHashTable AnonymousMutableDenseHashTable "
            "AnonymousMutableHashTable AnonymousMutableHashTableOfTensors HashTableV2 "
            "InitializeTableFromTextFileV2 InitializeTableV2 LookupTableExportV2 "
            "LookupTableFindV2 LookupTableImportV2 LookupTableInsertV2 "
            "LookupTableRemoveV2 LookupTableSizeV2 MutableDenseHashTableV2 "
            "MutableHashTableOfTensorsV2 MutableHashTableV2"
        ),
        "isotonic": "IsotonicRegression",
        "matrix_functions": "MatrixExponential MatrixLogarithm MatrixSolveLs MatrixSquareRoot",
        "morphology": "Dilation2D Dilation2DBackpropFilter Dilation2DBackpropInput",
        "mutexes": "ConsumeMutexLock MutexLock MutexV2",
        "quantization": "Dequantize QuantizeV2 QuantizedConcat",
        "quantize_dequantize": (
            "QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4 "
            "QuantizeAndDequantizeV4Grad"
        ),
        "ragged": "RaggedGather RaggedRange RaggedTensorToSparse RaggedTensorToTensor",
        "ragged_counting": (
            "DenseCountSparseOutput RaggedBincount RaggedCountSparseOutput "
            "SparseBincount SparseCountSparseOutput"
        ),
        "ragged_cross": "RaggedCross",
        "ragged_filling": "RaggedFillEmptyRows RaggedFillEmptyRowsGrad",
        "ragged_variant": (
            "RaggedTensorFromVariant RaggedTensorToVariant "
            "RaggedTensorToVariantGradient"
        ),
        "random_distributions": (
            "ParameterizedTruncatedNormal RandomGamma RandomPoissonV2 "
            "StatefulRandomBinomial StatelessParameterizedTruncatedNormal StatelessRandomBinomial "
            "StatelessRandomGammaV2 StatelessRandomGammaV3 StatelessRandomPoisson"
        ),
        "random_index_shuffle": "RandomIndexShuffle",
        "raw_bytes": "DecodeCompressed DecodePaddedRaw DecodeRaw",
        "sobol": "SobolSample",
        "sets": (
            "DenseToDenseSetOperation DenseToSparseSetOperation SetSize "
            "SparseToSparseSetOperation"
        ),
        "sparse_arithmetic": (
            "SparseAdd SparseAddGrad SparseDenseCwiseAdd SparseDenseCwiseDiv "
            "SparseDenseCwiseMul SparseSparseMaximum SparseSparseMinimum "
            "SparseTensorDenseAdd SparseTensorDenseMatMul"
        ),
        "sparse_arranging": (
            "SparseConcat SparseFillEmptyRows SparseFillEmptyRowsGrad SparseReorder "
            "SparseReshape SparseSlice SparseSliceGrad SparseSplit SparseToDense"
        ),
        "sparse_cross": "SparseCross SparseCrossV2",
        "sparse_matrices": (
            "CSRSparseMatrixComponents CSRSparseMatrixToDense "
            "CSRSparseMatrixToSparseTensor DenseToCSRSparseMatrix SparseMatrixMatMul "
            "SparseMatrixNNZ SparseMatrixSparseMatMul SparseMatrixTranspose "
            "SparseTensorToCSRSparseMatrix"
        ),
        "sparse_reductions": (
            "SparseReduceMax SparseReduceMaxSparse SparseReduceSum "
            "SparseReduceSumSparse SparseSoftmax"
        ),
        "sparse_segments": (
            "SparseSegmentMean SparseSegmentMeanGrad SparseSegmentMeanGradV2 "
            "SparseSegmentMeanWithNumSegments SparseSegmentSqrtN "
            "SparseSegmentSqrtNGrad SparseSegmentSqrtNGradV2 "
            "SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumGrad "
            "SparseSegmentSumGradV2 SparseSegmentSumWithNumSegments"
        ),
        "special_integrals": "Dawsn Expint FresnelCos FresnelSin Spence",
        "string_ngrams": "StringNGrams StringSplit",
        "unicode": "UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode UnicodeScript",
    },
)
