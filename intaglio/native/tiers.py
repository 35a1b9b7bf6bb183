"""Functions that nobody asked to compile: loops that take long become native code, in the background.

Only where nobody can tell but by the time: every op of the graph must give the same bits natively
as interpreted, so that results do not depend on when the code was ready. What the interpreter has
spent on a graph says whether that is worth it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from intaglio.base import later
from intaglio.base.log import logger
from intaglio.ir import walk
from intaglio.ir.graph import Graph

Run = Callable[..., tuple[Any, ...]]
# Seconds in the interpreter after which a graph is compiled: about what that takes.
PATIENCE = 0.03
LOOPS = frozenset(["While", "StatelessWhile"])
# Ops whose native code gives the same bits as their kernels.
EXACT = LOOPS | frozenset(
    ["Placeholder", "Const", "Identity", "IdentityN", "NoOp", "If", "StatelessIf", "Case",
     "StatelessCase", "PartitionedCall", "StatefulPartitionedCall",
     "Add", "AddV2", "Sub", "Mul", "RealDiv", "Neg", "Abs", "Sign", "Square", "Sqrt", "Floor",
     "Ceil", "Rint", "Maximum", "Minimum", "Relu", "Less", "LessEqual", "Greater",
     "GreaterEqual", "Equal", "NotEqual", "LogicalAnd", "LogicalOr", "LogicalNot", "Select",
     "SelectV2", "Cast", "FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "BitwiseAnd",
     "BitwiseOr", "BitwiseXor", "Invert", "ZerosLike", "OnesLike",
     "Reshape", "Transpose", "ExpandDims", "Squeeze", "StridedSlice", "Slice", "Pack",
     "Unpack", "ConcatV2", "Split", "ReverseV2", "Tile", "BroadcastTo", "Fill", "GatherV2",
     "Shape", "Size", "Rank", "ReadVariableOp", "_ReadVariablesOp", "AssignVariableOp",
     "AssignAddVariableOp", "AssignSubVariableOp", "All", "Any", "EmptyTensorList",
     "TensorListReserve", "TensorListSetItem", "TensorListGetItem", "TensorListPushBack",
     "TensorListPopBack", "TensorListStack", "TensorListLength", "TensorListFromTensor"]
)  # fmt: skip


def tiered(graph: Graph, run: Run) -> Run:
    """The interpreted graph, or what becomes native code once it has taken long."""
    graphs = [*walk.nested(graph), graph]
    names = {n.op.name for g in graphs for n in g.nodes}
    return Tiered(graph, run) if names & LOOPS and names <= EXACT else run


class Tiered:
    """A graph as a function: interpreted, later native."""

    def __init__(self, graph: Graph, run: Run) -> None:
        self.run = run
        self.compiling: threading.Thread | None = None
        self._graph = graph
        self._left = PATIENCE

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        if self.compiling is not None:
            return self.run(*arrays)
        start = time.perf_counter()
        made = self.run(*arrays)
        self._left -= time.perf_counter() - start
        if self._left < 0:
            self._compile()
        return made

    def _compile(self) -> None:
        # Not a daemon: a process must not end in the middle of LLVM.
        self.compiling = threading.Thread(target=self._compiled, name="native-compiler")
        self.compiling.start()

    def _compiled(self) -> None:
        try:
            whole = later.named("intaglio.native.pipeline:whole")(self._graph)
        except ImportError:  # there is no compiler
            return
        except Exception:
            logger().debug("%s stays interpreted", self._graph.name, exc_info=True)
            return
        if whole is not None:
            self.run = whole
