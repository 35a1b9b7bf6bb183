"""Classify and regress: requests of Examples, results as labels with scores and as numbers.

Follows https://www.tensorflow.org/tfx/serving/api_rest, "Classify and Regress API", and
https://www.tensorflow.org/tfx/serving/signature_defs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.graphdef.example_messages import Example
from intaglio.serve import json_tensors
from intaglio.serve.statuses import invalid

INPUT = "inputs"
CLASSES, SCORES, VALUES = "classes", "scores", "outputs"
_INT64 = dtypes.int64.limits


def serialized(request: Mapping[str, Any]) -> np.ndarray:
    """The Examples of a request, serialized, as an array of bytes. Raises InvalidArgumentError."""
    context = _features(request.get("context", {}), "context")
    found = request.get("examples")
    if not isinstance(found, list) or not found:
        raise invalid("the request needs the key 'examples' with a list of one or more objects")
    arrays = np.empty([len(found)], object)
    for number, one in enumerate(found):
        features = _features(one, f"example {number}")
        both = sorted(context.keys() & features.keys())
        if both:
            raise invalid(f"the feature {both[0]!r} of example {number} is in 'context', too")
        message = Example()
        for name, (kind, values) in (context | features).items():
            feature = message.features.feature[name]
            if kind:
                getattr(feature, kind).value.extend(values)
        arrays[number] = message.SerializeToString(deterministic=True)
    return arrays


def _features(value: Any, where: str) -> dict[str, tuple[str, list[Any]]]:
    """The features of an object: the kind of list and its values, by name."""
    if not isinstance(value, dict):
        raise invalid(f"{where} must be a JSON object of features by name")
    return {
        name: _feature(v if isinstance(v, list) else [v], f"Feature: {name} of {where}")
        for name, v in value.items()
    }


def _feature(values: list[Any], where: str) -> tuple[str, list[Any]]:
    kinds = {_kind(v, where) for v in values}
    if len(kinds) > 1:
        raise invalid(f"{where} has elements of several types: {', '.join(sorted(kinds))}")
    kind = kinds.pop() if kinds else ""
    if kind == "bytes_list":
        values = [
            json_tensors.text_bytes(v) if isinstance(v, str) else json_tensors.decoded_base64(v)
            for v in values
        ]
    elif kind == "int64_list":
        values = [int(v) for v in values]
        if not all([_INT64[0] <= v <= _INT64[1] for v in values]):
            raise invalid(f"{where} has an integer that is not of 64 bits with sign")
    elif kind == "float_list":
        values = json_tensors.array(values, dtypes.float32).tolist()
    return kind, values


def _kind(value: Any, where: str) -> str:
    if isinstance(value, int):  # and True, False
        return "int64_list"
    if isinstance(value, float):
        return "float_list"
    if isinstance(value, str) or json_tensors.is_base64(value):
        return "bytes_list"
    raise invalid(
        f"{where} has an element that is neither a number nor text nor an object with the key 'b64'"
    )


def classifications(outputs: Mapping[str, np.ndarray], count: int) -> bytes:
    """The response to a classify request of so many Examples: pairs of label and score for each.

    Raises InvalidArgumentError for outputs of other shapes or dtypes than classifications have.
    """
    classes, scores = outputs.get(CLASSES), outputs.get(SCORES)
    for name, found, kind in ((CLASSES, classes, "O"), (SCORES, scores, "f")):
        if found is not None and (
            found.ndim != 2 or found.shape[0] != count or found.dtype.kind != kind
        ):
            wanted = "string" if kind == "O" else "floating-point"
            raise invalid(
                f"Expected output {name!r} to be a {wanted} tensor of shape [{count}, classes], it is "
                f"{dtypes.from_numpy(found.dtype).name}{[*found.shape]}"
            )
    if classes is not None and scores is not None and classes.shape != scores.shape:
        raise invalid(
            f"Tensors 'classes' and 'scores' have different shapes: {[*classes.shape]}, {[*scores.shape]}"
        )
    either = classes if classes is not None else scores
    if either is None:
        raise invalid("the signature has neither an output 'classes' nor an output 'scores'")
    labels = ['""'] * either.size
    if classes is not None:
        labels = [json_tensors.json_text(v, CLASSES) for v in classes.reshape(-1)]
    numbers = ["0.0"] * either.size
    if scores is not None:
        numbers = json_tensors.decimals(scores.reshape(-1))
    pairs = [f"[{label}, {n}]" for label, n in zip(labels, numbers, strict=True)]
    width = either.shape[1]
    rows = [f"[{', '.join(pairs[i * width : (i + 1) * width])}]" for i in range(count)]
    return f'{{"results": [{", ".join(rows)}]}}'.encode()


def regressions(outputs: Mapping[str, np.ndarray], count: int) -> bytes:
    """The response to a regress request of so many Examples: a number for each.

    Raises InvalidArgumentError for an output of another shape or dtype than a regression has.
    """
    found = outputs.get(VALUES)
    if found is None:
        raise invalid(f"the signature has no output {VALUES!r}, but {json.dumps(sorted(outputs))}")
    if found.shape not in ((count,), (count, 1)) or found.dtype.kind != "f":
        raise invalid(
            f"Expected output {VALUES!r} to be a floating-point tensor of shape [{count}] or [{count}, 1], "
            f"it is {dtypes.from_numpy(found.dtype).name}{[*found.shape]}"
        )
    return f'{{"results": [{", ".join(json_tensors.decimals(found.reshape(-1)))}]}}'.encode()
