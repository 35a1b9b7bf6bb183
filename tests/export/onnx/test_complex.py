"""Functions that compute with complex numbers as ONNX models, run by onnxruntime and loaded again."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import intaglio
from intaglio import tf
from tests.export.onnx.running import session

X = np.random.default_rng(3).standard_normal((4, 10)).astype(np.float32)
Y = np.random.default_rng(4).standard_normal((4, 10)).astype(np.float32)
WAVE = np.random.default_rng(5).standard_normal((2, 300)).astype(np.float32)
MEL = tf.signal.linear_to_mel_weight_matrix(12, 33, 16000, 20.0, 7000.0)


def _parts(z):
    return tf.math.real(z), tf.math.imag(z)


def _frames(x):
    return tf.signal.stft(x, 64, 16, fft_length=64)


def _mel(x):
    return tf.math.log(tf.matmul(tf.square(tf.abs(_frames(x))), MEL) + 1e-6)


FUNCTIONS = {
    "log mel spectrum": (lambda x: tf.signal.mfccs_from_log_mel_spectrograms(_mel(x)), WAVE),
    "inverse stft": (lambda x: tf.signal.inverse_stft(_frames(x), 64, 16), WAVE),
    "odd lengths": (lambda x: tf.signal.irfft(tf.signal.rfft(x, [7]), [9]), X),
    "more than there is": (lambda x: tf.signal.irfft(tf.signal.rfft(x, [16]), [31]), X),
    "of some axes": (lambda x: tf.signal.irfftnd(tf.signal.rfftnd(x, [4, 7], [1, 0]), [4], [0]), X),
    "of two": (lambda x: tf.signal.irfft2d(tf.signal.rfft2d(x, [5, 8])), X),
    "filter": (lambda x: tf.signal.irfft(tf.signal.rfft(x) * np.exp(1j * np.arange(6))), X),
    "arithmetic": (
        lambda x, y: _parts((tf.complex(x, y) ** 2 - tf.complex(y, x)) / tf.complex(y + 3.0, x)),
        X,
        Y,
    ),
    "polar": (lambda x, y: (tf.abs(tf.complex(x, y)), tf.math.angle(tf.complex(x, y))), X, Y),
    "exp and log": (
        lambda x, y: _parts(tf.exp(tf.complex(x, y)) + tf.math.log(tf.complex(y, x))),
        X,
        Y,
    ),
    "adjoint": (
        lambda x, y: _parts(tf.matmul(tf.complex(x, y), tf.complex(y, x), adjoint_a=True)),
        X,
        Y,
    ),
    "moved": (lambda x, y: _parts(tf.stack([tf.complex(x, y)[::-1, 1:4]], 1)), X, Y),
    "chosen": (lambda x, y: _parts(tf.where(x > 0, tf.complex(x, y), tf.complex(y, x))), X, Y),
    "compared": (lambda x, y: tf.complex(x, y) == tf.complex(x, tf.abs(y)), X, Y),
    "in a branch": (
        lambda x, y: tf.cond(x[0, 0] > y[0, 0], lambda: tf.abs(tf.complex(x, y)), lambda: x),
        X,
        Y,
    ),
    "far from 1": (lambda x: tf.abs(tf.complex(x * 1e25, x * 1e30)), X),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("opset", [18, 21])
def test_models_compute_what_the_function_does(name, opset, tmp_path):
    function, *arrays = FUNCTIONS[name]
    # Batches are open; positions within a signal are known.
    specs = [tf.TensorSpec([None, a.shape[1]], tf.float32) for a in arrays]
    if name in ("of some axes", "of two"):
        specs = [tf.TensorSpec(a.shape, tf.float32) for a in arrays]
    traced = tf.function(function, input_signature=specs)
    path = intaglio.export_onnx(traced, tmp_path / "model.onnx", opset=opset)
    onnx.checker.check_model(str(path), full_check=True)
    wanted = tf.nest.flatten(traced(*arrays))
    run = session(path)
    feeds = {v.name: a for v, a in zip(run.get_inputs(), arrays, strict=True)}
    again = tf.nest.flatten(intaglio.load_onnx(path)(*arrays))
    for found in (run.run(None, feeds), again):
        for mine, value in zip(found, wanted, strict=True):
            scale = float(np.abs(value.numpy()).max())
            np.testing.assert_allclose(mine, value.numpy(), rtol=1e-4, atol=1e-5 * scale)


def test_complex_arguments_and_results_are_refused(tmp_path):
    taken = tf.function(tf.abs, input_signature=[tf.TensorSpec([2], tf.complex64, name="z")])
    with pytest.raises(intaglio.ExportError, match="input 'z' has elements of type complex64"):
        intaglio.export_onnx(taken, tmp_path / "model.onnx")
    returned = tf.function(tf.signal.rfft, input_signature=[tf.TensorSpec([4], tf.float32)])
    with pytest.raises(intaglio.ExportError, match=r"Return tf.math.real and tf.math.imag"):
        intaglio.export_onnx(returned, tmp_path / "model.onnx")


def test_loops_that_carry_complex_numbers_are_refused(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([4], tf.float32)])
    def power(n, x):
        z = tf.complex(x, x)
        for _ in tf.range(n):
            z = z * z
        return tf.abs(z)

    with pytest.raises(intaglio.ExportError, match="a loop that carries complex numbers"):
        intaglio.export_onnx(power, tmp_path / "model.onnx")
