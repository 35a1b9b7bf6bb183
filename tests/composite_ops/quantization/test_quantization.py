"""tf.quantization: quantised dtypes and their gradients. Numbers are TensorFlow's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

q = tf.quantization
V = [-2.0, -1.0, -0.4, 0.0, 0.25, 0.5, 1.0, 1.5, 3.0]
W = [-3.0, -1.1, -0.5, 0.0, 0.249, 0.5, 0.7, 1.3]
Y = [[-7.0, 0.3, 2.0], [4.0, -2.0, 6.5]]
INTEGERS = {
    tf.qint8: tf.int8,
    tf.quint8: tf.uint8,
    tf.qint16: tf.int16,
    tf.quint16: tf.uint16,
    tf.qint32: tf.int32,
}


def numbers(tensor: Any) -> list[Any]:
    """The integers of a quantised tensor."""
    return tf.bitcast(tensor, INTEGERS[tensor.dtype]).numpy().tolist()


@pytest.mark.parametrize(
    ("dtype", "mode", "low", "high", "options", "wanted", "bounds"),
    [
        (tf.quint8, "MIN_COMBINED", -1, 1, {}, [0, 0, 77, 128, 159, 191, 255, 255, 255], (-1, 1)),
        (tf.qint8, "MIN_COMBINED", -1, 1, {}, [-128, -128, -52, -1, 31, 63, 127, 127, 127], (-1, 1)),
        (tf.quint8, "MIN_COMBINED", 0, 0, {}, [0, 0, 0, 0, 255, 255, 255, 255, 255], (0, 0.01)),
        (tf.quint8, "MIN_FIRST", -1, 1, {}, [0, 0, 77, 128, 160, 192, 255, 255, 255], (-1, 1)),
        (tf.qint8, "MIN_FIRST", -0.5, 3, {}, [-128, -128, -121, -92, -74, -56, -19, 17, 127], (-0.5, 3)),
        (tf.qint8, "SCALED", -1, 1, {}, [-128, -127, -51, 0, 32, 64, 127, 127, 127], (-1.007874, 1)),
        (tf.qint8, "SCALED", 0, 2, {"narrow_range": True}, [-127, -64, -25, 0, 16, 32, 64, 95, 127], (-2, 2)),
        (tf.quint8, "SCALED", -0.5, 3, {}, [0, 0, 0, 0, 21, 43, 85, 128, 255], (0, 3)),
        (tf.quint8, "SCALED", -0.5, 3, {"round_mode": "HALF_TO_EVEN"}, [0, 0, 0, 0, 21, 42, 85, 128, 255], (0, 3)),
        (tf.qint16, "MIN_COMBINED", -1, 1, {}, [-32768, -32768, -13108, -1, 8191, 16383, 32767, 32767, 32767], (-1, 1)),
        (tf.quint16, "MIN_FIRST", -0.5, 3, {}, [0, 0, 1872, 9362, 14043, 18724, 28086, 37448, 65535], (-0.5, 3)),
    ],
)  # fmt: skip
def test_quantize(dtype, mode, low, high, options, wanted, bounds):
    found = q.quantize(V, float(low), float(high), dtype, mode=mode, **options)
    assert numbers(found.output) == wanted
    np.testing.assert_allclose([found.output_min, found.output_max], bounds, rtol=1e-6)

    @tf.function
    def traced(x: Any) -> Any:
        return q.quantize(x, float(low), float(high), dtype, mode=mode, **options)

    assert numbers(traced(tf.constant(V)).output) == wanted


def test_the_highest_numbers_of_32_bits_do_not_overflow():
    # TensorFlow gives the lowest number here: its sum overflows.
    found = q.quantize([3.0], -1.0, 1.0, tf.qint32)
    assert numbers(found.output) == [2**31 - 1]


@pytest.mark.parametrize(
    ("dtype", "values", "mode", "low", "high", "wanted"),
    [
        (np.uint8, [0, 3, 100, 127, 255], "MIN_COMBINED", -1, 1, [-1, -0.9764706, -0.2156862, -0.00392151, 1]),
        (np.int8, [-128, -5, 0, 3, 100], "MIN_COMBINED", -1, 1, [-1, -0.03529406, 0.00392163, 0.02745104, 0.7882354]),
        (np.uint8, [0, 3, 100, 127, 255], "MIN_FIRST", -1, 1, [-0.9960785, -0.9725491, -0.2117647, 0, 1.0039215]),
        (np.int8, [-128, -5, 0, 3, 100], "SCALED", 0, 2, [-2.015748, -0.07874016, 0, 0.04724409, 1.5748031]),
    ],
)  # fmt: skip
def test_dequantize(dtype, values, mode, low, high, wanted):
    kinds = {np.uint8: tf.quint8, np.int8: tf.qint8}
    x = tf.bitcast(tf.constant(np.array(values, dtype)), kinds[dtype])
    found = q.dequantize(x, float(low), float(high), mode=mode)
    np.testing.assert_allclose(found.numpy(), wanted, atol=3e-7)


def test_ranges_along_an_axis():
    low, high = [-1.0, -2.0, -3.0], [1.0, 2.0, 3.0]
    found = q.quantize(Y, low, high, tf.qint8, mode="SCALED", axis=1)
    assert numbers(found.output) == [[-128, 19, 85], [127, -127, 127]]
    back = q.dequantize(*found, mode="SCALED", axis=1)
    np.testing.assert_allclose(back.numpy()[0, 1:], [0.3, 2.0], atol=0.02)


def test_there_and_back_again():
    x = np.linspace(-3, 5, 1000).astype(np.float32)
    for dtype, width in ((tf.quint8, 8 / 255), (tf.qint16, 8 / 65535)):
        back = q.dequantize(*q.quantize(x, -3.0, 5.0, dtype))
        np.testing.assert_allclose(back.numpy(), x, atol=width)


def test_concatenation():
    a = tf.bitcast(tf.constant([[1, 2]], tf.uint8), tf.quint8)
    b = tf.bitcast(tf.constant([[3, 255]], tf.uint8), tf.quint8)
    found = q.quantized_concat(0, [a, b], [0.0, -1.0], [1.0, 2.0])
    assert numbers(found.output) == [[85, 86], [3, 255]]
    assert (float(found.output_min), float(found.output_max)) == (-1.0, 2.0)
    same = q.quantized_concat(1, [a, b], [0.0, 0.0], [1.0, 1.0])
    assert numbers(same.output) == [[1, 2, 3, 255]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="in the range"):
        q.quantized_concat(5, [a, b], [0.0, 0.0], [1.0, 1.0])


def gradients(function: Any, *given: Any) -> list[Any]:
    inputs = [tf.constant(g) for g in given]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = function(*inputs)
    return [None if g is None else g.numpy() for g in tape.gradient(result, inputs)]


INSIDE = [0, 0, 1, 1, 1, 1, 1, 0]


def test_gradients_of_imitated_quantisation():
    (args,) = gradients(lambda x: q.fake_quant_with_min_max_args(x, -1.0, 1.0), W)
    assert args.tolist() == INSIDE
    x, low, high = gradients(q.fake_quant_with_min_max_vars, W, -1.0, 1.0)
    assert (x.tolist(), low, high) == (INSIDE, 2.0, 1.0)
    x, low, high = gradients(
        q.fake_quant_with_min_max_vars_per_channel, Y, [-1.0, -2.0, 0.0], [1.0, 2.0, 3.0]
    )
    assert x.tolist() == [[0, 1, 1], [0, 0, 0]]
    assert (low.tolist(), high.tolist()) == ([1, 1, 0], [1, 0, 1])


def test_gradients_of_rounding():
    def first(x: Any, low: Any, high: Any) -> Any:
        return q.quantize_and_dequantize(x, low, high, range_given=True)

    def second(x: Any, low: Any, high: Any) -> Any:
        return q.quantize_and_dequantize_v2(x, low, high, range_given=True)

    x, low, high = gradients(first, W, -1.0, 1.0)
    assert (x.tolist(), low, high) == ([1] * 8, None, None)
    x, low, high = gradients(second, W, -1.0, 1.0)
    assert (x.tolist(), low, high) == (INSIDE, 0.0, 0.0)


def test_quantised_numbers_have_no_gradient():
    with pytest.raises(LookupError, match="QuantizeV2"):
        gradients(lambda x: q.quantize(x, -1.0, 1.0, tf.quint8).output_min, W)


@pytest.mark.parametrize(
    ("options", "phrase"),
    [
        ({"min_range": 1.0, "max_range": -1.0}, "must be larger than input_min_range"),
        ({"round_mode": "HALF_TO_EVEN"}, "only supported for mode 'SCALED'"),
        ({"mode": "OTHER"}, "not in the list of allowed values"),
        ({"axis": 5}, "axis value was 5 and input's dims was 2"),
        ({"axis": 1, "min_range": [0.0, 0.0]}, "axis dimension is of size 3"),
    ],
)
def test_errors(options, phrase):
    given: dict[str, Any] = {"min_range": -1.0, "max_range": 1.0, "T": tf.quint8}
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        q.quantize(Y, **{**given, **options})
    assert phrase in str(caught.value)


def test_results_are_named_after_their_op():
    """TensorFlow's reprs."""
    q = tf.quantization.quantize([0.0, 1.0], 0.0, 1.0, tf.quint8)
    joined = tf.quantization.quantized_concat(0, [q.output] * 2, [0.0] * 2, [1.0] * 2)
    one = tf.quantization.fake_quant_with_min_max_vars_gradient([1.0], [2.0], 0.0, 1.0)
    each = tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(
        [[1.0]], [[2.0]], [0.0], [1.0]
    )
    names = [type(x).__name__ for x in (q, joined, one, each)]
    assert names == [
        "QuantizeV2",
        "QuantizedConcat",
        "FakeQuantWithMinMaxVarsGradient",
        "FakeQuantWithMinMaxVarsPerChannelGradient",
    ]
    assert type(tf.nn.isotonic_regression([3.0, 1.0])).__name__ == "IsotonicRegression"
