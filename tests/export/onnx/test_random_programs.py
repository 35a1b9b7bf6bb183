"""Random programs of `trust` as ONNX models: as the function has them, in onnxruntime and loaded again.

`ONNX_PROGRAMS` is how many; what a program draws besides is mostly refused by name.
"""

from __future__ import annotations

import os
import pathlib
import warnings
from typing import Any

import numpy as np
import onnx
import pytest

import intaglio
from intaglio import tf
from intaglio.base.errors import OpError
from tests.export.onnx.running import session
from trust.generator import draw
from trust.programs import load, namespace

COUNT = int(os.environ.get("ONNX_PROGRAMS", "60"))
GROUP = 100
# At least so many of a group are models that run.
COMPARED = 2
# Relative to the largest element, by the bytes of one.
TOLERANCES = {2: 2e-2, 4: 2e-4, 8: 1e-6}


def outcome(seed: int, path: pathlib.Path) -> str:
    """What became of a program: "equal", or why it was not compared."""
    program = draw(seed)
    variables = {n: tf.Variable(a, name=n) for n, a in program.variables.items()}
    f = load(program.source(), namespace(program, variables, tf.function))
    arguments = [tf.constant(a) for a in program.inputs[0]]
    try:
        concrete = tf.function(f).get_concrete_function(*arguments)
    except (OpError, ValueError, TypeError, NotImplementedError):
        return "not traced"
    try:
        intaglio.export_onnx(concrete, path)
    except intaglio.ExportError:
        return "not exported"
    model = onnx.load(path)
    try:
        wanted = [v.numpy() for v in tf.nest.flatten(concrete(*arguments))]
    except OpError:
        return "raises"
    specs = tf.nest.flatten(concrete.structured_input_signature)
    given = {s.name: a for s, a in zip(specs, arguments, strict=True)}
    given = {v.name: given[v.name] for v in model.graph.input}
    _compare(intaglio.load_onnx(path)(*given.values()), wanted, f"seed {seed}, loaded")
    try:
        run = session(path)
    except Exception:  # onnxruntime has no kernel for some types
        return "not run"
    feeds = {n: v.numpy() for n, v in given.items()}
    if any(v.type == "tensor(bfloat16)" for v in (*run.get_inputs(), *run.get_outputs())):
        return "not run"  # onnxruntime's Python takes and gives NumPy's dtypes only
    _compare(run.run(None, feeds), wanted, f"seed {seed}, onnxruntime")
    return "equal"


def _compare(found: Any, wanted: list[Any], where: str) -> None:
    for mine, value in zip(map(np.asarray, tf.nest.flatten(found)), wanted, strict=True):
        assert (mine.dtype, mine.shape) == (value.dtype, value.shape), where
        if value.dtype.kind in "biuS":
            np.testing.assert_array_equal(mine, value, where)
            continue
        tolerance = TOLERANCES[value.dtype.itemsize]
        mine, value = mine.astype(np.float64), value.astype(np.float64)
        scale = np.abs(value[np.isfinite(value)]).max(initial=1.0)
        np.testing.assert_allclose(mine, value, tolerance, tolerance * scale, err_msg=where)


@pytest.mark.parametrize("first", range(0, COUNT, GROUP))
def test_programs(first: int, tmp_path: pathlib.Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = tmp_path / "model.onnx"
        found = [outcome(seed, path) for seed in range(first, min(first + GROUP, COUNT))]
    assert found.count("equal") >= COMPARED, found
