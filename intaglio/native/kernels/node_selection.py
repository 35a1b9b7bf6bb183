"""Which nodes have machine code of their own, and when a call uses it.

A kernel is chosen for the shapes of a call, and remembered for them. What the machine code
does not do, or an input that is wrong, is left to the op's NumPy kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import float32, float64
from intaglio.base.errors import InvalidArgumentError
from intaglio.ir.graph import Graph, Node
from intaglio.native.kernels import layers, matmul, reductions, row_kernels, softmax
from intaglio.native.kernels.elementwise import REMEMBERED, FusedKernel
from intaglio.native.kernels.selection import along_of, offer, pooled
from intaglio.native.kernels.sequence import Chain, Taking
from intaglio.ops.math.reduction import axes_of
from intaglio.ops.nn.windows import Axis
from intaglio.runtime import interpreter

Run = Callable[..., Any]
# Ops whose integers are data, of which no choice depends.
LABELLED = frozenset(["SparseSoftmaxCrossEntropyWithLogits"])
CONVOLUTIONS = ("Conv2D", "Conv3D")
BY_IMAGES = ("Conv2DBackpropInput", "Conv3DBackpropInputV2")
BY_FILTERS = ("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
# Ops that have kernels for doubles too.
DOUBLED = frozenset([*CONVOLUTIONS, *BY_IMAGES, *BY_FILTERS])


def kernel_of(node: Node) -> Run | None:
    """The node's machine code, a function of its inputs' arrays; None if it has none."""
    name = node.op.name
    if name == "_FusedElementwise":
        return FusedKernel(node.attrs["body"])
    if name in PARTS:
        body: Graph = node.attrs["body"]
        if kernel_of not in body.derived:
            body.derived[kernel_of] = PARTS[name](body)
        return body.derived[kernel_of]
    return Chosen(node, CHOICES[name]) if has_choice(node) else None


def has_choice(node: Node) -> bool:
    """True for an op of `CHOICES` on elements of a type that it may have."""
    name = node.op.name
    if name not in CHOICES:  # such may have no outputs at all
        return False
    dtype = node.outputs[0].dtype
    return dtype is float32 or (dtype is float64 and name in DOUBLED)


# What stands for several ops, and makes the kernel of them.
PARTS: dict[str, Callable[[Graph], Run | None]] = {
    "_FusedRows": lambda body: row_kernels.kernel(row_kernels.plan_of(body)),
    "_FusedLayers": layers.kernel,
}


class Chosen:
    """A node's kernel: for each tuple of shapes what `choose` finds, or the op's own."""

    def __init__(self, node: Node, choose: Callable[..., Run | None]) -> None:
        self._op, self._attrs = node.op, node.attrs
        self._choose = choose
        # Integers are sizes or axes, of which the choice depends as it does of shapes.
        integers = [i for i, v in enumerate(node.inputs) if v.dtype.is_integer]
        self._numbers = [] if node.op.name in LABELLED else integers
        self._runs: dict[Any, Run] = {}

    def __call__(self, *arrays: Any) -> Any:
        key: tuple[Any, ...] = tuple([a.shape for a in arrays])
        for i in self._numbers:
            key += (arrays[i].tobytes(),)
        run = self._runs.get(key)
        if run is None:
            if len(self._runs) >= REMEMBERED:
                self._runs.clear()
            run = self._choose(self._attrs, *arrays) or self._by_numpy
            self._runs[key] = run
        made = run(*arrays)
        return self._by_numpy(*arrays) if made is NotImplemented else made

    def _by_numpy(self, *arrays: Any) -> Any:
        return interpreter.call_kernel(self._op, arrays, self._attrs)


def _matmul(attrs: dict[str, Any], a: Any, b: Any) -> Run | None:
    if a.ndim != 2 or b.ndim != 2:
        return None
    turned = attrs["transpose_a"], attrs["transpose_b"]
    return matmul.product(a.shape, b.shape, *turned)


def _matmuls(turned_a: str, turned_b: str) -> Callable[..., Run | None]:
    def choose(attrs: dict[str, Any], a: Any, b: Any) -> Run | None:
        turned = attrs[turned_a], attrs[turned_b]
        if a.ndim == b.ndim == 2:
            return matmul.product(a.shape, b.shape, *turned)
        return matmul.products(a.shape, b.shape, *turned)

    return choose


def _fits(along: tuple[Axis, ...], gradients: Any) -> bool:
    """True if gradients have the sides of the result."""
    return gradients.shape[1:-1] == tuple([a.out for a in along])


def _sliding(kind: str, x: Any, *description: Any) -> Run | None:
    """What is offered for arrays of the type of one of them."""
    return offer(f"double {kind}" if x.dtype == np.float64 else kind, *description)


def _convolution(attrs: dict[str, Any], x: Any, filters: Any) -> Run | None:
    along = along_of(attrs, x.shape, filters.shape)
    if along is None:
        return None
    return _sliding("convolution", x, x.shape, filters.shape, along)


def _convolution_by_images(attrs: dict[str, Any], sizes: Any, filters: Any, d: Any) -> Run | None:
    shape = tuple(sizes.tolist())
    along = along_of(attrs, shape, filters.shape)
    if (
        along is None
        or not _fits(along, d)
        or (len(d), d.shape[-1]) != (shape[0], filters.shape[-1])
    ):
        return None
    run = _sliding("convolution by images", d, shape, filters.shape, along)
    return run and Taking(run, 1, 2)


def _convolution_by_filters(attrs: dict[str, Any], x: Any, sizes: Any, d: Any) -> Run | None:
    shape = tuple(sizes.tolist())
    along = along_of(attrs, x.shape, shape)
    if along is None or not _fits(along, d) or (len(d), d.shape[-1]) != (len(x), shape[-1]):
        return None
    run = _sliding("convolution by filters", x, x.shape, shape, along)
    return run and Taking(run, 0, 2)


def _depthwise(attrs: dict[str, Any], x: Any, filters: Any) -> Run | None:
    along = _depthwise_along(attrs, x.shape, filters.shape)
    if along is None:
        return None
    return offer("depthwise", x.shape, filters.shape, along)


def _depthwise_by_images(attrs: dict[str, Any], sizes: Any, filters: Any, d: Any) -> Run | None:
    shape = tuple(sizes.tolist())
    along = _depthwise_along(attrs, shape, filters.shape)
    if along is None or d.shape[::3] != shape[::3] or not _fits(along, d):
        return None
    run = offer("depthwise by images", shape, filters.shape, along)
    return run and Taking(run, 1, 2)


def _depthwise_by_filters(attrs: dict[str, Any], x: Any, sizes: Any, d: Any) -> Run | None:
    shape = tuple(sizes.tolist())
    along = _depthwise_along(attrs, x.shape, shape)
    if along is None or d.shape[::3] != x.shape[::3] or not _fits(along, d):
        return None
    run: Any = offer("depthwise by filters", x.shape, shape, along)
    if run is None:
        return None
    chain = Chain(2)
    (made,) = chain.then(run, 0, 1, shape=shape)
    return Taking(chain.giving(made), 0, 2)


def _depthwise_along(
    attrs: dict[str, Any], x: tuple[int, ...], filters: tuple[int, ...]
) -> tuple[Axis, ...] | None:
    """How filters slide over images that have as many channels as they."""
    return along_of(attrs, x, filters) if x[3:] == filters[2:3] else None


def _max_pool(attrs: dict[str, Any], x: Any) -> Run | None:
    return offer("maximum", tuple(pooled(attrs, x.shape)))


def _max_pool_gradient(attrs: dict[str, Any], x: Any, y: Any, d: Any) -> Run | None:
    along = pooled(attrs, x.shape)
    if not y.shape == d.shape == tuple([a.out for a in along]):
        return None
    return offer("maximum gradient", tuple(along))


def _mean_pool(attrs: dict[str, Any], x: Any) -> Run | None:
    return offer("mean", tuple(pooled(attrs, x.shape)))


def _mean_pool_gradient(attrs: dict[str, Any], sizes: Any, d: Any) -> Run | None:
    along = pooled(attrs, tuple(sizes.tolist()))
    if d.shape != tuple([a.out for a in along]):
        return None
    run = offer("mean gradient", tuple(along))
    return run and Taking(run, 1)


def _reduction(op: str) -> Callable[..., Run | None]:
    def choose(attrs: dict[str, Any], x: Any, axis: Any) -> Run | None:
        try:
            axes = axes_of(axis, x.ndim)
        except InvalidArgumentError:  # the op's kernel says so
            return None
        run = reductions.reduction(op, x.shape, axes, attrs["keep_dims"], x.dtype)
        return run and Taking(run, 0)

    return choose


def _by_rows(name: str) -> Callable[..., Run | None]:
    return lambda attrs, logits: softmax.by_rows(name, logits.shape)


def _cross_entropy(attrs: dict[str, Any], logits: Any, labels: Any) -> Run | None:
    if logits.ndim != 2 or logits.shape != labels.shape:
        return None
    return softmax.cross_entropy(logits.shape)


def _sparse_cross_entropy(attrs: dict[str, Any], logits: Any, labels: Any) -> Run | None:
    if logits.ndim != 2 or labels.shape != logits.shape[:1]:
        return None
    return softmax.sparse_cross_entropy(logits.shape)


CHOICES: dict[str, Callable[..., Run | None]] = {
    "MatMul": _matmul,
    **dict.fromkeys(("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), _matmuls("adj_x", "adj_y")),
    "MaxPool": _max_pool,
    "MaxPoolGrad": _max_pool_gradient,
    "AvgPool": _mean_pool,
    "AvgPoolGrad": _mean_pool_gradient,
    **dict.fromkeys(CONVOLUTIONS, _convolution),
    **dict.fromkeys(BY_IMAGES, _convolution_by_images),
    **dict.fromkeys(BY_FILTERS, _convolution_by_filters),
    "DepthwiseConv2dNative": _depthwise,
    "DepthwiseConv2dNativeBackpropInput": _depthwise_by_images,
    "DepthwiseConv2dNativeBackpropFilter": _depthwise_by_filters,
    "Softmax": _by_rows("softmax"),
    "LogSoftmax": _by_rows("log_softmax"),
    "SoftmaxCrossEntropyWithLogits": _cross_entropy,
    "SparseSoftmaxCrossEntropyWithLogits": _sparse_cross_entropy,
    **{op: _reduction(op) for op in reductions.OPS},
}
