"""Runs graphs of elementwise ops natively: a loop nest is compiled for each way to broadcast.

Shapes are arguments of the code. What is compiled depends only on the pattern in which the
operands advance, so a trace with unknown dimensions has one kernel for all of them.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.ir.graph import Graph
from intaglio.native import entry, llvm
from intaglio.native.code import module
from intaglio.native.loops import LoopNest, Pattern
from intaglio.runtime import interpreter

Kernel = Callable[..., Any]
# Shapes that a kernel remembers how to run; when there are more it begins anew.
REMEMBERED = 256


def arranged(shapes: Sequence[tuple[int, ...]]) -> tuple[Pattern, tuple[int, ...]]:
    """The loops over the broadcast shapes: neighbouring dims that behave alike are one loop."""
    whole = np.broadcast_shapes(*shapes)
    rank = len(whole)
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    lengths: list[int] = []
    moves: list[tuple[bool, ...]] = []
    for d, length in enumerate(whole):
        if length == 1:
            continue
        advancing = tuple([s[d] == length for s in padded])
        if moves and moves[-1] == advancing:
            lengths[-1] *= length
        else:
            lengths.append(length)
            moves.append(advancing)
    if not lengths:
        lengths, moves = [1], [(False,) * len(shapes)]
    return Pattern(len(lengths), tuple(zip(*moves, strict=True))), tuple(lengths)


class FusedKernel:
    """A graph of elementwise ops as a function from arrays to arrays."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._results = [v.dtype.numpy for v in graph.outputs]
        self._runs: dict[Any, Callable[..., list[Any]]] = {}
        self._kernels: dict[tuple[Pattern, bool], Any] = {}
        self._lock = threading.Lock()

    def __call__(self, *arrays: Any) -> list[Any]:
        """The outputs for these inputs: arrays or NumPy scalars of the graph's dtypes."""
        key = tuple([a.shape for a in arrays])
        run = self._runs.get(key)
        if run is None:
            run = self._run_for(key)
        return run(*arrays)

    def _run_for(self, shapes: tuple[tuple[int, ...], ...]) -> Callable[..., list[Any]]:
        try:
            whole = np.broadcast_shapes(*shapes)
        except ValueError:  # the kernels of the ops say what does not fit
            return lambda *arrays: interpreter.run_graph(self._graph, arrays)
        pattern, dims = arranged(shapes)
        large = int(np.prod(dims)) >= entry.LARGE
        with self._lock:
            made = self._kernels.get((pattern, large))
            if made is None:
                made = self._compiled(pattern, large)
                self._kernels[pattern, large] = made
            run = self._runner(made, whole, dims)
            if len(self._runs) >= REMEMBERED:
                self._runs.clear()
            self._runs[shapes] = run
        return run

    def _compiled(self, pattern: Pattern, large: bool) -> Any:
        nest = LoopNest(self._graph, pattern, "kernel")
        made = llvm.module(module([nest.write()]))
        if not entry.AVAILABLE:
            return made
        counts = len(self._graph.inputs), len(self._graph.outputs)
        return entry.Entry(made, "kernel", *counts, unit=nest.unit if large else 0)

    def _runner(
        self, made: Any, whole: tuple[int, ...], dims: tuple[int, ...]
    ) -> Callable[..., list[Any]]:
        if isinstance(made, entry.Entry):
            return _by_entry(made, whole, dims, self._results)
        return _by_ctypes(made, whole, dims, self._results)


def _by_entry(
    made: entry.Entry, whole: tuple[int, ...], dims: tuple[int, ...], dtypes: list[Any]
) -> Callable[..., list[Any]]:
    kernel = made.for_dims(dims)
    run = entry.filling_all(kernel, [(whole, dtype) for dtype in dtypes])
    run.keep = made  # type: ignore[attr-defined]  # the kernel must not outlive its entry
    return run


def _by_ctypes(
    made: llvm.Module, whole: tuple[int, ...], dims: tuple[int, ...], dtypes: list[Any]
) -> Callable[..., list[Any]]:
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    kernel = made.function("kernel", pointer, pointer, pointer, number, number)
    lengths = (number * len(dims))(*dims)

    def run(*arrays: Any) -> list[Any]:
        outputs = [np.empty(whole, dtype) for dtype in dtypes]
        ordered = [np.ascontiguousarray(a) for a in arrays]
        ins = (pointer * len(ordered))(*[a.ctypes.data for a in ordered])
        outs = (pointer * len(outputs))(*[a.ctypes.data for a in outputs])
        kernel(ins, outs, lengths, 0, dims[0])
        return outputs

    run.keep = made  # type: ignore[attr-defined]  # kept alive with the function
    return run
