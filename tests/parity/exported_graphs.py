"""The graphs whose GraphDefs real TensorFlow has imported and run.

python -m tests.parity.exported_graphs     writes tests/parity/graphs/*.pb
python tests/parity/record_graphs.py       (where TensorFlow is) runs them, writes answers.json
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio import tf
from intaglio.base import dtypes
from intaglio.ir.graph import Graph as FrozenGraph
from intaglio.opdef import raw
from intaglio.runtime import interpreter
from intaglio.trace.graph import record

FOLDER = pathlib.Path(__file__).parent / "graphs"
F = dtypes.float32


def _elementwise(x: Any, y: Any) -> Any:
    return raw.Tanh(raw.AddV2(raw.Mul(x, y), np.float32(0.5)))


def _reduction(x: Any) -> Any:
    centred = raw.Sub(x, raw.Mean(x, np.array([1], np.int32), keep_dims=True))
    return raw.Sum(raw.Square(centred), np.array([0], np.int32))


def _network(x: Any) -> Any:
    kernel = np.linspace(-1, 1, 3 * 3 * 1 * 4, dtype=np.float32).reshape(3, 3, 1, 4)
    y = raw.Conv2D(x, kernel, strides=[1, 1, 1, 1], padding="SAME")
    y = raw.MaxPool(raw.Relu(y), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    return raw.Softmax(raw.Reshape(y, np.array([-1, 16], np.int32)))


def _shapes(x: Any) -> Any:
    parts = raw.Unpack(raw.Transpose(x, np.array([1, 0], np.int32)), num=3, axis=0)
    joined = raw.ConcatV2([parts[2], parts[0]], 0)
    return raw.StridedSlice(raw.Pack([joined, joined], axis=1), [1], [4], [2])


def _strings(x: Any) -> Any:
    return raw.Add(x, raw.StringLower(np.array(b"ABC", object)))


def _call(x: Any, y: Any) -> Any:
    specs = [(F, (None,), "a"), (F, (None,), "b")]
    inner, result = record(lambda a, b: raw.AddV2(raw.Mul(a, a), b), "square_plus", specs)
    callee = inner.freeze("square_plus", inner.inputs, [result])
    return raw.PartitionedCall([x, y], f=callee, Tout=[F])[0]


GRAPHS: dict[str, tuple[Callable[..., Any], list[tuple[Any, Any]], list[Any]]] = {
    "elementwise": (
        _elementwise,
        [(F, (2, None)), (F, (3,))],
        [[[1.0, -2.0, 0.25], [0.5, 3.0, -1.0]], [2.0, 0.5, -1.0]],
    ),
    "reduction": (_reduction, [(F, (None, 3))], [[[1.0, 2.0, 6.0], [-1.0, 0.0, 4.0]]]),
    "network": (
        _network,
        [(F, (None, 4, 4, 1))],
        [np.linspace(-1, 1, 16).reshape(1, 4, 4, 1).tolist()],
    ),
    "shapes": (_shapes, [(dtypes.int32, (2, 3))], [[[1, 2, 3], [4, 5, 6]]]),
    "strings": (_strings, [(dtypes.string, (2,))], [["x", "yz"]]),
    "call": (_call, [(F, (2,)), (F, (2,))], [[1.5, -2.0], [0.25, 4.0]]),
}


def built(name: str) -> tuple[tf.Graph, FrozenGraph]:
    """A graph as it is written, and as it runs here. Its result is named `result`."""
    function, kinds, _ = GRAPHS[name]
    specs = [(dtype, dims, f"input{i}") for i, (dtype, dims) in enumerate(kinds)]
    graph, _ = record(lambda *xs: raw.Identity(function(*xs), name="result"), name, specs)
    return graph, graph.freeze(name, graph.inputs, [graph.get_tensor_by_name("result:0")])


def arrays(name: str) -> list[np.ndarray]:
    """The inputs of a graph."""
    _, kinds, values = GRAPHS[name]
    made = [np.array(v, d.numpy) for (d, _), v in zip(kinds, values, strict=True)]
    return [np.array([s.encode() for s in a], object) if a.dtype == object else a for a in made]


def result(name: str) -> np.ndarray:
    """What the graph gives here."""
    return np.asarray(interpreter.run_graph(built(name)[1], arrays(name))[0])


def main() -> None:
    """Writes the files."""
    for name in GRAPHS:
        proto = built(name)[0].as_graph_def()
        (FOLDER / f"{name}.pb").write_bytes(proto.SerializeToString(deterministic=True))
        print(name, len(proto.node), "nodes")
    inputs = {name: values for name, (_, _, values) in GRAPHS.items()}
    (FOLDER / "inputs.json").write_text(json.dumps(inputs, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
