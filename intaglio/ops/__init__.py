"""The catalogue: every op once, by family.

Importing this package declares the families listed first; those at the end are imported when
one of their ops is first used.
"""

import importlib

from intaglio.opdef import raw

# The families that most programs use, by folder.
EAGER = {
    "array": "blocks filling gathering grouping joining padding passing reshaping reversing scattering selection shaping slicing sorting",
    "control_flow": "branches_and_loops calls debugging graph_inputs python_call tensor_list tensor_list_stacking",
    "linalg": "decomposition diagonals einsum matmul",
    "math": "arithmetic cast comparison counting error_functions gamma_functions logic quantifiers reduction rounding scan segments sums transcendental",
    "nn": "activation batch_normalization bias convolution convolution_depthwise normalization pooling softmax training",
    "random": "generator philox stateful stateless",
    "state": "resource_variable",
    "text": "codecs format hashes printing regular_expressions strings",
}
for _folder, _families in EAGER.items():
    for _family in _families.split():
        importlib.import_module(f"{__name__}.{_folder}.{_family}")

# Families that are imported on the first use of one of their ops, with all ops that each declares.
raw.expect(
    __name__,
    {
        "nn.approximate_top_k": "ApproxTopK",
        "signal.audio": "AudioSpectrogram DecodeWav EncodeWav Mfcc",
        "linalg.banded": "BandedTriangularSolve TridiagonalMatMul TridiagonalSolve",
        "control_flow.batching": "BatchFunction",
        "math.bessel_functions": (
            "BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 "
            "BesselK0e BesselK1 BesselK1e BesselY0 BesselY1"
        ),
        "nn.candidate_sampling": (
            "AllCandidateSampler ComputeAccidentalHits "
            "FixedUnigramCandidateSampler LearnedUnigramCandidateSampler "
            "LogUniformCandidateSampler ThreadUnsafeUnigramCandidateSampler "
            "UniformCandidateSampler"
        ),
        "control_flow.clock": "Timestamp",
        "nn.convolution_general": "Conv",
        "nn.convolution_like": "Conv2DBackpropFilterV2 Conv2DBackpropInputV2",
        "nn.ctc": "CTCGreedyDecoder CTCLoss CTCLossV2",
        "nn.ctc_beam_search": "CTCBeamSearchDecoder",
        "linalg.eigenvalues": "Eig Lu",
        "nn.fake_quantization": (
            "FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient "
            "FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsGradient "
            "FakeQuantWithMinMaxVarsPerChannel FakeQuantWithMinMaxVarsPerChannelGradient"
        ),
        "state.files": "MatchingFiles ReadFile WriteFile",
        "nn.fractional_pooling": (
            "FractionalAvgPool FractionalAvgPoolGrad FractionalMaxPool FractionalMaxPoolGrad"
        ),
        "signal.fourier": (
            "FFT FFT2D FFT3D FFTND IFFT IFFT2D IFFT3D IFFTND IRFFT IRFFT2D "
            "IRFFT3D IRFFTND RFFT RFFT2D RFFT3D RFFTND"
        ),
        "text.edit_distance": "EditDistance",
        "element_loops": "_ElementLoops",
        "fused": (
            "_CheckIndices _FusedCell _FusedElementwise _FusedLayers _FusedReduction _FusedRows _Program _AddAt "
            "_Perturb _View _Wrap _ReluMaxPool _ReluMaxPoolGrad"
        ),
        "layouts": "_Relayout _RelayoutLike",
        "control_flow.processes": "_Exchange",
        "control_flow.xla_modules": "XlaCallModule",
        "control_flow.replicas": (
            "_FirstOfReplicas _GatherOfReplicas _OfReplica _ReplicatedCall _SumOfReplicas _ToReplicas"
        ),
        "image.box_sampling": (
            "SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 "
            "StatelessSampleDistortedBoundingBox"
        ),
        "image.color": "AdjustContrastv2 AdjustHue AdjustSaturation HSVToRGB RGBToHSV",
        "image.crop": (
            "CropAndResize CropAndResizeGradBoxes CropAndResizeGradImage "
            "ExtractGlimpse ExtractGlimpseV2"
        ),
        "image.decoding": (
            "DecodeAndCropJpeg DecodeBmp DecodeGif DecodeImage DecodeJpeg "
            "DecodePng DecodeWebP ExtractJpegShape"
        ),
        "image.drawing": "DrawBoundingBoxes DrawBoundingBoxesV2",
        "image.encoding": "EncodeJpeg EncodeJpegVariableQuality EncodePng",
        "image.patches": "ExtractImagePatches ExtractVolumePatches",
        "image.projection": "ImageProjectiveTransformV2 ImageProjectiveTransformV3",
        "image.resize": (
            "ResizeArea ResizeBicubic ResizeBicubicGrad ResizeBilinear "
            "ResizeBilinearGrad ResizeNearestNeighbor ResizeNearestNeighborGrad "
            "ScaleAndTranslate ScaleAndTranslateGrad"
        ),
        "image.suppression": (
            "CombinedNonMaxSuppression NonMaxSuppression NonMaxSuppressionV2 "
            "NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 "
            "NonMaxSuppressionWithOverlaps"
        ),
        "math.incomplete_gamma": "Betainc Igamma IgammaGradA Igammac RandomGammaGrad",
        "state.lookup_tables": (
            "AnonymousHashTable AnonymousMutableDenseHashTable "
            "AnonymousMutableHashTable AnonymousMutableHashTableOfTensors HashTableV2 "
            "InitializeTableFromTextFileV2 InitializeTableV2 LookupTableExportV2 "
            "LookupTableFindV2 LookupTableImportV2 LookupTableInsertV2 "
            "LookupTableRemoveV2 LookupTableSizeV2 MutableDenseHashTableV2 "
            "MutableHashTableOfTensorsV2 MutableHashTableV2"
        ),
        "nn.clustering": "KMC2ChainInitialization KmeansPlusPlusInitialization NearestNeighbors",
        "nn.gpu_recurrent": (
            "CudnnRNN CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3 CudnnRNNV2 CudnnRNNV3"
        ),
        "nn.isotonic": "IsotonicRegression",
        "nn.recurrent_blocks": (
            "BlockLSTM BlockLSTMGrad BlockLSTMGradV2 BlockLSTMV2 GRUBlockCell GRUBlockCellGrad "
            "LSTMBlockCell LSTMBlockCellGrad"
        ),
        "linalg.matrix_functions": "MatrixExponential MatrixLogarithm MatrixSolveLs MatrixSquareRoot",
        "nn.morphology": "Dilation2D Dilation2DBackpropFilter Dilation2DBackpropInput",
        "state.mutexes": "ConsumeMutexLock MutexLock MutexV2",
        "nn.quantization": "Dequantize QuantizeV2 QuantizedConcat",
        "nn.quantize_dequantize": (
            "QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4 "
            "QuantizeAndDequantizeV4Grad"
        ),
        "ragged.tensors": "RaggedGather RaggedRange RaggedTensorToSparse RaggedTensorToTensor",
        "ragged.counting": (
            "DenseCountSparseOutput RaggedBincount RaggedCountSparseOutput "
            "SparseBincount SparseCountSparseOutput"
        ),
        "ragged.cross": "RaggedCross",
        "ragged.filling": "RaggedFillEmptyRows RaggedFillEmptyRowsGrad",
        "ragged.variant": (
            "RaggedTensorFromVariant RaggedTensorToVariant RaggedTensorToVariantGradient"
        ),
        "random.distributions": (
            "RandomGamma RandomPoissonV2 StatefulRandomBinomial StatelessRandomBinomial "
            "StatelessRandomGammaV2 StatelessRandomGammaV3 StatelessRandomPoisson"
        ),
        "random.index_shuffle": "RandomIndexShuffle",
        "random.truncated_normal": (
            "ParameterizedTruncatedNormal StatelessParameterizedTruncatedNormal"
        ),
        "text.raw_bytes": "DecodeCompressed DecodePaddedRaw DecodeRaw",
        "random.sobol": "SobolSample",
        "sparse.sets": (
            "DenseToDenseSetOperation DenseToSparseSetOperation SetSize SparseToSparseSetOperation"
        ),
        "sparse.arithmetic": (
            "SparseAdd SparseAddGrad SparseDenseCwiseAdd SparseDenseCwiseDiv "
            "SparseDenseCwiseMul SparseSparseMaximum SparseSparseMinimum "
            "SparseTensorDenseAdd SparseTensorDenseMatMul"
        ),
        "sparse.arranging": (
            "SparseConcat SparseFillEmptyRows SparseFillEmptyRowsGrad SparseReorder "
            "SparseReshape SparseSlice SparseSliceGrad SparseSplit SparseToDense"
        ),
        "sparse.cross": "SparseCross SparseCrossV2",
        "sparse.matrices": (
            "CSRSparseMatrixComponents CSRSparseMatrixToDense "
            "CSRSparseMatrixToSparseTensor DenseToCSRSparseMatrix SparseMatrixMatMul "
            "SparseMatrixNNZ SparseMatrixSparseMatMul SparseMatrixTranspose "
            "SparseTensorToCSRSparseMatrix"
        ),
        "sparse.reductions": (
            "SparseReduceMax SparseReduceMaxSparse SparseReduceSum "
            "SparseReduceSumSparse SparseSoftmax"
        ),
        "sparse.segments": (
            "SparseSegmentMean SparseSegmentMeanGrad SparseSegmentMeanGradV2 "
            "SparseSegmentMeanWithNumSegments SparseSegmentSqrtN "
            "SparseSegmentSqrtNGrad SparseSegmentSqrtNGradV2 "
            "SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumGrad "
            "SparseSegmentSumGradV2 SparseSegmentSumWithNumSegments"
        ),
        "math.special_integrals": "Dawsn Expint FresnelCos FresnelSin Spence",
        "nn.training_rows": (
            "ResourceApplyAdagradDA ResourceApplyProximalAdagrad ResourceSparseApplyAdadelta "
            "ResourceSparseApplyAdagrad ResourceSparseApplyAdagradDA "
            "ResourceSparseApplyAdagradV2 ResourceSparseApplyCenteredRMSProp "
            "ResourceSparseApplyFtrl ResourceSparseApplyFtrlV2 "
            "ResourceSparseApplyProximalAdagrad ResourceSparseApplyProximalGradientDescent "
            "ResourceSparseApplyRMSProp"
        ),
        "text.ngrams": "StringNGrams StringSplit",
        "text.unicode": "UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode UnicodeScript",
    },
)
