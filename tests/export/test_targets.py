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
