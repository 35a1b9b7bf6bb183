"""Libraries for other processors give what native code gives here, on emulators.

They need the wheel ziglang, qemu-user and node (`make test-export` says how to install them), and are
selected by `-m targets`.
"""

from __future__ import annotations

import functools
import importlib.util
import pathlib
import shutil
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from tests.export import models
from tests.export.programs import CProgram, within_ulps

WASI = str(pathlib.Path(__file__).with_name("wasi.mjs"))
RUNNERS = {
    "host": [],
    "x86-64": [],
    "x86-64-v2": [],
    "x86-64-v3": [],
    "aarch64-linux": ["qemu-aarch64-static", "qemu-aarch64"],
    "riscv64-linux": ["qemu-riscv64-static", "qemu-riscv64"],
    "wasm32": ["node"],
}
pytestmark = pytest.mark.targets


@functools.cache
def runner(target: str) -> list[str]:
    """The command that runs programs for a target. Skips the test if there is none."""
    names = RUNNERS[target]
    if not names:
        return []
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("the wheel ziglang is not installed")
    found = next((p for p in map(shutil.which, names) if p), None)
    if found is None:
        pytest.skip(f"{names[0]} is not installed")
    return [found, "--no-warnings", WASI] if names == ["node"] else [found]


def normal(*shape: int) -> Any:
    return np.random.default_rng(0).normal(size=shape).astype("float32")


CASES = {
    "digits": (models.digits, {"images": normal(1, 8, 8, 1)}, {}),
    "mapped": (models.digits, {"images": normal(1, 8, 8, 1)}, {"weights": "beside"}),
    "lstm": (models.lstm, {"x": normal(2, 12, 8)}, {}),
    "transformer": (models.transformer, {"x": normal(1, 10, 32)}, {}),
    "loop": (models.loop, {"x": normal(5), "steps": np.int32(37)}, {}),
    "dropout": (models.dropout, {"x": normal(4, 50)}, {}),
    "texts": (
        models.texts,
        {"x": np.array([0, -1, 10**18, -(2**63), 77, 2**63 - 1]), "y": normal(6) * 1e4},
        {},
    ),
    "loops": (
        models.loops_over_elements,
        {"x": normal(8, 4), "ids": np.array([2, 0, 1, 1, 2, 0, 0, 2], np.int32)},
        {},
    ),
    "mobile": (models.mobile, {"images": normal(1, 32, 32, 3)}, {}),
}


@pytest.mark.parametrize("target", RUNNERS)
@pytest.mark.parametrize("case", CASES)
def test_case(case: str, target: str, tmp_path: pathlib.Path) -> None:
    command = runner(target)
    make, arguments, options = CASES[case]
    if target == "wasm32" and options:
        pytest.skip("a page hands the weights to the module")
    concrete = make()
    library = intaglio.export_library(
        concrete, tmp_path / "model", target=target, kinds=["object"], **options
    )
    found, _ = CProgram(library, ["run"], tmp_path, command).run(arguments)
    expected = concrete(**{k: tf.constant(v) for k, v in arguments.items()})
    if not isinstance(expected, dict):
        expected = {"output": expected}
    for label, value in expected.items():
        within_ulps(found[0][label], value.numpy(), 4)


@pytest.mark.parametrize("target", RUNNERS)
def test_training(target: str, tmp_path: pathlib.Path) -> None:
    command = runner(target)
    functions = models.training()
    library = intaglio.export_library(
        functions, tmp_path / "model", target=target, kinds=["object"]
    )
    call = {"x": normal(32, 6), "y": normal(32, 1)}
    found, _ = CProgram(library, ["step"] * 3, tmp_path, command).run(call, call, call)
    for results in found:
        loss = functions["step"](**{k: tf.constant(v) for k, v in call.items()})["loss"]
        within_ulps(results["loss"], loss.numpy(), 8)


@pytest.mark.parametrize("target", RUNNERS)
def test_open_dimensions(target: str, tmp_path: pathlib.Path) -> None:
    """Lengths as arguments, which are of 32 bits in WebAssembly; numbers beyond are errors there, too."""
    command = runner(target)
    weights = tf.constant(normal(3, 4))

    def f(x: Any) -> Any:
        y = tf.matmul(x, weights)
        return {"y": tf.concat([y, tf.reduce_mean(y, 0, keepdims=True)], 0), "half": y[::2]}

    concrete = tf.function(f).get_concrete_function(tf.TensorSpec([None, 3], tf.float32, name="x"))
    library = intaglio.export_library(
        concrete,
        tmp_path / "model",
        target=target,
        kinds=["object"],
        shapes={"x": ("n", 3)},
        sizes={"n": (1, 4, 5, 9)},
    )
    program = CProgram(library, ["run"], tmp_path, command)
    for n in (1, 4, 5, 9):
        found, _ = program.run({"x": normal(n, 3)}, n=n)
        for label, value in concrete(tf.constant(normal(n, 3))).items():
            within_ulps(found[0][label], value.numpy(), 4)
    with pytest.raises(
        RuntimeError, match="size 'n' is none of those that code is for: 1, 4, 5, 9"
    ):
        program.run({"x": normal(6, 3)}, n=6)


@pytest.mark.parametrize("target", ["x86-64", "aarch64-linux", "riscv64-linux"])
def test_shared_libraries_are_for_glibc(target: str, tmp_path: pathlib.Path) -> None:
    """Programs of most systems could not load one for musl, whose libc has another name."""
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("the wheel ziglang is not installed")
    library = intaglio.export_library(
        models.transformer(), tmp_path / "model", target=target, kinds=["shared"]
    )
    content = library.paths["shared"].read_bytes()
    assert b"\0libc.so.6\0" in content
    assert b"\0libc.so\0" not in content
