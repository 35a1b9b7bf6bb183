"""Compiles graphs of elementwise ops to loop nests, one for each pattern of broadcasting.

Lengths are arguments of the code. It depends only on the loops in which each operand advances, so a
trace with unknown dimensions has one kernel for all of them.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, from_numpy
from intaglio.base.errors import InternalError
from intaglio.base.locks import lasting_lock
from intaglio.base.shapes import Dims
from intaglio.ir.graph import Graph, Node
from intaglio.native.kernels.loop_nest import MAX_UNROLLED_ITERATIONS, LoopNest, Pattern, numbers_of
from intaglio.native.kernels.reroll import form
from intaglio.native.kernels.trials import tried
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import module
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.runtime import entry
from intaglio.native.runtime.buffers import allocator
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec
from intaglio.runtime import interpreter

Kernel = Callable[..., Any]
# Shapes whose loops a kernel has cached; the cache is cleared when full.
MAX_CACHED_SHAPES = 256
# The length that is assumed for an unknown dim before the first call.
UNKNOWN_DIM_ESTIMATE = 64
# Compiled modules, by the form of the graph, the strides of the operands, and whether threads
# divide the loops.
_compiled: dict[Any, Any] = {}


def canonical_axes(shapes: Sequence[tuple[int, ...]]) -> tuple[Pattern, tuple[int, ...]]:
    """The loops over the broadcast shapes: adjacent dims in which the same operands advance are one
    loop."""
    pattern, lengths, _ = strided_axes(shapes, [None] * len(shapes))
    innermost = lengths[-1]
    short = pattern.rank > 1 and innermost <= MAX_UNROLLED_ITERATIONS
    return pattern._replace(unrolled=innermost if short else 0), lengths


def strided_axes(
    shapes: Sequence[tuple[int, ...]], strides: Sequence[Sequence[int] | None]
) -> tuple[Pattern, tuple[int, ...], list[int]]:
    """`canonical_axes` of operands of which some have strides, in elements; and the strides in the
    loops.

    The innermost stride of an operand may be any number.
    """
    whole = np.broadcast_shapes(*shapes)
    rank = len(whole)
    steps: list[list[int]] = []
    for shape, explicit in zip([*shapes, whole], [*strides, None], strict=True):
        own = row_major_strides(shape) if explicit is None else explicit
        own = [0 if n == 1 else s for n, s in zip(shape, own, strict=True)]
        steps.append([0] * (rank - len(shape)) + own)
    lengths, loops = list[int](), list[tuple[int, ...]]()
    for d, length in enumerate(whole):
        if length == 1:
            continue
        here = tuple([s[d] for s in steps])
        if loops and loops[-1] == tuple([s * length for s in here]):
            lengths[-1], loops[-1] = lengths[-1] * length, here
        else:
            lengths.append(length)
            loops.append(here)
    if not lengths:
        lengths, loops = [1], [(0,) * len(steps)]
    columns = list(zip(*loops, strict=True))[:-1]
    strided = tuple([i for i, explicit in enumerate(strides) if explicit is not None])
    moves = tuple([tuple([s != 0 for s in column]) for column in columns])
    pattern = Pattern(len(lengths), moves, 0, strided)
    return pattern, tuple(lengths), [s for i in strided for s in columns[i]]


def row_major_strides(shape: Sequence[int]) -> list[int]:
    """The strides, in elements, of an array in row-major order."""
    return [math.prod(shape[d + 1 :]) for d in range(len(shape))]


class FusedKernel:
    """A graph of elementwise ops as a function from arrays to arrays."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        # Constants are arguments of the code, so that graphs that differ only in them share it.
        self._numbers = [np.asarray(n) for n in numbers_of(graph)]
        self._form = form(graph, self._numbers)
        self._results = [v.dtype.numpy for v in graph.outputs]
        self._runs: dict[Any, Callable[..., list[Any]]] = {}
        self._kernels: dict[tuple[Pattern, bool], Any] = {}
        # The module of each pattern, and the elements that a thread takes at a time.
        self._modules: dict[Pattern, tuple[jit.Module, int]] = {}
        self._lock = lasting_lock()

    def __call__(self, *arrays: Any) -> list[Any]:
        """The outputs for these inputs: arrays or NumPy scalars of the graph's dtypes."""
        key = tuple([a.shape for a in arrays])
        run = self._runs.get(key)
        if run is None:
            run = self._run_for(key)
        return run(*arrays)

    def prepare(self, shapes: Sequence[Dims]) -> None:
        """Compiles the kernel for inputs of these shapes, whose unknown dims are assumed to be
        long."""
        known = [
            tuple([UNKNOWN_DIM_ESTIMATE if n is None else n for n in d])
            for d in shapes
            if d is not None
        ]
        if len(known) < len(shapes):
            return
        try:
            pattern, dims = canonical_axes(known)
        except ValueError:  # a call raises the error
            return
        with self._lock:
            self._kernel(pattern, dims)

    def _run_for(self, shapes: tuple[tuple[int, ...], ...]) -> Callable[..., list[Any]]:
        try:
            whole = np.broadcast_shapes(*shapes)
        except ValueError:  # the kernels of the ops raise the error
            return lambda *arrays: interpreter.run_graph(self._graph, arrays)
        pattern, dims = canonical_axes(shapes)
        with self._lock:
            kernel = self._kernel(pattern, dims)
            run = self._runner(kernel, whole, dims)
            if len(self._runs) >= MAX_CACHED_SHAPES:
                self._runs.clear()
            self._runs[shapes] = run
        return run

    def _kernel(self, pattern: Pattern, dims: tuple[int, ...]) -> Any:
        large = int(np.prod(dims)) >= entry.MIN_PARALLEL_ELEMENTS
        kernel = self._kernels.get((pattern, large))
        if kernel is None:
            kernel = self._compiled(pattern, large)
            self._kernels[pattern, large] = kernel
        return kernel

    def _compiled(self, pattern: Pattern, large: bool) -> Any:
        key = self._form, pattern, large
        found = _compiled.get(key) if self._form is not None else None
        if found is not None:
            return found
        if pattern not in self._modules:
            nest = LoopNest(self._graph, pattern, "kernel", self._numbers)
            self._modules[pattern] = jit.module(module([nest.write()])), nest.unit
        code, unit = self._modules[pattern]
        compiled: Any = code
        if entry.AVAILABLE:
            inputs = len(self._graph.inputs) + len(self._numbers)
            counts = inputs, len(self._graph.outputs)
            types = [v.dtype.numpy for v in self._graph.inputs]
            types += [n.dtype for n in self._numbers] + self._results
            unit = unit if large else 0
            compiled = entry.Entry(code, "kernel", *counts, dtypes=types, unit=unit)
        if self._form is not None:
            if len(_compiled) >= MAX_CACHED_SHAPES:
                _compiled.clear()
            _compiled[key] = compiled
        return compiled

    def _runner(
        self, compiled: Any, whole: tuple[int, ...], dims: tuple[int, ...]
    ) -> Callable[..., list[Any]]:
        if isinstance(compiled, entry.Entry):
            return _by_entry(compiled, whole, dims, self._results, self._numbers)
        types = [v.dtype.numpy for v in self._graph.inputs]
        return _by_ctypes(compiled, whole, dims, types, self._results, self._numbers)


def _by_entry(
    compiled: entry.Entry,
    whole: tuple[int, ...],
    dims: tuple[int, ...],
    dtypes: list[Any],
    numbers: list[Any],
) -> Callable[..., list[Any]]:
    kernel = compiled.for_dims(dims)
    allocators = [allocator(whole, dtype) for dtype in dtypes]

    def run(*arrays: Any) -> list[Any]:
        results = [allocate() for allocate in allocators]
        if kernel(*arrays, *numbers, *results) is NotImplemented:
            entry.call_in_order(kernel, arrays, [*numbers, *results])
        return results

    run.keep = compiled  # type: ignore[attr-defined]  # the kernel must not outlive its entry
    return run


def _by_ctypes(
    compiled: jit.Module,
    whole: tuple[int, ...],
    dims: tuple[int, ...],
    types: list[Any],
    dtypes: list[Any],
    numbers: list[Any],
) -> Callable[..., list[Any]]:
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    kernel = compiled.function("kernel", pointer, pointer, pointer, number, number)
    lengths = (number * len(dims))(*dims)

    def run(*arrays: Any) -> list[Any]:
        if [a.dtype for a in arrays] != types:
            raise InternalError(None, None, "A kernel was compiled for arrays of other dtypes.")
        outputs = [np.empty(whole, dtype) for dtype in dtypes]
        ordered = [*[np.ascontiguousarray(a) for a in arrays], *numbers]
        ins = (pointer * len(ordered))(*[a.ctypes.data for a in ordered])
        outs = (pointer * len(outputs))(*[a.ctypes.data for a in outputs])
        kernel(ins, outs, lengths, 0, dims[0])
        return outputs

    run.keep = compiled  # type: ignore[attr-defined]  # kept alive with the function
    return run


def function(dtype: Any, op: Op) -> Callable[..., Any]:
    """An op as a function of arrays of a dtype."""
    return _function(_kernel_of(op, [from_numpy(dtype)] * len(op.input_names), {}))


def elementwise(
    op: Op, dtypes: tuple[Any, ...], attrs: tuple[tuple[str, Any], ...]
) -> Callable[..., Any] | None:
    """An elementwise op as a function of arrays of these dtypes; None if it has no code for them."""
    kernel = _kernel_of(op, [from_numpy(d) for d in dtypes], dict(attrs))
    try:
        kernel.prepare([(None,)] * len(dtypes))  # as most calls need it
    except Unsupported:
        return None
    return _function(kernel)


def exact(
    op: Op, dtypes: tuple[Any, ...], attrs: tuple[tuple[str, Any], ...]
) -> Callable[..., Any] | None:
    """The same; None also where it is not bit for bit equal to the op's kernel."""
    node = _node_of(op, [from_numpy(d) for d in dtypes], dict(attrs))
    trial = tried(node)
    return None if trial.reason or trial.approximates else elementwise(op, dtypes, attrs)


def _function(kernel: FusedKernel) -> Callable[..., Any]:
    return lambda *arrays: kernel(*arrays)[0]


def _kernel_of(op: Op, dtypes: Sequence[DType], attrs: dict[str, Any]) -> FusedKernel:
    """A kernel of one op, for arrays of any shapes that broadcast."""
    node = _node_of(op, dtypes, attrs)
    nodes = [*[x.node for x in node.inputs], node]
    return FusedKernel(Graph(op.name, list(node.inputs), nodes, node.outputs))


def _node_of(op: Op, dtypes: Sequence[DType], attrs: dict[str, Any]) -> Node:
    """A node of an op, of inputs that are vectors."""
    specs = [Spec(dtype, (None,)) for dtype in dtypes]
    inputs = [
        Node(raw.Placeholder, (), {"dtype": s.dtype, "shape": s.shape}, f"x{i}", [s]).outputs[0]
        for i, s in enumerate(specs)
    ]
    return Node(op, inputs, attrs, "y", op.output_specs(specs, attrs))
