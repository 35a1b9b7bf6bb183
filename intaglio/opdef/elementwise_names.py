"""The public functions that work element by element, which one handler can take for all.

Follows the lists of https://www.tensorflow.org/api_docs/python/tf/experimental, under
`dispatch_for_unary_elementwise_apis` and its two siblings.
"""

from __future__ import annotations

_MATH = (
    "abs acos acosh angle asin asinh atan atanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e"
    " ceil conj cos cosh digamma erf erfc erfcinv erfinv exp expm1 floor imag is_finite"
    " is_inf is_nan lgamma log log1p log_sigmoid logical_not ndtri negative nextafter real"
    " reciprocal reciprocal_no_nan rint round rsqrt sigmoid sign sin sinh softplus sqrt"
    " square tan tanh special.bessel_j0 special.bessel_j1 special.bessel_k0"
    " special.bessel_k0e special.bessel_k1 special.bessel_k1e special.bessel_y0"
    " special.bessel_y1 special.dawsn special.expint special.fresnel_cos"
    " special.fresnel_sin special.spence"
)
_STRINGS = (
    "as_string length lower regex_full_match regex_replace strip substr to_hash_bucket"
    " to_hash_bucket_fast to_hash_bucket_strong to_number unicode_script"
    " unicode_transcode upper"
)
_NN = "elu gelu leaky_relu relu relu6 selu silu softsign"
_IMAGE = (
    "adjust_brightness adjust_gamma convert_image_dtype random_brightness"
    " stateless_random_brightness"
)

UNARY = (
    *[f"math.{name}" for name in _MATH.split()],
    *[f"strings.{name}" for name in _STRINGS.split()],
    *[f"nn.{name}" for name in _NN.split()],
    *[f"image.{name}" for name in _IMAGE.split()],
    "bitwise.invert",
    "cast",
    "clip_by_value",
    "debugging.check_numerics",
    "dtypes.saturate_cast",
    "saturate_cast",
    "io.decode_base64",
    "io.decode_compressed",
    "io.encode_base64",
    "ones_like",
    "zeros_like",
)

_BINARY_MATH = (
    "add atan2 divide divide_no_nan equal floordiv floormod greater greater_equal less"
    " less_equal logical_and logical_or logical_xor maximum minimum mod multiply"
    " multiply_no_nan not_equal pow scalar_mul squared_difference subtract truediv xdivy"
    " xlog1py xlogy zeta"
)
_BITWISE = "bitwise_and bitwise_or bitwise_xor left_shift right_shift"

BINARY = (
    *[f"math.{name}" for name in _BINARY_MATH.split()],
    *[f"bitwise.{name}" for name in _BITWISE.split()],
    "dtypes.complex",
    "complex",
    "nn.sigmoid_cross_entropy_with_logits",
    "realdiv",
    "truncatediv",
    "truncatemod",
)

ASSERTIONS = tuple(
    [
        f"debugging.assert_{name}"
        for name in [
            "equal",
            "greater",
            "greater_equal",
            "less",
            "less_equal",
            "near",
            "none_equal",
        ]
    ]
)
