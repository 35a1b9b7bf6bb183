"""`export_onnx` and `load_onnx`: functions as ONNX models, and the other way."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence
from typing import Any

from intaglio.export import onnx


def export_onnx(
    source: Any,
    path: str | os.PathLike[str],
    *,
    args: Sequence[Any] | None = None,
    opset: int = 21,
    signature: str | None = None,
    weights: str | None = None,
) -> pathlib.Path:
    """Writes a function as an ONNX model, and returns the path.

    `source` is a `tf.function` with an `input_signature`, or with `args` that it is traced with (tensors,
    arrays or `tf.TensorSpec`s), a ConcreteFunction, a `tf.Module` or Keras model, or the folder of a
    SavedModel; `signature` selects one of several. Inputs and outputs are named as in the signature.
    Dimensions of None are open in the model. Variables become initializers with their present values.

    `opset` is the version of ONNX' operators, 18 or later. `weights="beside"` writes large arrays to
    `path.data`, `"inside"` all to the one file; without it, what has more than 1 GiB goes beside.

    Raises ExportError, a ValueError, for an op that ONNX has no expression for, naming op, line and what
    to write instead, and for a function that writes variables; ImportError without the package onnx.
    """
    onnx.check_installed()
    return onnx.exported(source, path, args, opset, signature, weights)


def load_onnx(path: str | os.PathLike[str]) -> Any:
    """An ONNX model as a `tf.function`, which is differentiated and compiled like any other.

    Its arguments have the names and shapes of the model's inputs, open dimensions included; it returns a
    tensor, or a dict by the outputs' names if there are several. The weights are constants of the function.

    The file is checked: its graph by ONNX' checker, the bytes of each tensor against its shape, and weights
    beside the model are read only from files inside of its folder. Nothing in a model is run as code.

    Raises ModelError, a ValueError, for a file that is no valid model and for nodes that have no
    counterpart, naming them; OSError; ImportError without the package onnx.
    """
    onnx.check_installed()
    return onnx.loaded(path)
