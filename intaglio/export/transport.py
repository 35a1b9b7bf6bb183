"""What is sent to the process that compiles: graphs as bytes, ops by their names, origins as lines of text."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping, Sequence
from typing import IO, Any, NamedTuple

from intaglio.autodiff.registered import GradientName
from intaglio.base import later
from intaglio.export.interface import Interface
from intaglio.export.signatures import Captured, ExportedFunction
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec


class Request(NamedTuple):
    """What is to be written: functions, and the values that they capture."""

    name: str
    functions: list[ExportedFunction]
    captured: list[Captured]
    # Whether weights go to a file beside the library.
    weights_beside: bool
    # Whether it is to be part of a library for several levels of the processor: then it is bitcode.
    joined: bool = False
    # So many threads of its caller run tasks of a function, at most.
    threads: int = 1


class Answer(NamedTuple):
    """The object file, the file of weights if there is one, and the interface; or why there is none."""

    object: bytes = b""
    weights: bytes = b""
    interface: Interface | None = None
    failure: str = ""
    # The visible functions: what they return, and their parameters, by LLVM's types.
    exported: Mapping[str, tuple[str, list[str]]] = {}

    @property
    def library_interface(self) -> Interface:
        """The interface. Raises ValueError, with the failure, if there is no library."""
        if self.interface is None:
            raise ValueError(self.failure or "an answer without a library")
        return self.interface


class Levels(NamedTuple):
    """The libraries, by target, that one library for the target of this name is made of."""

    name: str
    answers: dict[str, Answer]


class _Pickler(pickle.Pickler):
    """Writes graphs without what only the process that traced them has."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Op):
            return _op, (obj.name, type(obj).__module__)
        if isinstance(obj, GradientName):  # a function of this process; the code is its result's
            return str, (str.__str__(obj),)
        if isinstance(obj, Graph):  # nodes first: each then refers to earlier ones
            return _graph, (obj.nodes, obj.inputs, obj.outputs, obj.name)
        if isinstance(obj, SymbolicTensor):
            return _output, (obj.node, obj.index)
        if isinstance(obj, Spec):
            return Spec, (obj.dtype, obj.shape, obj.value, obj.partial)
        if isinstance(obj, Node):
            return _node, (
                (obj.op, obj.inputs, obj.attrs, obj.name),
                [v.spec for v in obj.outputs],
                obj.control,
                _where(obj),
            )
        return NotImplemented


def _op(name: str, module: str) -> Op | None:
    """The op; its layer, such as that of datasets, is imported if this process has not needed it yet."""
    if not raw.is_declared(name):
        later.named(module)
    return raw.find(name)


def _where(node: Node) -> str:
    """`model.py:12`, or nothing."""
    frames = node.frames
    return frames[0].short if frames else ""


def _graph(nodes: Any, inputs: Any, outputs: Any, name: str) -> Graph:
    return Graph(name, inputs, nodes, outputs)


def _output(node: Node, index: int) -> SymbolicTensor:
    return node.outputs[index]


# The user's lines of the nodes that were read, by identity; they live as long as the process.
_LINES: dict[int, tuple[Node, str]] = {}


def _node(
    what: tuple[Op, Sequence[SymbolicTensor], dict[str, Any], str],
    specs: Sequence[Spec],
    control: tuple[Node, ...],
    line: str,
) -> Node:
    op, inputs, attrs, name = what
    # Without its device: what runs the code has one.
    node = Node(op, inputs, attrs, name, specs, control=control)
    _LINES[id(node)] = (node, line)
    return node


def line_of(node: Node) -> str:
    """The user's line that a node, or the one that it comes from, was created at; or nothing."""
    source: Node | None = node
    while source is not None:
        found = _LINES.get(id(source))
        if found is not None:
            return found[1]
        source = source.source
    return ""


def written(value: Any) -> bytes:
    """The bytes of a structure with graphs. Raises PicklingError or TypeError for what has no form."""
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def read(data: bytes) -> Any:
    """The structure that `written` was given, in another process of this package."""
    return pickle.loads(data)


def send(stream: IO[bytes], data: bytes) -> None:
    """Writes one message: its length, then its bytes."""
    stream.write(len(data).to_bytes(8, "little") + data)
    stream.flush()


def received(stream: IO[bytes]) -> bytes | None:
    """One message; None at the end of the stream, also in the midst of one."""
    length = int.from_bytes(stream.read(8), "little")
    data = stream.read(length) if length else b""
    return data if length and len(data) == length else None
