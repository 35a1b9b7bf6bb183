"""Signatures of SavedModels as messages: `tf.compat.v1.saved_model.signature_def_utils`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/saved_model/build_signature_def.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import as_dtype, float32, string
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.graphdef import tensors
from intaglio.graphdef.saved_messages import SignatureDef, TensorInfo
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import convert
from intaglio.sparse.tensor import SparseTensor
from intaglio.state.variable import Variable
from intaglio.trace import scopes

PREDICT = "tensorflow/serving/predict"
CLASSIFY = "tensorflow/serving/classify"
REGRESS = "tensorflow/serving/regress"


def build_tensor_info(tensor: Any) -> Any:
    """The TensorInfo of a tensor of a graph. Raises RuntimeError eagerly."""
    if scopes.executing_eagerly() and not isinstance(tensor, (SymbolicTensor, SparseTensor)):
        raise RuntimeError("`build_tensor_info` is not supported in eager execution.")
    if isinstance(tensor, Variable):
        tensor = convert.to_tensor(tensor)
    info = TensorInfo(dtype=as_dtype(tensor.dtype).as_datatype_enum)
    dims = None if tensor.shape.rank is None else tuple(tensor.shape.as_list())
    info.tensor_shape.CopyFrom(tensors.shape_proto(dims))
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    elif isinstance(tensor, CompositeTensor):
        raise NotImplementedError(f"build_tensor_info takes dense and sparse tensors: {tensor!r}")
    else:
        info.name = tensor.name
    return info


def get_tensor_from_tensor_info(
    tensor_info: Any, graph: Any = None, import_scope: str | None = None
) -> Any:
    """The tensor of a graph that a TensorInfo names. Raises KeyError, ValueError."""
    home = graph or get_default_graph()
    prefix = f"{import_scope}/" if import_scope else ""
    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return home.get_tensor_by_name(prefix + tensor_info.name)
    if encoding == "coo_sparse":
        sparse = tensor_info.coo_sparse
        parts = (
            sparse.indices_tensor_name,
            sparse.values_tensor_name,
            sparse.dense_shape_tensor_name,
        )
        return SparseTensor(*[home.get_tensor_by_name(prefix + name) for name in parts])
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


def build_signature_def(
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    method_name: str | None = None,
    defaults: Any = None,
) -> Any:
    """A SignatureDef of TensorInfos by name."""
    found = SignatureDef()
    for target, infos in ((found.inputs, inputs), (found.outputs, outputs)):
        for key, info in (infos or {}).items():
            target[key].ParseFromString(info.SerializeToString())
    if method_name is not None:
        found.method_name = method_name
    for key, value in (defaults or {}).items():
        found.defaults[key].ParseFromString(value.SerializeToString())
    return found


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Any:
    """The signature of serving's Predict. Raises ValueError without inputs or outputs."""
    if not inputs:
        raise ValueError("Prediction `inputs` cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction `outputs` cannot be None or empty.")
    return build_signature_def(
        {key: build_tensor_info(t) for key, t in inputs.items()},
        {key: build_tensor_info(t) for key, t in outputs.items()},
        PREDICT,
    )


def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """The signature of serving's Regress: texts in, float32 out. Raises ValueError otherwise."""
    if examples is None:
        raise ValueError("Regression `examples` cannot be None.")
    if not isinstance(examples, SymbolicTensor):
        raise ValueError(
            f"Expected regression `examples` to be of type Tensor. Found `examples` of type {type(examples)}."
        )
    if predictions is None:
        raise ValueError("Regression `predictions` cannot be None.")
    _check("Regression", "input", examples, string)
    _check("Regression", "output", predictions, float32)
    return build_signature_def(
        {"inputs": build_tensor_info(examples)},
        {"outputs": build_tensor_info(predictions)},
        REGRESS,
    )


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """The signature of serving's Classify: texts in, texts and float32 out. Raises ValueError otherwise."""
    if examples is None:
        raise ValueError("Classification `examples` cannot be None.")
    if not isinstance(examples, SymbolicTensor):
        raise ValueError(
            f"Classification `examples` must be a string Tensor. Found `examples` of type {type(examples)}."
        )
    if classes is None and scores is None:
        raise ValueError("Classification `classes` and `scores` cannot both be None.")
    _check("Classification", "input", examples, string)
    outputs: dict[str, Any] = {}
    for key, tensor, dtype in (("classes", classes, string), ("scores", scores, float32)):
        if tensor is not None:
            _check("Classification", key, tensor, dtype)
            outputs[key] = build_tensor_info(tensor)
    return build_signature_def({"inputs": build_tensor_info(examples)}, outputs, CLASSIFY)


def _check(what: str, which: str, tensor: Any, dtype: Any) -> None:
    if tensor.dtype is not dtype:
        raise ValueError(
            f"{what} {which} tensors must be of type {dtype.name}, got {tensor.dtype.name}: {tensor}."
        )


_WANTED: dict[str, tuple[frozenset[str], tuple[frozenset[str], ...]]] = {
    CLASSIFY: (
        frozenset(["inputs"]),
        (frozenset(["classes", "scores"]), frozenset(["classes"]), frozenset(["scores"])),
    ),
    REGRESS: (frozenset(["inputs"]), (frozenset(["outputs"]),)),
}


def is_valid_signature(signature_def: Any) -> bool:
    """True for a signature that serving takes."""
    if signature_def is None:
        return False
    method, inputs = signature_def.method_name, signature_def.inputs
    if method == PREDICT:
        return bool(inputs) and bool(signature_def.outputs)
    if method not in _WANTED:
        return False
    names, results = _WANTED[method]
    if frozenset(inputs) != names or frozenset(signature_def.outputs) not in results:
        return False
    numbers = {"scores": float32, "outputs": float32}
    kinds = [(inputs["inputs"], string)]
    kinds += [(info, numbers.get(key, string)) for key, info in signature_def.outputs.items()]
    return all(info.dtype == kind.as_datatype_enum for info, kind in kinds)
