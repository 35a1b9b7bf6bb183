"""Positions and pipelines as bytes, and back.

A position is a plain value: numbers, texts, lists, arrays. A pipeline is the tree of the ops
that built it, each with its kernel's arguments; functions are written as GraphDefs. Bytes are
read without running anything in them, except the ops of a pipeline.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.data.positions import ELEMENTS, dataset_of, elements_of, of_elements
from intaglio.data.seeds import SeedGenerator
from intaglio.data.stage import Stage
from intaglio.graphdef import messages, structured
from intaglio.graphdef.declarations import parsed
from intaglio.graphdef.export import Library
from intaglio.graphdef.load import Functions
from intaglio.graphdef.saved_messages import StructuredValue
from intaglio.ir import text, walk
from intaglio.ir.graph import Graph
from intaglio.opdef import raw
from intaglio.ops.control_flow.python_call import Token
from intaglio.ops.control_flow.variants import Variants, VariantTensor
from intaglio.ops.ragged.variant import EncodedRagged


def to_bytes(value: Any) -> bytes:
    """A position, a pipeline, or a list of such. Raises TypeError for what has no such form."""
    plain = _ElementWriter().plain(value)
    return structured.encode(plain).SerializeToString(deterministic=True)


def from_bytes(data: bytes) -> Any:
    """What `to_bytes` wrote. Raises MalformedError for other bytes."""
    return _read(structured.decode(parsed(StructuredValue, data, "a position")))


def fingerprint(stage: Stage) -> int:
    """A number that pipelines of the same ops, data and functions have in common."""
    plain = _ElementWriter(_as_text).plain(stage)
    data = structured.encode(plain).SerializeToString(deterministic=True)
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "little")


def _as_text(graph: Graph) -> Any:
    """A function without the names that differ from one tracing to the next."""
    return re.sub(r"__inference_\w+", "function", text.format_graph(graph))


def _as_graph_def(graph: Graph) -> Any:
    for node in (n for g in [graph, *walk.nested(graph)] for n in g.nodes):
        if "token" in node.attrs:
            raise TypeError(
                f"A dataset whose functions call Python ({node.op.name}) cannot be pickled: "
                "leave out tf.py_function, tf.numpy_function and generators."
            )
    library = messages.GraphDef().library
    name = Library(library).name_of(graph)
    return [name, _text_array(library.SerializeToString())]


def _text_array(data: bytes) -> np.ndarray:
    array = np.empty((), object)
    array[()] = data
    return array


class _ElementWriter:
    """Values as structures that have a written form: a tag, and what it needs."""

    def __init__(self, function: Callable[[Graph], Any] = _as_graph_def) -> None:
        self._function = function

    def plain(self, value: Any) -> Any:
        """The structure for a value."""
        if value is None or type(value) in (bool, int, float):
            return value
        if isinstance(value, Token):
            if self._function is _as_graph_def:
                raise TypeError("A dataset of a Python generator cannot be pickled.")
            return {"token": ""}
        if isinstance(value, str):
            return {"text": value}
        if isinstance(value, bytes):
            return {"bytes": _text_array(value)}
        if isinstance(value, (list, tuple)):
            tag = "list" if isinstance(value, list) else "tuple"
            return {tag: [self.plain(v) for v in value]}
        if isinstance(value, dict):
            keys = [self.plain(k) for k in value]
            return {"keys": keys, "values": [self.plain(v) for v in value.values()]}
        if isinstance(value, DType):
            return {"dtype": value}
        if isinstance(value, np.generic):
            return {"scalar": np.asarray(value)}
        if isinstance(value, np.ndarray):
            return {"array": value}
        return self._object(value)

    def _object(self, value: Any) -> Any:
        if isinstance(value, Stage):
            if value.recipe is None:
                raise TypeError(f"The dataset {value!r} cannot be saved.")
            name, parts = value.recipe
            if name == ELEMENTS:
                return {"held": self.plain(of_elements(parts["elements"]))}
            return {"op": name, "parts": self.plain(parts)}
        if isinstance(value, SeedGenerator):
            return {"seeds": [self.plain(value.save()), value.reshuffle]}
        if isinstance(value, EncodedRagged):
            return {"ragged": self.plain([*value.splits, value.values])}
        if isinstance(value, VariantTensor):
            return {"held tensor": self.plain(value.array)}
        if isinstance(value, Variants):
            return {"variants": self.plain([value.shape, value.items])}
        if isinstance(value, Graph):
            return {"graph": self._function(value)}
        raise TypeError(
            f"A dataset that refers to a {type(value).__name__} (a variable, a table, an "
            "iterator) cannot be pickled: take the value before."
        )


def _read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((tag, content), *_) = value.items()
    if "op" in value:
        return _stage(value["op"], _read(value["parts"]))
    if "keys" in value:
        pairs = zip(value["keys"], value["values"], strict=True)
        return {_read(k): _read(v) for k, v in pairs}
    return _READ[tag](content)


def _stage(name: str, parts: dict[str, Any]) -> Stage:
    op = raw.find(name)
    if op is None or op.kernel_fn is None:
        raise ValueError(f"there is no op named {name}")
    return op.kernel_fn(*[parts[n] for n in op.rules["kernel"].takes])


def _seeds(content: Any) -> SeedGenerator:
    position, reshuffle = content
    position = _read(position)
    generator = SeedGenerator(position[0], position[1], reshuffle)
    generator.restore(position)
    return generator


def _graph(content: Any) -> Graph:
    name, data = content
    library = parsed(messages.FunctionDefLibrary, data.item(), "a dataset's functions")
    return Functions(library).graph(name)


def _ragged(content: Any) -> EncodedRagged:
    *splits, values = _read(content)
    return EncodedRagged(splits, values)


def _variants(content: Any) -> Variants:
    shape, items = _read(content)
    return Variants(items, shape)


_READ: dict[str, Callable[[Any], Any]] = {
    "text": str,
    "bytes": lambda c: c.item(),
    "list": lambda c: [_read(v) for v in c],
    "tuple": lambda c: tuple([_read(v) for v in c]),
    "dtype": lambda c: c,
    "scalar": lambda c: c[()],
    "array": lambda c: c,
    "held": lambda c: dataset_of(elements_of(_read(c))),
    "seeds": _seeds,
    "ragged": _ragged,
    "held tensor": lambda c: VariantTensor(_read(c)),
    "variants": _variants,
    "graph": _graph,
}
