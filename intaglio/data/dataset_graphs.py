"""Pipelines as graphs: each stage is a node, with its data as constants and its functions in the library.

TensorFlow's `DatasetToGraphV2` gives this form. Libraries look in it for ops, `ShuffleDataset` say.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import int64, resource, variant
from intaglio.data.positions import ELEMENTS, of_elements
from intaglio.data.seeds import SeedGenerator
from intaglio.data.stage import Stage
from intaglio.graphdef import export
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import convert, raw
from intaglio.trace.graph import Graph
from intaglio.trace.variable_creation import nodes_above


def graph_def_of(handle: Any) -> Any:
    """The GraphDef of the pipeline behind a dataset's handle, eager or of a graph.

    Raises TypeError for a stage that has no op, and for data that no constant holds.
    """
    if isinstance(handle, SymbolicTensor):
        return export.graph_def(nodes_above(handle))
    with Graph().as_default() as graph:
        _recorded(handle._array, {})
    proto = export.graph_def(graph.nodes)
    result = proto.node.add(name="dataset", op="_Retval", input=[proto.node[-1].name])
    result.attr["T"].type = variant.as_datatype_enum
    result.attr["index"].i = 0
    return proto


def _recorded(value: Any, known: dict[int, Any]) -> Any:
    """The tensor of an argument in the current graph; a stage or seed generator has one tensor."""
    if isinstance(value, (list, tuple)):
        return [_recorded(v, known) for v in value]
    found = known.get(id(value))
    if found is None and isinstance(value, Stage):
        found = known[id(value)] = _stage(value, known)
    if found is None and isinstance(value, SeedGenerator):
        found = known[id(value)] = _generator(value)
    return convert.to_tensor(value) if found is None else found


def _stage(stage: Stage, known: dict[int, Any]) -> Any:
    if stage.recipe is None:
        raise TypeError(f"The dataset {stage!r} has no op that a graph could name.")
    name, parts = stage.recipe
    if name == ELEMENTS:
        return _elements(parts["elements"])
    op: Any = raw.find(name)
    inputs = {
        arg.name: _recorded(parts[arg.name], known) if arg.name in parts else _unread(arg)
        for arg in op.sig.inputs
    }
    return op(**inputs, **{n: v for n, v in parts.items() if n in op.attr_names})


def _unread(arg: Any) -> Any:
    """An input that no kernel reads, so that the pipeline does not know it: zero."""
    if arg.is_list:
        return []
    kind = int64 if arg.dtype is None or arg.dtype is resource else arg.dtype
    zero = np.zeros((), kind.as_numpy_dtype)
    return raw.Placeholder(dtype=resource) if arg.dtype is resource else convert.to_tensor(zero)


def _elements(elements: Any) -> Any:
    _, columns = of_elements(elements) or (0, [])
    if not columns or not all("alike" in column for column in columns):
        raise TypeError("Elements of several shapes have no constant.")
    arrays = [np.asarray(column["alike"]) for column in columns]
    return raw.TensorSliceDataset(
        [convert.to_tensor(a) for a in arrays], output_shapes=[a.shape[1:] for a in arrays]
    )


def _generator(generator: SeedGenerator) -> Any:
    seed, seed2, *_ = generator.save()
    return raw.AnonymousSeedGenerator(seed, seed2, generator.reshuffle)[0]


__all__ = ["graph_def_of"]
