"""`python -O` and `python -OO`, which leave out assertions and docstrings: programs give the same."""

from __future__ import annotations

import pathlib

import pytest

from tests.tensorflow_name.process import run

PROGRAM = """\
import importlib, pkgutil, sys, tempfile
import numpy as np
import intaglio
from intaglio import tf

for module in pkgutil.walk_packages(intaglio.__path__, "intaglio."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as e:
            if (e.name or "").partition(".")[0] == "intaglio":
                raise

v = tf.Variable(np.linspace(0.0, 1.0, 6).reshape(2, 3))

def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.softmax(tf.transpose(tf.transpose(x * v + 0.0))) ** 2)
    v.assign_sub(0.1 * tape.gradient(loss, v))
    return loss

def loop(n):
    total = tf.constant(0)
    for i in tf.range(n):
        if i % 2 == 0:
            total += i
    return total

x = tf.constant(np.arange(6.0).reshape(2, 3))
for call in (step, tf.function(step), tf.function(step, jit_compile=True)):
    print(call(x).numpy().hex(), v.numpy().sum().hex())
print(int(loop(7)), int(tf.function(loop)(7)), int(tf.function(loop, jit_compile=True)(7)))
dataset = tf.data.Dataset.range(5).map(lambda i: i * i).batch(2)
print([row.tolist() for row in dataset.as_numpy_iterator()])
with tempfile.TemporaryDirectory() as folder:
    module = tf.Module()
    module.v = v
    module.f = tf.function(lambda x: x + v, input_signature=[tf.TensorSpec([2, 3], tf.float64)])
    tf.saved_model.save(module, folder + "/m")
    print(np.allclose(tf.saved_model.load(folder + "/m").f(x), x + v))
print(tf.ragged.constant([[1], [2, 3]]).to_list(), tf.strings.join(["a", "b"]).numpy())
try:
    tf.function(lambda x: tf.reshape(x, [4, 4]))(x)
except ValueError as e:
    print(type(e).__name__)
"""


def test_programs_give_the_same(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    expected = run(["-W", "ignore", str(script)])
    assert expected.returncode == 0, expected.stderr
    assert len(expected.stdout.splitlines()) == 8
    for option in ("-O", "-OO"):
        done = run(["-W", "ignore", option, str(script)])
        assert done.returncode == 0, done.stderr
        assert done.stdout == expected.stdout


@pytest.mark.parametrize("option", ["-O", "-OO"])
def test_the_package_is_imported(option: str) -> None:
    program = "import intaglio, sys; intaglio.install_as_tensorflow(); import tensorflow as tf; "
    done = run([option, "-c", program + "print(sys.flags.optimize, tf.add(1, 2).numpy())"])
    assert (done.stdout, done.returncode) == (f"{len(option) - 1} 3\n", 0), done.stderr
