"""Fingerprints, volumes, transforms over any axes, isotonic regression, libraries of TensorFlow's."""

from collections import namedtuple

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import door


def test_isotonic_regression_of_functions_of_the_rows():
    x = tf.constant([[3.0, 1.0, 2.0, 5.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        fitted, segments = tf.nn.isotonic_regression(x)
        y = fitted * [[1.0, 2.0, 3.0, 4.0, 5.0]]
    assert segments.numpy().tolist() == [[0, 1, 1, 1, 1]]
    assert tape.gradient(y, x).numpy().tolist() == [[1.0, 3.5, 3.5, 3.5, 3.5]]
    rising, segments = tf.nn.isotonic_regression(x, decreasing=False)
    assert rising.numpy().tolist() == [[2.0, 2.0, 2.0, 4.5, 4.5]]  # as TensorFlow says
    assert segments.numpy().tolist() == [[0, 0, 1, 2, 2]]
    column, _ = tf.nn.isotonic_regression(tf.transpose(x), axis=0)
    assert (column.numpy() == fitted.numpy().T).all()
    assert tf.nn.isotonic_regression([[1, 2]])[0].dtype == tf.float64
    random = np.random.RandomState(0).randn(40).astype(np.float64)
    fitted = tf.nn.isotonic_regression(random)[0].numpy()
    assert (np.diff(fitted) <= 0).all()
    best = [
        max(min(random[i : k + 1].mean() for i in range(j + 1)) for k in range(j, 40))
        for j in range(40)
    ]
    np.testing.assert_allclose(fitted, best, rtol=1e-12)


def test_fingerprints():
    got = tf.fingerprint([b"a", b"bc"]).numpy().tolist()
    assert got[0] == [227, 117, 223, 182, 101, 66, 69, 179]  # as TensorFlow says
    assert tf.fingerprint([[b"a"], [b"bc"]]).numpy().tolist() == got
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one dimension"):
        tf.fingerprint(b"a")


def test_transforms_at_the_top_level():
    x = np.random.RandomState(1).randn(3, 4).astype(np.complex64)
    np.testing.assert_allclose(
        tf.fftnd(x, [3, 4], [0, 1]).numpy(), np.fft.fft2(x), rtol=1e-5, atol=1e-5
    )
    real = x.real.copy()
    half = tf.rfftnd(real, [4], [1])
    np.testing.assert_allclose(half.numpy(), np.fft.rfft(real), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(tf.irfftnd(half, [4], [1]).numpy(), real, rtol=1e-5, atol=1e-5)


def test_libraries_of_tensorflow_say_why_not(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="cannot open shared object"):
        tf.load_op_library(tmp_path / "absent.so")
    with pytest.raises(FileNotFoundError):
        tf.load_library(tmp_path / "absent")
    assert tf.load_library(tmp_path) is None
    (tmp_path / "ops.so").write_bytes(b"")
    for load in (tf.load_library, tf.load_op_library):
        with pytest.raises(NotImplementedError, match="Python classes"):
            load(tmp_path / "ops.so")
    with pytest.raises(tf.errors.FailedPreconditionError, match="pinnedness"):
        tf.check_pinned([1.0])


def test_volume_patches():
    volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    whole = tf.extract_volume_patches(volume, [1, 2, 2, 2, 1], [1] * 5, "VALID")
    assert whole.numpy().reshape(-1).tolist() == list(range(8))


def test_loops_over_named_tuples():
    State = namedtuple("State", "i v")
    start = State(tf.constant(0), tf.constant(1.0))

    def whole(i, v):
        return State(i + 1, v * 2)

    for run in (lambda f: f(), lambda f: tf.function(f)()):
        end = run(lambda: tf.while_loop(lambda i, v: i < 3, whole, start))
        assert isinstance(end, State)
        assert end.v.numpy() == 8.0
        (end,) = run(lambda: tf.while_loop(lambda s: s.i < 3, lambda s: [whole(*s)], [start]))
        assert end.v.numpy() == 8.0
    with pytest.raises(ValueError, match="nested structure"):  # as in TensorFlow
        tf.while_loop(lambda s: s.i < 3, lambda s: whole(*s), [start])


def test_dilated_windows():
    x = np.random.RandomState(2).randn(2, 9, 8, 3).astype(np.float32)
    filters = np.random.RandomState(3).randn(2, 3, 3, 4).astype(np.float32)

    def convolve(part, num_spatial_dims, padding):
        assert num_spatial_dims == 2
        return tf.nn.conv2d(part, filters, 1, padding)

    for padding in ("SAME", "VALID"):
        for rates in ([2, 3], [1, 2], [1, 1]):
            got = tf.nn.with_space_to_batch(x, rates, padding, convolve, [2, 3])
            wanted = tf.nn.conv2d(x, filters, 1, padding, dilations=rates)
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="filter_shape"):
        tf.nn.with_space_to_batch(x, [2, 2], "SAME", convolve)
    with pytest.raises(ValueError, match="positive"):
        tf.nn.with_space_to_batch(x, [0, 2], "VALID", convolve)
    one = tf.nn.with_space_to_batch(
        x, [2], "SAME", lambda part, num_spatial_dims, padding: part, [3], [2]
    )
    assert one.shape == (2, 9, 12, 3)  # nothing took the padding


def test_greedy_decoding():
    logits = np.random.RandomState(0).randn(3, 2, 4).astype(np.float32)
    (labels,), scores = tf.nn.ctc_greedy_decoder(logits, [3, 2])
    assert labels.indices.numpy().tolist() == [[0, 0], [1, 0]]  # as TensorFlow says
    assert labels.values.numpy().tolist() == [0, 0]
    assert labels.dense_shape.numpy().tolist() == [2, 1]
    np.testing.assert_allclose(scores, [[-5.1892457], [-2.6285958]], rtol=1e-6)


def test_narrow_dtypes():
    assert tf.dtypes.experimental.int2.as_datatype_enum == 31
    assert tf.dtypes.experimental.float8_e4m3b11fnuz.max == 30
    assert tf.experimental.float4_e2m1fn is tf.dtypes.experimental.float4_e2m1fn
    assert tf.as_dtype("uint2").is_integer


def test_dumps_are_refused_with_the_reason():
    with pytest.raises(NotImplementedError, match="enable_check_numerics"):
        tf.debugging.experimental.enable_dump_debug_info("somewhere")
    with pytest.raises(ValueError, match="tensor_debug_mode"):
        tf.debugging.experimental.enable_dump_debug_info("somewhere", "ALL")
    tf.debugging.experimental.disable_dump_debug_info()


def test_nothing_inspects_ops_afterwards():
    before = list(door.INSPECTORS)
    tf.debugging.enable_check_numerics()
    tf.debugging.enable_check_numerics()
    assert len(door.INSPECTORS) == len(before) + 1
    tf.debugging.disable_check_numerics()
    assert before == door.INSPECTORS
    tf.debugging.disable_check_numerics()
    assert before == door.INSPECTORS
