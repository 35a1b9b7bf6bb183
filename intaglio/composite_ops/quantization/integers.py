"""Floats as quantized integers with a range, and back.

Follows https://www.tensorflow.org/api_docs/python/tf/quantization.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import as_dtype, float32
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def quantize(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> Any:
    """Floats as numbers of the quantised dtype `T`.

    Args:
      input: float32, of any shape.
      min_range, max_range: the range wanted: scalars, or vectors along `axis`. It is
        widened to hold 0, and to `ensure_minimum_range` if it is narrower.
      T: qint8, quint8, qint16, quint16 or qint32.
      mode: "MIN_COMBINED", "MIN_FIRST" (0 is a step) or "SCALED" (0 stays 0).
      round_mode: "HALF_AWAY_FROM_ZERO", or with "SCALED" also "HALF_TO_EVEN".
      narrow_range: leaves the lowest number out, with "SCALED".
      axis: a dimension whose slices have ranges of their own.

    Returns:
      A named tuple (output, output_min, output_max), the range the one that was used.

    Raises InvalidArgumentError for a range whose bounds are in the wrong order.

    >>> q = tf.quantization.quantize([0.0, 0.5, 1.0], 0.0, 1.0, tf.quint8)
    >>> tf.bitcast(q.output, tf.uint8).numpy()
    array([  0, 128, 255], dtype=uint8)
    """
    return raw.QuantizeV2(
        input,
        min_range,
        max_range,
        T=as_dtype(T),
        mode=mode,
        round_mode=round_mode,
        narrow_range=narrow_range,
        axis=-1 if axis is None else axis,
        ensure_minimum_range=ensure_minimum_range,
        name=name,
    )


@dispatchable
def dequantize(
    input: Any,
    min_range: Any,
    max_range: Any,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    axis: int | None = None,
    narrow_range: bool = False,
    dtype: Any = float32,
) -> Tensor:
    """The floats that quantised numbers represent; float32 or bfloat16. See `quantize`.

    >>> q = tf.quantization.quantize([0.0, 0.5, 1.0], 0.0, 1.0, tf.quint8)
    >>> tf.quantization.dequantize(*q).numpy().round(2)
    array([0. , 0.5, 1. ], dtype=float32)
    """
    return raw.Dequantize(
        input,
        min_range,
        max_range,
        mode=mode,
        narrow_range=narrow_range,
        axis=-1 if axis is None else axis,
        dtype=dtype,
        name=name,
    )


@dispatchable
def quantized_concat(
    concat_dim: Any, values: Any, input_mins: Any, input_maxes: Any, name: str | None = None
) -> Any:
    """Quantised tensors put together along a dimension, in a range that holds all of theirs.

    >>> a = tf.quantization.quantize([0.0, 1.0], 0.0, 1.0, tf.quint8).output
    >>> c = tf.quantization.quantized_concat(0, [a, a], [0.0, 0.0], [1.0, 1.0])
    >>> c.output.shape, float(c.output_max)
    (TensorShape([4]), 1.0)
    """
    return raw.QuantizedConcat(
        concat_dim,
        list(values),
        [convert.to_tensor(m, float32) for m in input_mins],
        [convert.to_tensor(m, float32) for m in input_maxes],
        name=name,
    )


__all__ = ["dequantize", "quantize", "quantized_concat"]
