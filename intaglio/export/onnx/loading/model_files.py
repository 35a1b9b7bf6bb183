"""Reads a model's file and the weights beside it, and checks both: a file may come from anywhere.

Nothing in a model is run. Weights are read from regular files inside of the model's folder only, and every
tensor has as many bytes as its shape says.
"""

from __future__ import annotations

import math
import os
import pathlib
from typing import Any

import numpy as np
import onnx
from onnx import checker, numpy_helper

from intaglio.export.onnx.loading.values import ModelError, dtype_of

# A message has at most 2 GiB.
MAX_MODEL_BYTES = 1 << 31
# Elements of a tensor that has fewer bytes than elements: 4-bit numbers, two in a byte.
_PACKED = {"int4", "uint4", "float4_e2m1fn"}


def read_model(path: pathlib.Path) -> onnx.ModelProto:
    """The model of a file. Raises OSError, and ModelError for a file that is no valid model."""
    size = os.stat(path).st_size
    if size > MAX_MODEL_BYTES:
        raise ModelError(f"{path} has {size} bytes, and a model has at most {MAX_MODEL_BYTES}")
    model = onnx.ModelProto()
    try:
        model.ParseFromString(path.read_bytes())
    except Exception as e:  # protobuf's own class of errors, which only graphdef/ imports
        raise ModelError(f"{path} is no ONNX model: {e}") from e
    if not model.HasField("graph") or not model.opset_import:
        raise ModelError(f"{path} is no ONNX model: it has no graph, or names no operators")
    check(model, str(path))
    return model


def check(model: onnx.ModelProto, name: str) -> None:
    """Raises ModelError for a model that breaks ONNX' rules for graphs."""
    for entry in model.opset_import:
        newest = onnx.defs.onnx_opset_version()
        if entry.domain in ("", "ai.onnx") and entry.version > newest:
            raise ModelError(
                f"{name} is written for opset {entry.version}, and onnx {onnx.__version__} knows "
                f"those up to {newest}: pip install -U onnx"
            )
    # Weights beside a model are checked as they are read.
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for tensor in copy.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            tensor.ClearField("data_location")
            tensor.ClearField("external_data")
            tensor.ClearField("dims")
            tensor.dims.append(0)
    # The checker wants shapes of all outputs, also of those whose rank is not known.
    for output in copy.graph.output:
        if output.type.HasField("tensor_type"):
            output.type.tensor_type.shape.SetInParent()
    try:
        checker.check_model(copy)
    except (checker.ValidationError, ValueError) as e:
        raise ModelError(f"{name}: {str(e).strip()}") from e


class Weights:
    """Reads tensors of a model, each once, with their data in the folder."""

    def __init__(self, folder: pathlib.Path | None) -> None:
        self._folder = folder
        self._arrays: dict[int, tuple[Any, np.ndarray]] = {}

    def __call__(self, tensor: onnx.TensorProto) -> np.ndarray:
        """A tensor's array. Raises ModelError for bytes that do not fit its shape."""
        found = self._arrays.get(id(tensor))
        if found is None:
            found = self._arrays[id(tensor)] = (tensor, self._read(tensor))
        return found[1]

    def _read(self, tensor: onnx.TensorProto) -> np.ndarray:
        dtype = dtype_of(tensor.data_type)
        shape = tuple(tensor.dims)
        if any(d < 0 for d in shape):
            raise ModelError(f"tensor {tensor.name!r} has the shape {shape}")
        count = math.prod(shape)
        if tensor.data_type == onnx.TensorProto.STRING:
            if len(tensor.string_data) != count:
                raise ModelError(
                    f"tensor {tensor.name!r} has {len(tensor.string_data)} of {count} texts"
                )
            return np.array([*tensor.string_data, None], object)[:-1].reshape(shape)
        size = -(-count // 2) if dtype.name in _PACKED else count * dtype.numpy.itemsize
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            data = self._external(tensor, size)
            copy = onnx.TensorProto(name=tensor.name, data_type=tensor.data_type, dims=shape)
            copy.raw_data = data
            tensor = copy
        elif tensor.HasField("raw_data") and len(tensor.raw_data) != size:
            raise ModelError(
                f"tensor {tensor.name!r} has {len(tensor.raw_data)} bytes, and its shape {shape} "
                f"needs {size}"
            )
        try:
            return np.ascontiguousarray(numpy_helper.to_array(tensor)).reshape(shape)
        except (ValueError, TypeError) as e:
            raise ModelError(f"tensor {tensor.name!r}: {e}") from e

    def _external(self, tensor: onnx.TensorProto, size: int) -> bytes:
        entries = {e.key: e.value for e in tensor.external_data}
        location = entries.get("location", "")
        path = self._inside(location, tensor.name)
        try:
            offset, length = int(entries.get("offset", 0)), int(entries.get("length", size))
        except ValueError as e:
            raise ModelError(f"tensor {tensor.name!r}: {e}") from e
        if offset < 0 or length != size:
            raise ModelError(
                f"tensor {tensor.name!r} has {length} bytes at {offset} of {location}, and its shape "
                f"needs {size}"
            )
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read(size)
        if len(data) != size:
            raise ModelError(
                f"{location} ends before the {size} bytes at {offset} of {tensor.name!r}"
            )
        return data

    def _inside(self, location: str, name: str) -> pathlib.Path:
        """The file of weights: inside of the folder, also after links are followed."""
        if self._folder is None:
            raise ModelError(f"tensor {name!r} is in {location!r}, and the model is no file")
        root = self._folder.resolve()
        path = root / location
        if (
            not location
            or os.path.isabs(location)
            or not path.resolve().is_relative_to(root)
            or not path.is_file()
        ):
            raise ModelError(f"tensor {name!r}: {location!r} is no file in the folder of the model")
        return path
