"""C programs with exported libraries give what the functions give in Python."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from tests.export import models
from tests.export.programs import CProgram, within_ulps

pytestmark = pytest.mark.skipif(
    not (shutil.which("cc") or shutil.which("gcc")), reason="there is no C compiler"
)


def exported(source: Any, folder: pathlib.Path, **options: Any) -> Any:
    options.setdefault("kinds", ["object"])
    return intaglio.export_library(source, folder / "model", **options)


def compare(concrete: Any, folder: pathlib.Path, *calls: dict[str, Any], **options: Any) -> None:
    """The results of several calls in C, on one context, against those in Python."""
    program = CProgram(exported(concrete, folder, **options), ["run"] * len(calls), folder)
    found, _ = program.run(*calls)
    for arguments, results in zip(calls, found, strict=True):
        expected = concrete(**{k: tf.constant(v) for k, v in arguments.items()})
        if not isinstance(expected, dict):
            expected = {"output": expected}
        assert results.keys() == expected.keys()
        for label, value in expected.items():
            within_ulps(results[label], value.numpy())


def normal(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def test_digits(tmp_path: pathlib.Path) -> None:
    images = [{"images": normal(1, 8, 8, 1, seed=s)} for s in range(2)]
    compare(models.digits(), tmp_path, *images)


def test_weights_beside(tmp_path: pathlib.Path) -> None:
    compare(models.digits(), tmp_path, {"images": normal(1, 8, 8, 1)}, weights="beside")


def test_wrong_weights(tmp_path: pathlib.Path) -> None:
    """A file that is missing, cut off or another library's is an error."""
    program = CProgram(exported(models.digits(), tmp_path, weights="beside"), ["run"], tmp_path)
    path = tmp_path / "model.weights"
    content = path.read_bytes()
    for wrong in (content[:-1], bytes(8) + content[8:], None):
        if wrong is None:
            path.unlink()
        else:
            path.write_bytes(wrong)
        with pytest.raises(RuntimeError, match="weights cannot be read, or is not the one"):
            program.run({"images": normal(1, 8, 8, 1)})


def test_recurrent(tmp_path: pathlib.Path) -> None:
    compare(models.lstm(), tmp_path, {"x": normal(2, 12, 8)})


def test_transformer(tmp_path: pathlib.Path) -> None:
    compare(models.transformer(), tmp_path, {"x": normal(1, 10, 32)})


def test_loop(tmp_path: pathlib.Path) -> None:
    calls = [{"x": normal(5), "steps": np.int32(n)} for n in (0, 1, 37)]
    compare(models.loop(), tmp_path, *calls)


@tf.custom_gradient
def _clipped(x: Any) -> Any:
    return tf.tanh(x), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)


@tf.recompute_grad
def _recomputed(x: Any) -> Any:
    return tf.sin(x) * x


@pytest.mark.parametrize("differentiated", [False, True])
def test_gradients_of_the_program(tmp_path: pathlib.Path, differentiated: bool) -> None:
    """Nodes that carry a Python function for their gradient: only a tape in the function calls it."""

    @tf.function(input_signature=[tf.TensorSpec([5], name="x")], jit_compile=True)
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = 3.0 * _clipped(x) + _recomputed(x)
        return tape.gradient(y, x) if differentiated else y

    compare(f.get_concrete_function(), tmp_path, {"x": normal(5)})


def test_steps_of_training(tmp_path: pathlib.Path) -> None:
    """Variables are updated in the context, and read by the other function."""
    functions = models.training()
    library = exported(functions, tmp_path)
    program = CProgram(library, ["step", "step", "predict", "step"], tmp_path)
    x, y = normal(32, 6), normal(32, 1, seed=1)
    calls = [{"x": x, "y": y}, {"x": x, "y": y}, {"x": x}, {"x": x, "y": y}]
    found, variables = program.run(*calls)
    names = ["step", "step", "predict", "step"]
    for name, arguments, results in zip(names, calls, found, strict=True):
        expected = functions[name](**{k: tf.constant(v) for k, v in arguments.items()})
        for label, value in expected.items():
            within_ulps(results[label], value.numpy(), 8)
    assert len(variables) == 4
    for own, value in zip(functions["step"].variables, variables.values(), strict=True):
        within_ulps(value, own.numpy(), 8)


def test_scalar_variables(tmp_path: pathlib.Path) -> None:
    """They have no dimensions in a library either."""
    total = tf.Variable(1.5, name="total")

    @tf.function(input_signature=[tf.TensorSpec([], name="x")], jit_compile=True)
    def f(x: Any) -> Any:
        return total.assign_add(x) * 2.0

    library = exported(f.get_concrete_function(), tmp_path)
    assert [v.shape for v in library.interface.variables] == [()]
    (found,), variables = CProgram(library, ["run"], tmp_path).run({"x": np.float32(2)})
    assert found["output"].shape == variables["total"].shape == ()
    assert (found["output"], variables["total"]) == (7.0, 3.5)


def test_random_numbers(tmp_path: pathlib.Path) -> None:
    """A context draws what the function draws from its first call on."""
    drop = models.dropout()
    program = CProgram(exported(drop, tmp_path), ["run", "run"], tmp_path)
    x = normal(4, 50)
    found, _ = program.run({"x": x}, {"x": x})
    for results in found:
        within_ulps(results["output"], drop(tf.constant(x)).numpy())
    assert (found[0]["output"] != found[1]["output"]).any()


def test_refusals_have_texts(tmp_path: pathlib.Path) -> None:
    """What the interpreter would raise is an error with op and line."""
    library = exported(models.lookup(), tmp_path)
    program = CProgram(library, ["run"], tmp_path)
    found, _ = program.run({"rows": [2, 3]})
    np.testing.assert_array_equal(found[0]["output"], [[6, 7, 8], [9, 10, 11]])
    with pytest.raises(
        RuntimeError, match=r"ResourceGather '\w+' \(models.py:\d+\): a value is out of"
    ):
        program.run({"rows": [2, 4]})
    with pytest.raises(RuntimeError, match=r"Assert '.*' \(models.py:\d+\): .*the first row is b"):
        program.run({"rows": [3, 1]})


def test_a_function_of_more_nodes_than_one_of_training_has(tmp_path: pathlib.Path) -> None:
    """Networks like NASNetMobile have more than 4000 nodes, above which training steps are divided."""

    def long(x: Any) -> Any:
        for number in range(1200):
            x = tf.reverse(tf.cumsum(x), [0]) - x[number % 4]
        return x

    spec = tf.TensorSpec([4], tf.int32, name="x")
    concrete = tf.function(long, input_signature=[spec]).get_concrete_function()
    compare(concrete, tmp_path, {"x": np.arange(4, dtype=np.int32)})
