"""The stages of a function ahead of time: `f.trace(spec).optimize().compile()`.

A stage is a graph with the arrays that it captures. It is printed as text, has a cost, runs on tensors,
and is pickled as its text, so that another process goes on with it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.hooks import ShownInNotebooks
from intaglio.function import pipeline
from intaglio.function.concrete import ConcreteFunction
from intaglio.insight.costs import Cost, cost_of
from intaglio.ir import text
from intaglio.ir.graph import Graph
from intaglio.opdef import convert
from intaglio.optimize.pipeline import optimize
from intaglio.runtime import interpreter
from intaglio.runtime.eager import from_array

TRACED, OPTIMIZED, COMPILED = "traced", "optimized", "compiled"


class Stage(ShownInNotebooks):
    """A graph on its way to machine code: `state` is `"traced"`, `"optimized"` or `"compiled"`.

    Called with tensors for the graph's inputs, in order, it returns its results: the structure that the function
    returns, a list of tensors once it has been pickled.
    """

    def __init__(
        self, state: str, graph: Graph, captures: Sequence[Any], pack: Callable[..., Any] = list
    ) -> None:
        self.state = state
        self._graph = graph
        self._captures = tuple(captures)
        self._pack = pack

    @property
    def name(self) -> str:
        """The name of the graph."""
        return self._graph.name

    def optimize(self) -> Stage:
        """The next stage: the graph after the passes of the optimizer. Raises ValueError for later stages."""
        if self.state != TRACED:
            raise ValueError(f"{self.name} is {self.state} already; optimize() follows trace()")
        return Stage(OPTIMIZED, optimize(self._graph), self._captures, self._pack)

    def compile(self) -> Stage:
        """The last stage: the graph as machine code, as far as its ops have any."""
        stage = Stage(COMPILED, self._graph, self._captures, self._pack)
        stage._run  # noqa: B018 - compiled now, and not at the first call
        return stage

    @functools.cached_property
    def _run(self) -> Callable[..., tuple[Any, ...]]:
        make = pipeline.compiled if self.state == COMPILED else interpreter.compiled
        return make(self._graph)

    def cost(self) -> Cost:
        """Multiplications and additions, bytes moved and bytes needed at once: see `Cost`."""
        return cost_of(self._graph)

    def compile_report(self) -> str:
        """What of the graph is machine code, step by step; of a compiled stage."""
        if self.state != COMPILED:
            raise ValueError(f"{self.name} is {self.state}: compile() comes first")
        return pipeline.report(self._graph, True, self._run)

    def __call__(self, *tensors: Any) -> Any:
        inputs = self._graph.inputs[: len(self._graph.inputs) - len(self._captures)]
        if len(tensors) != len(inputs):
            raise TypeError(f"{self.name} takes {len(inputs)} tensors, not {len(tensors)}")
        arrays = [convert.to_array(t, v.dtype) for t, v in zip(tensors, inputs, strict=True)]
        for array, value in zip(arrays, inputs, strict=True):
            if not value.shape.is_compatible_with(array.shape):
                raise ValueError(
                    f"{self.name}: {value.node.name} has shape {value.shape}, not {array.shape}"
                )
        return self._pack([from_array(a) for a in self._run(*arrays, *self._captures)])

    def __str__(self) -> str:
        return f"# {self.state}\n{text.format_graph(self._graph, user_lines=True)}"

    __repr__ = __str__

    def __reduce__(self) -> Any:
        if not all([isinstance(c, np.ndarray | np.generic) for c in self._captures]):
            raise TypeError(
                f"{self.name} captures variables, which no text holds: pass their values as arguments, or save "
                "the object that has them with tf.saved_model.save"
            )
        return _unpickled, (self.state, text.format_graph(self._graph, True), self._captures)


def _unpickled(state: str, source: str, captures: Sequence[Any]) -> Stage:
    return Stage(state, text.parse(source), captures)


def stage_of(concrete: ConcreteFunction) -> Stage:
    """The first stage of a trace."""
    return Stage(TRACED, concrete.frozen, concrete.capture_arrays, concrete.pack)


__all__ = ["Stage", "stage_of"]
