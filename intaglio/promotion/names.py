"""The public functions that support weak tensors, by their treatment of them.

Follows the list of https://www.tensorflow.org/guide/tf_numpy_type_promotion, as TensorFlow 2.21
has it: some functions on the page it leaves out, and some that are not there it has.
"""

from __future__ import annotations


def _of(space: str, names: str) -> tuple[str, ...]:
    return tuple([f"{space}{name}" for name in names.split()])


# Functions of one tensor, their first argument: of what is weak the result is weak.
UNARY = (
    *_of(
        "math.",
        "abs acos acosh angle asin asinh atan atanh ceil conj cos cosh digamma erf erfc"
        " erfcinv erfinv exp expm1 floor imag lgamma log log1p log_sigmoid ndtri negative"
        " real reciprocal reciprocal_no_nan reduce_euclidean_norm reduce_logsumexp"
        " reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum"
        " reduce_variance rint round rsqrt sigmoid sign sin sinh softplus sqrt square tan"
        " tanh",
    ),
    *_of(
        "math.special.",
        "bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e"
        " bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos fresnel_sin"
        " spence",
    ),
    *_of("nn.", "depth_to_space gelu leaky_relu log_softmax relu6 silu space_to_depth"),
    *_of("linalg.", "diag diag_part matrix_transpose tensor_diag_part trace"),
    *_of("", "expand_dims identity ones_like reshape squeeze stop_gradient transpose"),
    *_of("", "experimental.numpy.arange zeros_like debugging.check_numerics image.extract_patches"),
)

# The same of `tf.experimental.numpy`, which infers types itself.
UNARY_OF_NUMPY = _of(
    "experimental.numpy.",
    "abs absolute amax amin angle arccos arcsin arcsinh arctan arctanh around"
    " array asanyarray asarray ascontiguousarray average bitwise_not cbrt ceil conj"
    " conjugate copy cos cosh cumprod cumsum deg2rad diag diagflat diagonal diff"
    " empty_like exp exp2 expand_dims expm1 fabs fix flatten flip fliplr flipud floor"
    " full_like imag log log10 log1p log2 max mean min moveaxis nanmean negative"
    " ones_like positive prod ptp rad2deg ravel real reciprocal repeat reshape rot90"
    " round sin sinc sinh sort sqrt square squeeze std sum swapaxes tan tanh trace"
    " transpose triu vander var zeros_like",
)

# Functions of two operands, brought to their common type; of what is weak the result is weak.
BINARY = (
    *_of(
        "math.",
        "add divide divide_no_nan floordiv floormod mod multiply multiply_no_nan pow"
        " subtract truediv",
    ),
    *_of("", "realdiv truncatediv truncatemod linalg.matmul linalg.matvec"),
    *_of("experimental.numpy.", "hypot matmul"),
)

# The same, but no result of theirs is weak.
PROMOTING = _of("math.", "equal maximum minimum")

# The same of what the operands are as tensors, of which none is weak.
PROMOTING_TENSORS = (
    "debugging.assert_equal",
    *_of("nn.", "log_poisson_loss sigmoid_cross_entropy_with_logits"),
)
