"""Tensors with layouts: results are those of one device, in every mode. `programs/dtensor.py` has TensorFlow's answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = """
import numpy as np
from intaglio import tf

config = tf.config
parts = [config.LogicalDeviceConfiguration()] * 4
config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
dtensor = tf.experimental.dtensor
mesh = dtensor.create_mesh({"x": 2, "y": 2})
rng = np.random.default_rng(SEED)
"""


def run(program: str, seed: int = 0) -> str:
    """What a program on four logical devices prints; devices are divided once in a process."""
    text = PROGRAM.replace("SEED", str(seed)) + program
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=root, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


RANDOM = """
UNARY = [tf.tanh, tf.nn.relu, tf.transpose, tf.exp, lambda v: v[1:], lambda v: tf.reverse(v, [0]),
         lambda v: tf.concat([v, v], 0), lambda v: tf.cumsum(v, 1), lambda v: tf.reshape(v, [-1, 2]),
         lambda v: tf.nn.softmax(v), lambda v: tf.reduce_sum(v, 1, keepdims=True) + v]
BINARY = [tf.add, tf.multiply, lambda a, b: tf.matmul(a, b, transpose_b=True), tf.maximum,
          lambda a, b: tf.stack([a, b])[1]]
count = 0
for _ in range(4):
    steps = [(rng.integers(len(UNARY)), rng.integers(len(BINARY))) for _ in range(3)]
    arrays = [rng.normal(size=(4, 8)).astype("float32") for _ in range(2)]
    specs = [list(rng.permutation(["x", "y", "unsharded"])[:2]) for _ in range(2)]

    def compute(a, b):
        for unary, binary in steps:
            a = UNARY[unary](a)
            if a.shape == b.shape:
                a = BINARY[binary](a, b)
            a = a / (1.0 + tf.reduce_max(tf.abs(a)))
        return a, tf.reduce_sum(a)

    def gradient(a, b):
        with tf.GradientTape() as tape:
            tape.watch(a)
            loss = compute(a, b)[1]
        return tape.gradient(loss, a)

    plain = [tf.constant(v) for v in arrays]
    laid = [dtensor.copy_to_mesh(v, dtensor.Layout(s, mesh)) for v, s in zip(plain, specs)]
    for function in (lambda *v: compute(*v)[0], gradient):
        wanted = function(*plain)
        for run in (function, tf.function(function)):
            found = run(*laid)
            assert dtensor.is_dtensor(found), (steps, specs)
            whole = dtensor.Layout.replicated(mesh, found.shape.rank)
            np.testing.assert_allclose(
                dtensor.relayout(found, whole), wanted, rtol=1e-5, atol=1e-6, err_msg=str((steps, specs))
            )
            count += 1
print(count)
"""


@pytest.mark.parametrize("seed", [0, 1])
def test_random_programs_give_what_one_device_gives(seed: int) -> None:
    assert run(RANDOM, seed).strip() == "16"


def test_variables_are_saved_whole_and_restored_with_their_layout(tmp_path: Path) -> None:
    found = run(
        f"""
layout = dtensor.Layout(["x", "y"], mesh)
v = dtensor.DVariable(tf.reshape(tf.range(8.0), (4, 2)), layout=layout)
path = tf.train.Checkpoint(v=v).save(r"{tmp_path}/a")
print(tf.train.list_variables(path)[1:])
v.assign(v * 0.0)
tf.train.Checkpoint(v=v).restore(path).assert_consumed()
parts = dtensor.unpack(v.read_value())
print([part.numpy().tolist() for part in parts])
print([part.device[-5:] for part in parts], [part.device[-5:] for part in dtensor.unpack(v.value())])
plain = tf.Variable(tf.zeros((4, 2)))
tf.train.Checkpoint(v=plain).restore(path)
print(plain.numpy().tolist())
other = dtensor.DVariable(tf.zeros((4, 2)), layout=dtensor.Layout(["unsharded", "x"], mesh))
dtensor.name_based_save(mesh, r"{tmp_path}/b", {{"v": v}})
restored = dtensor.name_based_restore(mesh, r"{tmp_path}/b", {{"v": other}})
print(dtensor.fetch_layout(restored["v"]).sharding_specs, dtensor.unpack(other.value())[3].numpy().tolist())
"""
    ).splitlines()
    assert "VARIABLE_VALUE', [4, 2])" in found[0]
    assert found[1] == "[[[0.0], [2.0]], [[1.0], [3.0]], [[4.0], [6.0]], [[5.0], [7.0]]]"
    assert found[2] == f"{[f'CPU:{i}' for i in range(4)]} {[f'CPU:{i}' for i in range(4)]}"
    assert found[3] == "[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]"
    assert found[4] == "['unsharded', 'x'] [[1.0], [3.0], [5.0], [7.0]]"


def test_a_step_over_the_mesh_is_one_program_and_keeps_layouts() -> None:
    found = run(
        """
layout = dtensor.Layout(["unsharded", "y"], mesh)
v = dtensor.DVariable(tf.ones((4, 6)), layout=layout)
x = dtensor.copy_to_mesh(tf.ones((8, 4)), dtensor.Layout(["x", "unsharded"], mesh))
before = v.value()

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ v))
    v.assign_sub(0.1 * tape.gradient(loss, v))
    return loss

print([round(float(step(x)), 5) for _ in range(3)], v.layout.sharding_specs)
print(tuple(v.value()._buffer.sharding.spec), float(tf.reduce_sum(before)))  # what was read stays as it was
print(step.experimental_get_tracing_count())
"""
    ).splitlines()
    steps, value = [], np.ones((4, 6), np.float32)
    x = np.ones((8, 4), np.float32)
    for _ in range(3):
        steps.append(round(float(np.mean((x @ value) ** 2)), 5))
        value -= 0.1 * (2 / 48) * x.T @ (x @ value)
    assert found == [f"{steps} ['unsharded', 'y']", "(None, 'y') 24.0", "1"]


def test_optimizers_of_keras_update_variables_with_layouts() -> None:
    found = run(
        """
v = dtensor.DVariable(tf.ones((4, 2)), layout=dtensor.Layout(["x", "y"], mesh))
tf.raw_ops.ResourceApplyGradientDescent(var=v.handle, alpha=0.5, delta=v * 2.0)
print(float(tf.reduce_sum(v)), dtensor.fetch_layout(v.value()).sharding_specs)
"""
    )
    assert found.strip() == "0.0 ['x', 'y']"


def test_a_mesh_says_what_to_install_without_jax() -> None:
    program = """
from intaglio import xla
xla.is_installed = lambda: False
try:
    tf.experimental.dtensor.Mesh(["x"], np.arange(1), [0], ["CPU:0"])
except ImportError as e:
    print(e)
"""
    text = PROGRAM.replace("SEED", "0").replace(
        'mesh = dtensor.create_mesh({"x": 2, "y": 2})\n', ""
    )
    done = subprocess.run(
        [sys.executable, "-c", text + program], capture_output=True, text=True, timeout=60
    )
    assert 'pip install "intaglio[xla]"' in done.stdout, done.stderr
