"""ONNX' own tests of its operators (`onnx.backend.test`), loaded as functions: which of them give the answer."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

from intaglio.export.onnx.loading.loaded import function_of
from intaglio.export.onnx.loading.model_files import Weights
from intaglio.export.onnx.loading.program import Program
from intaglio.opdef import convert

# Operators that draw random numbers: types and shapes are compared.
RANDOM = (
    "bernoulli",
    "random",
    "training_dropout_default",
    "training_dropout_mask",
    "training_dropout",
)


@functools.cache
def all_tests() -> list[Any]:
    """The tests of nodes, by name."""
    return sorted(load_model_tests(kind="node"), key=lambda t: t.name)


def _array(value: Any) -> Any:
    """A value of a test: texts are arrays of bytes here."""
    if isinstance(value, list):
        return [_array(v) for v in value]
    if value is None:
        return None
    array = (
        numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
    )
    if array.dtype.kind not in "USO":
        return array
    flat = [v.encode() if isinstance(v, str) else bytes(v) for v in array.reshape(-1)]
    return np.array([*flat, None], object)[:-1].reshape(array.shape)


def _compare(mine: Any, theirs: Any, test: Any, numbers: bool) -> None:
    if isinstance(theirs, list):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            _compare(a, b, test, numbers)
        return
    if theirs is None:
        assert mine is None
        return
    a = _array(mine.numpy() if hasattr(mine, "numpy") else mine)
    assert a.dtype == theirs.dtype and a.shape == theirs.shape, (a.dtype, a.shape)
    if not numbers:
        return
    if theirs.dtype.kind in "bO":
        np.testing.assert_array_equal(a, theirs)
        return
    # Two units of 16-bit floats.
    unit = (
        2.0**-6 if theirs.dtype.name == "bfloat16" else 2.0**-9 if theirs.dtype == np.float16 else 0
    )
    tolerance = max(test.rtol, 1e-3, unit)
    wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        a.astype(wide), theirs.astype(wide), rtol=tolerance, atol=max(test.atol, 1e-6)
    )


def outcome(test: Any) -> str:
    """An empty text for the answer of the test, else the first line of what is wrong.

    Models are traced as functions; those with sequences among their inputs, or values that only a call
    knows, are carried out eagerly.
    """
    model = test.model
    numbers = not any(name in test.name for name in RANDOM) or "zero_ratio" in test.name
    try:
        for inputs, outputs in test.data_sets:
            arrays = [_array(v) for v in inputs]
            try:
                found = function_of(model, Weights(None))(*arrays)
                found = [*found.values()] if isinstance(found, dict) else [found]
            except Exception:
                operands = [
                    v if isinstance(v, list) or v is None else convert.to_tensor(v) for v in arrays
                ]
                found = Program(model, Weights(None)).run(model.graph, operands)
            for mine, theirs in zip(found, outputs, strict=True):
                _compare(mine, _array(theirs), test, numbers)
    except Exception as e:
        return (str(e).strip() or type(e).__name__).splitlines()[0]
    return ""
