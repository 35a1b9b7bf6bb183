"""Operators of the domain ai.onnx.ml that are arithmetic on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.export.onnx.loading.registry import ML, operator
from intaglio.export.onnx.loading.values import ModelError, cast, element, like, rank, tensor
from intaglio.opdef import raw


@operator("ArrayFeatureExtractor", domain=ML)
def _columns(c, x, index) -> Any:
    index = raw.Reshape(index, np.array([-1]))
    x = tensor(x)
    x = raw.ExpandDims(x, 0) if rank(x) == 1 else x
    return raw.GatherV2(x, index, rank(x) - 1)


@operator("Binarizer", domain=ML)
def _binarized(c, x) -> Any:
    return cast(raw.Greater(x, like(c.attr("threshold", 0.0), tensor(x))), element(x))


@operator("LabelEncoder", domain=ML)
def _encoded(c, x) -> Any:
    """The value of each key; NaN is a key like others."""
    x = tensor(x)
    keys, values, default = _table(c)
    found = raw.Fill(raw.Shape(x), np.asarray(default, values.dtype))
    for key, value in zip(keys, values, strict=True):
        if isinstance(key, np.floating) and np.isnan(key):
            here = raw.IsNan(x)
        else:
            here = raw.Equal(x, np.asarray(key, x.dtype.numpy))
        found = raw.SelectV2(here, np.asarray(value, values.dtype), found)
    return found


_KINDS = (("int64s", np.int64), ("strings", object), ("floats", np.float32))
_DEFAULTS: dict[str, Any] = {"int64s": -1, "strings": b"_Unused", "floats": -0.0}


def _column(c: Any, name: str) -> tuple[np.ndarray, str]:
    message = c.attr(f"{name}_tensor")
    if message is not None:
        return c.program.read(message).reshape(-1), ""
    for kind, dtype in _KINDS:
        found = c.attr(f"{name}_{kind}")
        if found:
            texts = [v.encode() for v in found] if dtype is object else found
            return np.array([*texts, None], object)[:-1].astype(dtype), kind
    raise ModelError(f"it has no {name}")


def _table(c: Any) -> tuple[np.ndarray, np.ndarray, Any]:
    keys, _ = _column(c, "keys")
    values, kind = _column(c, "values")
    message = c.attr("default_tensor")
    if message is not None:
        return keys, values, c.program.read(message).reshape(-1)[0]
    names = {"int64s": "default_int64", "strings": "default_string", "floats": "default_float"}
    default = c.attr(names.get(kind, ""), _DEFAULTS.get(kind, 0))
    return keys, values, default.encode() if isinstance(default, str) else default
