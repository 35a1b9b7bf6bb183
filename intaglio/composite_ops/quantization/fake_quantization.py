"""Quantization simulated in floats, for training.

Follows https://www.tensorflow.org/api_docs/python/tf/quantization. Results are floats on the
steps that `num_bits` bits have; the range is moved a little so that 0 is one of them.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import float32
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def fake_quant_with_min_max_args(
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The inputs on the steps between two numbers; gradients flow inside the range.

    Raises InvalidArgumentError unless min < max and 2 <= num_bits <= 16.

    With `narrow_range` the lowest of the integers is not used.

    >>> tf.quantization.fake_quant_with_min_max_args([0.3, 9.0], 0, 3, num_bits=2).numpy()
    array([0., 3.], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxArgs(
        inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


@dispatchable
def fake_quant_with_min_max_args_gradient(
    gradients: Any,
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `fake_quant_with_min_max_args`.

    With `narrow_range` the lowest of the integers is not used.

    >>> tf.quantization.fake_quant_with_min_max_args_gradient([1.0, 1.0], [0.3, 9.0], 0, 3).numpy()
    array([1., 0.], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxArgsGradient(
        gradients, inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


@dispatchable
def fake_quant_with_min_max_vars(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `fake_quant_with_min_max_args`, with bounds that are scalar tensors and get gradients.

    With `narrow_range` the lowest of the integers is not used.

    >>> tf.quantization.fake_quant_with_min_max_vars([0.3, 9.0], 0.0, 3.0, num_bits=2).numpy()
    array([0., 3.], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxVars(
        inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


@dispatchable
def fake_quant_with_min_max_vars_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """The gradients of `fake_quant_with_min_max_vars`, of the inputs and of both bounds.

    With `narrow_range` the lowest of the integers is not used.

    >>> found = tf.quantization.fake_quant_with_min_max_vars_gradient([1.0, 2.0], [0.3, 9.0], 0.0, 3.0)
    >>> float(found.backprop_wrt_max)
    2.0
    """
    return raw.FakeQuantWithMinMaxVarsGradient(
        gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


@dispatchable
def fake_quant_with_min_max_vars_per_channel(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `fake_quant_with_min_max_vars`, with bounds for each channel of the last dimension.

    With `narrow_range` the lowest of the integers is not used.

    >>> tf.quantization.fake_quant_with_min_max_vars_per_channel(
    ...     [[9.0, 9.0]], [0.0, 0.0], [1.0, 3.0]).numpy()
    array([[1., 3.]], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxVarsPerChannel(
        inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


@dispatchable
def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """The gradients of `fake_quant_with_min_max_vars_per_channel`.

    `num_bits` is the number of bits of the integers, from 2 to 16. With `narrow_range` the lowest
    of the integers is not used.

    >>> found = tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(
    ...     [[1.0, 2.0]], [[9.0, 9.0]], [0.0, 0.0], [1.0, 3.0])
    >>> found.backprop_wrt_max.numpy()
    array([1., 2.], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxVarsPerChannelGradient(
        gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def _axis(axis: int | None, x: Tensor) -> int:
    if axis is None:
        return -1
    if axis >= 0:
        return axis
    if x.dims is None:
        raise ValueError("input should have known rank to use negative axis.")
    return axis % len(x.dims)


def _on_steps(op: Any, inputs: tuple[Any, Any, Any], axis: int | None, **attrs: Any) -> Tensor:
    """The op for a tensor, or numbers as float32, and the bounds of its range."""
    input, low, high = inputs
    x = convert.to_tensor(input, None if isinstance(input, Tensor) else float32)
    bounds = [convert.to_tensor(bound, x.dtype) for bound in (low, high)]
    return op(x, *bounds, axis=_axis(axis, x), **attrs)


@dispatchable
def quantize_and_dequantize_v2(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """The input rounded to steps of `num_bits` bits; gradients flow inside the range.

    Args:
      input: floats of any shape.
      input_min, input_max: the range, if it is given; scalars, or vectors along `axis`.
      signed_input: whether half of the numbers are negative.
      num_bits: how many bits there are.
      range_given: False takes the range of the input itself.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      narrow_range: leaves the lowest number out.
      axis: a dimension whose slices have ranges of their own.

    Raises InvalidArgumentError for a range whose bounds are in the wrong order.

    >>> tf.quantization.quantize_and_dequantize_v2(
    ...     [0.0, 0.4, 1.0], -1.0, 1.0, num_bits=2, range_given=True).numpy()
    array([0., 0., 1.], dtype=float32)
    """
    return _on_steps(
        raw.QuantizeAndDequantizeV4,
        (input, input_min, input_max),
        axis,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        name=name,
    )


@dispatchable
def quantize_and_dequantize(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """As `quantize_and_dequantize_v2`, but every gradient passes through.

    >>> tf.quantization.quantize_and_dequantize(
    ...     [0.0, 0.4, 1.0], -1.0, 1.0, num_bits=2, range_given=True).numpy()
    array([0., 0., 1.], dtype=float32)
    """
    return _on_steps(
        raw.QuantizeAndDequantizeV2,
        (input, input_min, input_max),
        axis,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        name=name,
    )


__all__ = [
    "fake_quant_with_min_max_args",
    "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient",
    "quantize_and_dequantize",
    "quantize_and_dequantize_v2",
]
