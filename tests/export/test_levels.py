"""A library with code for the levels of x86-64 chooses the one that the processor has."""

from __future__ import annotations

import pathlib
import platform
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from intaglio.native.llvm.target import LEVELS
from tests.export import models
from tests.export.programs import SECONDS, CProgram, within_ulps

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.system() != "Linux" or not shutil.which("cc"),
    reason="code for x86-64 is linked and run",
)
MAIN = """
#include "model.h"
#include <stdio.h>
int main(void) {
    model_context *context;
    int error = model_create(&context);
    printf("%s|%s", model_processor(), model_error_text(error));
    return error ? 0 : model_destroy(context);
}
"""
# Processors of qemu, and the level that each has; it knows no AVX-512.
PROCESSORS = {"Nehalem": "x86-64-v2", "Haswell": "x86-64-v3", "core2duo": ""}


def exported(source: Any, folder: pathlib.Path) -> Any:
    return intaglio.export_library(source, folder / "model", target="x86-64", kinds=["object"])


def said(library: Any, folder: pathlib.Path, runner: list[str]) -> list[str]:
    """The level that a program with the library finds, and the error of a context."""
    source, path = folder / "level.c", folder / "level"
    source.write_text(MAIN)
    objects = [str(source), str(library.paths["object"])]
    command = ["cc", "-Wall", "-Werror", "-static", f"-I{folder}", *objects, "-lm", "-o", str(path)]
    subprocess.run(command, check=True, timeout=SECONDS)
    done = subprocess.run([*runner, str(path)], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0
    return done.stdout.split("|")


def test_this_processor(tmp_path: pathlib.Path) -> None:
    """Functions, states and errors are those of the level, whichever it is."""
    functions = models.training()
    library = exported(functions, tmp_path)
    level, error = said(library, tmp_path, [])
    assert level in LEVELS["x86-64"]
    assert error == "no error"
    rng = np.random.default_rng(0)
    call = {n: rng.normal(size=(32, s)).astype("float32") for n, s in (("x", 6), ("y", 1))}
    results, variables = CProgram(library, ["step", "step"], tmp_path).run(call, call)
    for found in results:
        loss = functions["step"](**{k: tf.constant(v) for k, v in call.items()})["loss"]
        within_ulps(found["loss"], loss.numpy(), 8)
    for own, value in zip(functions["step"].variables, variables.values(), strict=True):
        within_ulps(value, own.numpy(), 8)


def test_errors(tmp_path: pathlib.Path) -> None:
    """A code is the same on all levels: what no level does is an error with op and line."""
    program = CProgram(exported(models.lookup(), tmp_path), ["run"], tmp_path)
    with pytest.raises(RuntimeError, match=r"ResourceGather.*out of range"):
        program.run({"rows": np.array([0, 7], "int32")})
    with pytest.raises(RuntimeError, match="the first row is below three"):
        program.run({"rows": np.array([3, 0], "int32")})


def test_weights_are_there_once(tmp_path: pathlib.Path) -> None:
    weights = tf.Variable(np.random.default_rng(0).normal(size=(300, 300)), dtype=tf.float32)

    @tf.function(input_signature=[tf.TensorSpec([1, 300], tf.float32)])
    def f(x: Any) -> Any:
        return tf.matmul(x, weights)

    library = exported(f, tmp_path)
    assert library.paths["object"].stat().st_size < 2 * 300 * 300 * 4


@pytest.mark.targets
@pytest.mark.parametrize("processor", PROCESSORS)
def test_other_processors(processor: str, tmp_path: pathlib.Path) -> None:
    qemu = shutil.which("qemu-x86_64-static")
    if qemu is None:
        pytest.skip("qemu-x86_64-static is not installed")
    runner = [qemu, "-cpu", processor]
    concrete = models.digits()
    library = exported(concrete, tmp_path)
    level, error = said(library, tmp_path, runner)
    assert level == PROCESSORS[processor]
    if not level:
        assert error == "the library has no code for this processor"
        return
    images = np.random.default_rng(0).normal(size=(1, 8, 8, 1)).astype("float32")
    found, _ = CProgram(library, ["run"], tmp_path, runner, ["-static"]).run({"images": images})
    for label, value in concrete(images=tf.constant(images)).items():
        within_ulps(found[0][label], value.numpy(), 4)
