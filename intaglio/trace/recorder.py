"""The level that records ops into a graph instead of computing them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from intaglio.base.errors import ShapeError
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.op import door, raw
from intaglio.op.door import Level
from intaglio.op.op import Op
from intaglio.op.spec import Spec
from intaglio.op.tensor import Tensor


class Recorder(Level):
    """Records into `graph`; keeps the name scope, device and control inputs in force."""

    eager = False

    def __init__(self, graph: Any) -> None:
        super().__init__()
        self.graph = graph
        self.scope = ""
        self.control: tuple[Node, ...] = ()
        self.device = ""

    def execute(
        self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None
    ) -> Sequence[Tensor]:
        graph = self.graph
        values: list[SymbolicTensor] = [
            t
            if type(t) is SymbolicTensor and t.node.graph is graph
            else graph.capture(t)
            for t in inputs
        ]
        full = self.node_name(name or op.name)
        try:
            specs = op.output_specs([v.spec for v in values], attrs)
        except ShapeError as e:
            raise ValueError(describe_failure(str(e), op, full, values)) from None
        node = graph.add(
            op,
            values,
            attrs,
            full,
            specs,
            control=self.control,
            device=self.device,
            skip=4,
        )
        graph.note_effects(node)
        return node.outputs

    def constant(self, array: Any, name: str | None = None) -> Tensor:
        spec = self.graph.spec_of_constant(array)
        full = self.node_name(name or "Const")
        attrs = {"value": array, "dtype": spec.dtype}
        return self.graph.add(
            raw.Const, (), attrs, full, [spec], control=self.control, skip=4
        ).outputs[0]

    def finish(self, op: Op, outputs: Sequence[Tensor]) -> Any:
        return self.graph.nodes[-1]

    def node_name(self, name: str) -> str:
        """The name inside the scope; a trailing slash means it is complete already."""
        if name.endswith("/"):
            return name[:-1]
        return f"{self.scope}{name}"

    @contextmanager
    def scoped(self, name: str) -> Any:
        """Node names begin with `name/` while the block runs; yields the scope with its slash."""
        outer = self.scope
        if not name:
            self.scope = ""
        elif name.endswith("/"):
            self.scope = name
        else:
            self.scope = self.graph.unique_name(f"{outer}{name}") + "/"
        try:
            yield self.scope
        finally:
            self.scope = outer


def describe_failure(
    message: str, op: Op, name: str, inputs: Sequence[SymbolicTensor]
) -> str:
    """An inference error with TensorFlow's node and shapes behind it."""
    types = (
        {k: v for k, v in op.types_of(inputs, {}).items()} if not op.has_lists else {}
    )
    attrs = ", ".join(
        f"{k}=DT_{v.name.upper()}" for k, v in types.items() if hasattr(v, "name")
    )
    names = ", ".join(v.name.removesuffix(":0") for v in inputs)
    shown = ", ".join(
        "[" + ",".join("?" if d is None else str(d) for d in v.dims) + "]"
        if v.dims is not None
        else "<unknown>"
        for v in inputs
    )
    return f"{message} for '{{{{node {name}}}}} = {op.name}[{attrs}]({names})' with input shapes: {shown}."


def constant_spec(array: Any, dtype: Any) -> Spec:
    """The spec of a constant."""
    return Spec(dtype, array.shape, array)


__all__ = ["Recorder", "describe_failure", "door"]
