"""The package `tf2onnx` where it is not installed: Keras' `model.export(path, format="onnx")` calls it.

Models are written by `intaglio.export_onnx`. https://github.com/onnx/tensorflow-onnx describes the functions.
"""

from __future__ import annotations

from intaglio.tensorflow_name.tf2onnx import convert, graph, tfonnx

__all__ = ["convert", "graph", "tfonnx"]
