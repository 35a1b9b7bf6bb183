"""Runs models: by onnxruntime, or by ONNX' own reference where onnxruntime has no kernel for a type."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

onnxruntime.set_default_logger_severity(4)


class NotRun(Exception):
    """Neither of them runs the model."""


def session(model: onnx.ModelProto | str | pathlib.Path) -> Any:
    """A session of onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    data = model.SerializeToString() if isinstance(model, onnx.ModelProto) else str(model)
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def run(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[Any]:
    """The outputs of a model. Raises NotRun."""
    try:
        return session(model).run(None, dict(feeds))
    except Exception as by_runtime:
        try:
            return ReferenceEvaluator(model).run(None, dict(feeds))
        except Exception as e:
            raise NotRun(f"{by_runtime}; {e}") from e
