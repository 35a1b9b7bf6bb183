"""The recorder: the level that records ops into a graph instead of executing them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from intaglio.base.devices import merged_devices
from intaglio.base.dtypes import DType
from intaglio.base.errors import ShapeError
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.door import IMPLIED, Level
from intaglio.opdef.op import Op
from intaglio.opdef.tensor import Tensor
from intaglio.trace import large_constants
from intaglio.trace.static_values import StaticValues


class Recorder(Level):
    """Records into `graph`; keeps the current name scope, device and control inputs."""

    eager = False

    def __init__(self, graph: Any) -> None:
        super().__init__()
        self.graph = graph
        self._static_values = StaticValues()
        self.scope = ""
        self.control: tuple[Node, ...] = ()
        self._controlled: set[int] = set()  # nodes that wait for `control` already
        self.device = ""
        self.colocated: tuple[str, ...] = ()  # `loc:@name` of what nodes are placed with
        self.overrides: dict[str, str] = {}  # op type -> name of a registered gradient

    def execute(
        self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None
    ) -> Sequence[Tensor]:
        graph = self.graph
        # Names of nodes begin with a letter; those of ops that passes alone make do not.
        full = self.node_name(name or op.name.lstrip("_")) if name is not IMPLIED else ""
        values: list[SymbolicTensor] = []
        for t in inputs:
            if type(t) is SymbolicTensor and t.node.graph is graph:
                if full and not t.node.name:
                    graph.name_after(t.node, self._argument_name(full, op, len(values)))
                values.append(t)
            else:
                values.append(graph.capture(t, self._argument_name(full, op, len(values))))
        if self.overrides and op.name in self.overrides:
            attrs = {**attrs, "_gradient_op_type": self.overrides[op.name]}
        if self.colocated:
            attrs = {**attrs, "_class": self.colocated}
        try:
            specs = op.output_specs([v.spec for v in values], attrs)
            if any([s.shape is None or None in s.shape for s in specs]):
                known = self._static_values.specs_with(values)
                specs = specs if known is None else op.output_specs(known, attrs)
        except ShapeError as e:
            raise ValueError(describe_failure(str(e), op, full, values, attrs)) from None
        node = graph.add(
            op,
            values,
            attrs,
            full,
            specs,
            control=self._waits_for(values) if self.control else (),
            device=self.device,
            skip=4,
        )
        if self.control:
            self._controlled.add(id(node))
        if op.stateful:
            graph.note_effects(node)
        if graph.observe_code is not None:
            graph.observe_code(node)
        return node.outputs

    def _waits_for(self, values: Sequence[SymbolicTensor]) -> tuple[Node, ...]:
        """The current control inputs, unless an input waits for them already."""
        if any(id(v.node) in self._controlled for v in values):
            return ()
        return self.control

    def _argument_name(self, full: str, op: Op, index: int) -> str:
        """The name of a constant or captured value, derived from the op that takes it."""
        if not full:  # the op has no name itself yet
            return ""
        names = op.node_inputs
        if not op.has_lists:
            return f"{self.graph.unique_name(full, mark_as_used=False)}/{names[index]}"
        at = min(index, len(names) - 1)
        position = f"_{index - at}" if op.sig.inputs[at].is_list else ""
        base = self.graph.unique_name(full, mark_as_used=False)
        return f"{base}/{names[at]}{position}"

    def constant(self, array: Any, name: str | None = None) -> Tensor:
        array = large_constants.shared(array)
        spec = self.graph.spec_of_constant(array)
        attrs = {"value": array, "dtype": spec.dtype}
        if self.colocated:
            attrs["_class"] = self.colocated
        # A constant that Python wrote into an expression gets its name from the op that takes it.
        full = self.node_name(name) if name else ""
        node = self.graph.add(
            raw.Const, (), attrs, full, [spec], control=self.control, device=self.device, skip=4
        )
        if self.control:
            self._controlled.add(id(node))
        return node.outputs[0]

    def finish(self, op: Op, outputs: Sequence[Tensor]) -> Any:
        return self.graph.nodes[-1]

    def node_name(self, name: str) -> str:
        """The name inside the scope; with a trailing slash it is complete already."""
        return name if name.endswith("/") else f"{self.scope}{name}"

    @contextmanager
    def scoped(self, name: str | None) -> Generator[str]:
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

    @contextmanager
    def after(self, nodes: Sequence[Node] | None) -> Generator[None]:
        """Nodes of the block run after `nodes`; None forgets the current ones."""
        outer, self._controlled = (self.control, self._controlled), set()
        self.control = () if nodes is None else tuple(dict.fromkeys([*outer[0], *nodes]))
        try:
            yield
        finally:
            self.control, self._controlled = outer

    @contextmanager
    def on(self, device: str | None) -> Generator[None]:
        """Nodes of the block carry this device; what it leaves open is the outer one's.

        None forgets the current device.
        """
        outer = self.device
        self.device = "" if device is None else merged_devices(outer, device)
        try:
            yield
        finally:
            self.device = outer

    @contextmanager
    def beside(self, groups: tuple[str, ...], alone: bool) -> Generator[None]:
        """Nodes of the block are placed with these, and with the current ones unless `alone`."""
        outer = self.colocated
        self.colocated = () if not groups else groups if alone else (*outer, *groups)
        try:
            yield
        finally:
            self.colocated = outer

    @contextmanager
    def overriding(self, gradients: dict[str, str]) -> Generator[None]:
        """Nodes of the block of these op types have other gradients, by their names."""
        outer = self.overrides
        self.overrides = {**outer, **gradients}
        try:
            yield
        finally:
            self.overrides = outer


def describe_failure(
    message: str, op: Op, name: str, inputs: Sequence[SymbolicTensor], attrs: dict[str, Any]
) -> str:
    """An inference error, with TensorFlow's description of the node and the shapes appended."""
    known: dict[str, Any] = {**attrs, **op.types_of(inputs, attrs)}
    shown = ", ".join([f"{k}={text}" for k in sorted(known) if (text := _attribute_text(known[k]))])
    names = ", ".join([v.name.removesuffix(":0") for v in inputs])
    dims = ", ".join(
        [
            "[" + ",".join(["?" if d is None else str(d) for d in v.dims]) + "]"
            if v.dims is not None
            else "<unknown>"
            for v in inputs
        ]
    )
    return f"{message} for '{{{{node {name}}}}} = {op.name}[{shown}]({names})' with input shapes: {dims}."


_ENUM_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}


def _attribute_text(value: Any) -> str:
    """An attribute as node summaries print it; nothing for kinds that are left out."""
    if isinstance(value, DType):
        return f"DT_{_ENUM_NAMES.get(value.name, value.name.upper())}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, tuple):
        return f"[{', '.join([_attribute_text(v) for v in value])}]"
    return ""


__all__ = ["Recorder", "describe_failure"]
