"""A compiler that is too old, broken or always fails: programs give their results, with one warning."""

from __future__ import annotations

import pathlib

import pytest

from tests.tensorflow_name.process import run

# Everything of which some part is machine code: operators, kernels of each kind, steps, jit.
PROGRAM = """\
{before}
import numpy as np
from intaglio import tf

def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)

ones = tf.ones([600, 600])
for _ in range(3):
    close(tf.constant([1.0, 2.0]) * 3.0 + tf.constant([1.0, 1.0]), [4.0, 7.0])
    close((ones @ ones)[0, 0], 600.0)
    close(tf.reduce_mean(tf.tanh(ones)), np.tanh(1.0))
    close(tf.reduce_sum(tf.ones([3000, 1000])), 3e6)
    assert abs(float(tf.reduce_mean(tf.random.normal([1000, 1000])))) < 0.01
    images, filters = tf.ones([8, 64, 64, 16]), tf.ones([3, 3, 16, 32])
    close(tf.nn.conv2d(images, filters, 1, "VALID"), np.full([8, 62, 62, 32], 144.0))
    close(tf.nn.max_pool2d(images, 2, 2, "SAME"), np.ones([8, 32, 32, 16]))
    close(tf.linalg.cholesky(tf.eye(3, batch_shape=[100000]))[7], np.eye(3))
    close(tf.nn.depthwise_conv2d(images, filters[..., :2], [1] * 4, "VALID")[0, 0, 0, 0], 9.0)

v = tf.Variable(tf.ones([64, 64]))

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ v) ** 2)
    v.assign_sub(0.1 * tape.gradient(loss, v))
    return loss

for _ in range(40):
    last = step(tf.ones([32, 64]))
assert float(last) < 1.0

@tf.function(jit_compile=True)
def compiled(x):
    for _ in tf.range(3):
        x = tf.sin(x)
    return x

for n in (3, 5):
    close(compiled(tf.ones([n])), np.full(n, np.sin(np.sin(np.sin(1.0)))))
assert compiled.compile_report()
"""
FAILING = """\
from intaglio.native.llvm import jit
def fails(*arguments, **options):
    raise RuntimeError("immarg operand has non-immediate parameter")
jit.compiled = fails
"""
# The part of llvmlite that is looked at before anything is compiled.
BINDINGS = {
    "too old": ("llvm_version_info = (20, 1, 8)\n", "llvmlite 0.45.0 has LLVM 20"),
    "for another system": ("raise OSError('no libllvmlite.so')\n", "cannot be loaded: no lib"),
}


@pytest.mark.parametrize("kind", BINDINGS)
def test_an_unusable_llvmlite_is_one_warning(kind: str, tmp_path: pathlib.Path) -> None:
    text, reason = BINDINGS[kind]
    (tmp_path / "llvmlite").mkdir()
    (tmp_path / "llvmlite" / "__init__.py").write_text("__version__ = '0.45.0'\n")
    (tmp_path / "llvmlite" / "binding.py").write_text(text)
    before = f"import sys; sys.path.insert(0, {str(tmp_path)!r})"
    (tmp_path / "program.py").write_text(PROGRAM.format(before=before))
    done = run([str(tmp_path / "program.py")], INTAGLIO_VERIFY="0")
    assert done.returncode == 0, done.stderr
    (warning,) = done.stderr.splitlines()
    assert warning.startswith("WARNING:tensorflow:jit_compile: graphs are interpreted")
    assert reason in warning


def test_a_compiler_that_always_fails_is_a_warning_for_each_function_and_kernel(
    tmp_path: pathlib.Path,
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.format(before=FAILING))
    done = run([str(tmp_path / "program.py")], INTAGLIO_VERIFY="0")
    assert done.returncode == 0, done.stderr
    warnings = done.stderr.splitlines()
    assert warnings and all("RuntimeError: immarg" in line for line in warnings)
    subjects = [line.partition(", for the")[0] for line in warnings]
    assert len(subjects) == len(set(subjects)), "each is said once"
    said = "\n".join(subjects)
    assert "The kernel 'product' is NumPy's" in said
    assert "The kernel 'convolution' is NumPy's" in said
    assert "compiled" in said and "is interpreted" in said
