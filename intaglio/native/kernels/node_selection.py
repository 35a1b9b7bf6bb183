"""Kernel selection: the nodes that have machine code of their own, and the calls that use it.

A kernel is chosen for the shapes of a call, and cached by them. Shapes and inputs that machine code
does not support, invalid ones included, are left to the op's NumPy kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from intaglio.base.dtypes import float32, float64
from intaglio.base.errors import InvalidArgumentError
from intaglio.ir.graph import Graph, Node
from intaglio.ir.memo import memoized
from intaglio.native.kernels import layers, matmul, narrow_matmul, reductions, row_kernels, softmax
from intaglio.native.kernels.elementwise import MAX_CACHED_SHAPES, FusedKernel
from intaglio.native.kernels.kinds import select
from intaglio.native.kernels.selection import along_of, pooled
from intaglio.native.kernels.sequence import Chain, Taking
from intaglio.opdef import late, raw
from intaglio.opdef.late import OpReference
from intaglio.opdef.op import Op
from intaglio.ops.math.reduction import axes_of
from intaglio.ops.nn.windows import Axis
from intaglio.runtime import interpreter

Run = Callable[..., Any]
Choose = Callable[..., Run | None]
# By op: a function that selects the kernel for a node's attributes and arrays.
CHOICES: dict[str, Choose] = {}
# Ops that have kernels for float64 too.
_DOUBLED: set[str] = set()
# Ops that have kernels for 16-bit floats, perhaps only where the processor multiplies matrices of
# these.
_SHORT: set[str] = set()
# The prefixes of the kinds of kernels for other dtypes than float32.
PREFIXES = {"float32": "", "float64": "double ", "bfloat16": "bfloat16 ", "float16": "float16 "}
F = TypeVar("F", bound=Choose)


def chooses(
    *ops: Op | OpReference, doubles: bool = False, shorts: bool = False
) -> Callable[[F], F]:
    """Registers a function that selects the kernels of these ops, of float32 and perhaps of float64
    and 16-bit floats."""

    def register(choose: F) -> F:
        for op in ops:
            CHOICES[op.name] = choose
            if doubles:
                _DOUBLED.add(op.name)
            if shorts:
                _SHORT.add(op.name)
        return choose

    return register


def choice_of(op: Op) -> Choose | None:
    """The function that selects the op's kernels: the registered one, or that of all reductions."""
    return _reduction(op.reduces) if op.reduces else CHOICES.get(op.name)


def kernel_of(node: Node) -> Run | None:
    """The node's machine code, a function of its inputs' arrays; None if it has none."""
    name = node.op.name
    if node.op is raw._FusedElementwise:
        return FusedKernel(node.attrs["body"])
    if name in PARTS:
        return _kernel_of_body(node.attrs["body"], name)
    choose = choice_of(node.op) if has_choice(node) else None
    return None if choose is None else Chosen(node, choose)


@memoized
def _kernel_of_body(body: Graph, name: str) -> Run | None:
    return PARTS[name](body)


def called_kernel_of(node: Node) -> Run | None:
    """`kernel_of` for a caller who does not know the dtypes and shapes of the inputs' arrays.

    A kernel for the declared ones is used for no others.
    """
    found = kernel_of(node)
    if found is None or node.op.name not in PARTS:
        return found
    body: Graph = node.attrs["body"]
    forms = [(v.dims, v.dtype.numpy) for v in body.inputs]

    def run(*arrays: Any) -> Any:
        if [(a.shape, a.dtype) for a in arrays] != forms:
            return interpreter.run_graph(body, arrays)
        return found(*arrays)

    return run


def has_choice(node: Node) -> bool:
    """True for an op that has kernels, on elements of a supported dtype."""
    if choice_of(node.op) is None:  # ops without kernels may have no outputs
        return False
    dtype = node.outputs[0].dtype
    if dtype.is_floating and dtype.size == 2:
        return node.op.name in _SHORT
    return dtype is float32 or (dtype is float64 and node.op.name in _DOUBLED)


# Fused ops, with the functions that select their kernels.
PARTS: dict[str, Callable[[Graph], Run | None]] = {
    late._FusedRows.name: lambda body: row_kernels.kernel(row_kernels.plan_of(body)),
    late._FusedLayers.name: layers.kernel,
}


class Chosen:
    """A node's kernel: for each tuple of shapes the result of `choose`, or else the op's own."""

    def __init__(self, node: Node, choose: Callable[..., Run | None]) -> None:
        self._op, self._attrs = node.op, node.attrs
        self._choose = choose
        self._types = [v.dtype.numpy for v in node.inputs]
        # Integers are sizes or axes, on whose values the choice depends as on shapes.
        integers = [i for i, v in enumerate(node.inputs) if v.dtype.is_integer]
        self._numbers = [] if node.op.integer_data else integers
        self._runs: dict[Any, Run] = {}

    def __call__(self, *arrays: Any) -> Any:
        key: tuple[Any, ...] = tuple([a.shape for a in arrays])
        for i in self._numbers:
            key += (arrays[i].tobytes(),)
        run = self._runs.get(key)
        if run is None:
            if len(self._runs) >= MAX_CACHED_SHAPES:
                self._runs.clear()
            # Kernels load elements of the dtypes that the graph declares.
            fits = [a.dtype for a in arrays] == self._types
            run = (self._choose(self._attrs, *arrays) if fits else None) or self._by_numpy
            self._runs[key] = run
        results = run(*arrays)
        return self._by_numpy(*arrays) if results is NotImplemented else results

    def _by_numpy(self, *arrays: Any) -> Any:
        return interpreter.call_kernel(self._op, arrays, self._attrs)


@chooses(raw.MatMul, shorts=True)
def _matmul(attrs: dict[str, Any], a: Any, b: Any) -> Run | None:
    if a.ndim != 2 or b.ndim != 2:
        return None
    transposed = attrs["transpose_a"], attrs["transpose_b"]
    return _product("product", a, b, *transposed)


def _product(kind: str, a: Any, b: Any, transposed_a: bool, transposed_b: bool) -> Run | None:
    if a.dtype.itemsize == 2:
        form = narrow_matmul.short_form(a.dtype)
        rest = transposed_a, transposed_b, form, a.dtype
        return form and getattr(narrow_matmul, kind)(a.shape, b.shape, *rest)
    return getattr(matmul, kind)(a.shape, b.shape, transposed_a, transposed_b)


def _matmuls(transposed_a: str, transposed_b: str) -> Callable[..., Run | None]:
    def choose(attrs: dict[str, Any], a: Any, b: Any) -> Run | None:
        transposed = attrs[transposed_a], attrs[transposed_b]
        both = a.ndim == b.ndim == 2
        return _product("product" if both else "products", a, b, *transposed)

    return choose


def _fits(along: tuple[Axis, ...], gradients: Any) -> bool:
    """True if gradients have the shape of the result along these axes."""
    return gradients.shape[1:-1] == tuple([a.out for a in along])


def _sliding(kind: str, x: Any, *description: Any) -> Run | None:
    """The kernel selected for arrays of the type of one of them."""
    return select(f"{PREFIXES[x.dtype.name]}{kind}", *description)


@chooses(raw.Conv2D, raw.Conv3D, doubles=True, shorts=True)
def _convolution(attrs: dict[str, Any], x: Any, filters: Any) -> Run | None:
    along = along_of(attrs, x.shape, filters.shape)
    if along is None:
        return None
    return _sliding("convolution", x, x.shape, filters.shape, along)


@chooses(raw.Conv2DBackpropInput, raw.Conv3DBackpropInputV2, doubles=True, shorts=True)
def _convolution_input_gradient(
    attrs: dict[str, Any], sizes: Any, filters: Any, d: Any
) -> Run | None:
    shape = tuple(sizes.tolist())
    along = along_of(attrs, shape, filters.shape)
    if (
        along is None
        or not _fits(along, d)
        or (len(d), d.shape[-1]) != (shape[0], filters.shape[-1])
    ):
        return None
    run = _sliding("convolution input gradient", d, shape, filters.shape, along)
    return run and Taking(run, 1, 2)


@chooses(raw.Conv2DBackpropFilter, raw.Conv3DBackpropFilterV2, doubles=True, shorts=True)
def _convolution_filter_gradient(attrs: dict[str, Any], x: Any, sizes: Any, d: Any) -> Run | None:
    shape = tuple(sizes.tolist())
    along = along_of(attrs, x.shape, shape)
    if along is None or not _fits(along, d) or (len(d), d.shape[-1]) != (len(x), shape[-1]):
        return None
    run = _sliding("convolution filter gradient", x, x.shape, shape, along)
    return run and Taking(run, 0, 2)


@chooses(raw.DepthwiseConv2dNative)
def _depthwise(attrs: dict[str, Any], x: Any, filters: Any) -> Run | None:
    along = _depthwise_along(attrs, x.shape, filters.shape)
    if along is None:
        return None
    return select("depthwise", x.shape, filters.shape, along)


@chooses(raw.DepthwiseConv2dNativeBackpropInput)
def _depthwise_input_gradient(
    attrs: dict[str, Any], sizes: Any, filters: Any, d: Any
) -> Run | None:
    shape = tuple(sizes.tolist())
    along = _depthwise_along(attrs, shape, filters.shape)
    if along is None or d.shape[::3] != shape[::3] or not _fits(along, d):
        return None
    run = select("depthwise input gradient", shape, filters.shape, along)
    return run and Taking(run, 1, 2)


@chooses(raw.DepthwiseConv2dNativeBackpropFilter)
def _depthwise_filter_gradient(attrs: dict[str, Any], x: Any, sizes: Any, d: Any) -> Run | None:
    shape = tuple(sizes.tolist())
    along = _depthwise_along(attrs, x.shape, shape)
    if along is None or d.shape[::3] != x.shape[::3] or not _fits(along, d):
        return None
    run: Any = select("depthwise filter gradient", x.shape, shape, along)
    if run is None:
        return None
    chain = Chain(2)
    (gradient,) = chain.then(run, 0, 1, shape=shape)
    return Taking(chain.returning(gradient), 0, 2)


def _depthwise_along(
    attrs: dict[str, Any], x: tuple[int, ...], filters: tuple[int, ...]
) -> tuple[Axis, ...] | None:
    """The axes of windows over images that have as many channels as the filters."""
    return along_of(attrs, x, filters) if x[3:] == filters[2:3] else None


@chooses(raw.MaxPool, raw.MaxPool3D)
def _max_pool(attrs: dict[str, Any], x: Any) -> Run | None:
    return select("maximum", tuple(pooled(attrs, x.shape)))


@chooses(raw.MaxPoolGrad, raw.MaxPool3DGrad)
def _max_pool_gradient(attrs: dict[str, Any], x: Any, y: Any, d: Any) -> Run | None:
    along = pooled(attrs, x.shape)
    if not y.shape == d.shape == tuple([a.out for a in along]):
        return None
    return select("maximum gradient", tuple(along))


@chooses(raw.AvgPool, raw.AvgPool3D)
def _mean_pool(attrs: dict[str, Any], x: Any) -> Run | None:
    return select("mean", tuple(pooled(attrs, x.shape)))


@chooses(raw.AvgPoolGrad, raw.AvgPool3DGrad)
def _mean_pool_gradient(attrs: dict[str, Any], sizes: Any, d: Any) -> Run | None:
    along = pooled(attrs, tuple(sizes.tolist()))
    if d.shape != tuple([a.out for a in along]):
        return None
    run = select("mean gradient", tuple(along))
    return run and Taking(run, 1)


@functools.cache
def _reduction(how: str) -> Callable[..., Run | None]:
    def choose(attrs: dict[str, Any], x: Any, axis: Any) -> Run | None:
        try:
            axes = axes_of(axis, x.ndim)
        except InvalidArgumentError:  # the op's kernel raises the error
            return None
        run = reductions.reduction(how, x.shape, axes, attrs["keep_dims"], x.dtype)
        return run and Taking(run, 0)

    return choose


def _by_rows(name: str) -> Callable[..., Run | None]:
    return lambda attrs, logits: softmax.row_softmax(name, logits.shape, logits.dtype)


@chooses(raw.SoftmaxCrossEntropyWithLogits, shorts=True)
def _cross_entropy(attrs: dict[str, Any], logits: Any, labels: Any) -> Run | None:
    if logits.ndim != 2 or logits.shape != labels.shape:
        return None
    return softmax.cross_entropy(logits.shape, logits.dtype)


@chooses(raw.SparseSoftmaxCrossEntropyWithLogits)
def _sparse_cross_entropy(attrs: dict[str, Any], logits: Any, labels: Any) -> Run | None:
    if logits.ndim != 2 or labels.shape != logits.shape[:1]:
        return None
    return softmax.sparse_cross_entropy(logits.shape)


chooses(raw.Softmax, shorts=True)(_by_rows("softmax"))
chooses(raw.LogSoftmax, shorts=True)(_by_rows("log_softmax"))
chooses(raw.BatchMatMul, raw.BatchMatMulV2, raw.BatchMatMulV3, shorts=True)(
    _matmuls("adj_x", "adj_y")
)
