"""`tensorflow.python.layers.utils`: how long sequences are before and after convolutions."""

from __future__ import annotations

_PADDINGS = ("same", "valid", "full")


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """The length of a convolution's result; None of an unknown one. Raises AssertionError for other paddings."""
    assert padding in _PADDINGS, f"padding must be one of {_PADDINGS}, not {padding!r}"
    if input_length is None:
        return None
    reach = (filter_size - 1) * dilation  # of the filter, beyond its first element
    covered = {"same": input_length, "valid": input_length - reach, "full": input_length + reach}
    return (covered[padding] + stride - 1) // stride


def conv_input_length(
    output_length: int | None, filter_size: int, padding: str, stride: int
) -> int | None:
    """The shortest input of a convolution with a result of this length."""
    assert padding in _PADDINGS, f"padding must be one of {_PADDINGS}, not {padding!r}"
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int
) -> int | None:
    """The length of a transposed convolution's result."""
    if input_length is None:
        return None
    more = {"valid": max(filter_size - stride, 0), "full": 2 - stride - filter_size}
    return input_length * stride + more.get(padding, 0)
