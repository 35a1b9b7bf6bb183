"""One version of a model: its signatures, as functions of arrays, and its metadata.

A SavedModel is loaded as `tf.saved_model.load` does it: graphs are read and run, code of the model
never. Signatures that read or write files which a request names are not served.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from intaglio.base import dtypes, errors
from intaglio.base.dtypes import DType
from intaglio.base.shapes import Dims
from intaglio.function.concrete import ConcreteFunction
from intaglio.runtime.eager import from_array
from intaglio.saved_model import names, reader
from intaglio.serve.request_paths import node_with_path_from
from intaglio.serve.statuses import invalid

Arrays = Mapping[str, np.ndarray]
# The weight of the latest call in the mean of durations.
LATEST_WEIGHT = 0.25
PREDICT = "tensorflow/serving/predict"


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """An input or output of a signature."""

    dtype: DType
    dims: Dims

    def admits(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape is such a tensor."""
        return self.dims is None or (
            len(self.dims) == len(shape)
            and all([d is None or d == n for d, n in zip(self.dims, shape, strict=True)])
        )


class Duration:
    """How long calls take: a mean in which later ones weigh more. It begins as long."""

    def __init__(self) -> None:
        self.value = 1.0

    def add(self, seconds: float) -> None:
        """Takes a call into account."""
        self.value += (seconds - self.value) * LATEST_WEIGHT


@dataclasses.dataclass(frozen=True, eq=False)
class Signature:
    """A function from arrays by name to arrays by name."""

    name: str
    method: str
    inputs: Mapping[str, TensorInfo]
    outputs: Mapping[str, TensorInfo]
    run: Callable[[Arrays], dict[str, np.ndarray]]
    seconds: Duration = dataclasses.field(default_factory=Duration)

    def timed(self, arrays: Arrays) -> dict[str, np.ndarray]:
        """What `run` returns; how long it took goes into `seconds`."""
        start = time.perf_counter()
        found = self.run(arrays)
        self.seconds.add(time.perf_counter() - start)
        return found

    @property
    def takes_rows(self) -> bool:
        """Whether the first dimension of every input and output is open: requests may be joined."""
        tensors = (*self.inputs.values(), *self.outputs.values())
        return bool(self.inputs) and all(
            [t.dims is None or (len(t.dims) > 0 and t.dims[0] is None) for t in tensors]
        )

    def check(self, arrays: Arrays) -> None:
        """Raises InvalidArgumentError for an array of a shape that its input has not."""
        for name, info in self.inputs.items():
            if not info.admits(arrays[name].shape):
                dims = ["?" if d is None else d for d in info.dims or ()]
                raise invalid(
                    f"input {name!r} has the shape {[*arrays[name].shape]}, signature {self.name!r} takes "
                    f"[{', '.join(map(str, dims))}]"
                )


@dataclasses.dataclass(frozen=True)
class Servable:
    """A version of a model that is ready to serve; `metadata` is that of its SignatureDefs."""

    signatures: Mapping[str, Signature]
    metadata: Mapping[str, Any]

    def signature(self, name: str) -> Signature:
        """The signature of a name. Raises InvalidArgumentError if there is none."""
        if name not in self.signatures:
            raise invalid(f'Serving signature name: "{name}" not found in signature def')
        return self.signatures[name]


def load(folder: str) -> Servable:
    """The SavedModel in a folder. Raises what `tf.saved_model.load` raises of it."""
    meta_graph = _serving_graph(reader.read_message(folder), folder)
    root = reader.load(folder, tags=[*meta_graph.meta_info_def.tags])
    defs = {
        key: found
        for key, found in sorted(meta_graph.signature_def.items())
        if key != names.INIT_SIGNATURE
    }
    found = {key: _signature(key, found, root) for key, found in defs.items()}
    return Servable(found, {key: described(d) for key, d in defs.items()})


def _serving_graph(model: Any, folder: str) -> Any:
    """The graph with the tag `serve`. Raises NotFoundError if there is none."""
    for meta_graph in model.meta_graphs:
        if names.SERVING in meta_graph.meta_info_def.tags:
            return meta_graph
    raise errors.NotFoundError(
        None, None, f"The SavedModel at {folder} has no graph with the tag '{names.SERVING}'."
    )


def _signature(key: str, definition: Any, root: Any) -> Signature:
    infos = [
        {name: TensorInfo(dtypes.as_dtype(i.dtype), _dims(i)) for name, i in side.items()}
        for side in (definition.inputs, definition.outputs)
    ]
    return Signature(key, definition.method_name, infos[0], infos[1], _runner(key, root, infos[0]))


def _dims(info: Any) -> Dims:
    if info.tensor_shape.unknown_rank:
        return None
    return tuple([None if d.size < 0 else d.size for d in info.tensor_shape.dim])


def _runner(
    key: str, root: Any, inputs: Mapping[str, TensorInfo]
) -> Callable[[Arrays], dict[str, np.ndarray]]:
    """What a call of the signature does; the reason why it cannot be called is raised by the call."""
    try:
        function = root.signatures[key]
        _check_paths(key, function)
    except errors.OpError as e:
        return _failing(e.message)
    except KeyError:
        return _failing(f"the signature {key!r} has no function in the SavedModel")
    if set(function.arg_keywords) != set(inputs):
        return _failing(f"the function of signature {key!r} has other inputs than the signature")

    def run(arrays: Arrays) -> dict[str, np.ndarray]:
        found = function(**{name: from_array(array) for name, array in arrays.items()})
        return {name: np.asarray(tensor.numpy()) for name, tensor in found.items()}

    return run


def _failing(reason: str) -> Callable[[Arrays], dict[str, np.ndarray]]:
    def run(arrays: Arrays) -> dict[str, np.ndarray]:
        raise errors.UnimplementedError(None, None, reason)

    return run


def _check_paths(key: str, function: ConcreteFunction) -> None:
    """Raises UnimplementedError if a call of a signature reads or writes files that its inputs name."""
    graph = function.frozen
    node = node_with_path_from(graph, graph.inputs[: len(function.arg_keywords)])
    if node is not None:
        raise errors.UnimplementedError(
            None,
            None,
            f"signature {key!r} is not served: {node.op.name} {node.name!r} reads or writes a file of the "
            "server that the request names. Pass the contents of the file instead.",
        )


# -- metadata --------------------------------------------------------------------------------------


def described(definition: Any) -> dict[str, Any]:
    """A SignatureDef as JSON has it."""
    return {
        "inputs": {k: _described_tensor(v) for k, v in sorted(definition.inputs.items())},
        "outputs": {k: _described_tensor(v) for k, v in sorted(definition.outputs.items())},
        "method_name": definition.method_name,
        "defaults": {},
    }


def _described_tensor(info: Any) -> dict[str, Any]:
    shape = info.tensor_shape
    dims = [{"size": str(d.size), "name": d.name} for d in shape.dim]
    return {
        "dtype": enum_name(info.dtype),
        "tensor_shape": {"dim": dims, "unknown_rank": shape.unknown_rank},
        "name": info.name,
    }


# Where the name in `types.proto` is not that of the dtype in capitals.
_ENUM_NAMES = {dtypes.float32: "DT_FLOAT", dtypes.float64: "DT_DOUBLE", dtypes.float16: "DT_HALF"}


def enum_name(number: int) -> str:
    """The name of a dtype's number in `types.proto`, as the JSON of protocol buffers has it."""
    found = dtypes.BY_NUMBER.get(number)
    return _ENUM_NAMES.get(found, f"DT_{found.name.upper()}") if found else "DT_INVALID"
