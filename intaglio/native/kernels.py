"""Which nodes have machine code of their own, and when a call uses it.

A kernel is chosen for the shapes of a call, and remembered for them. What the machine code
does not do, or an input that is wrong, is left to the op's NumPy kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base.dtypes import float32
from intaglio.ir.graph import Node
from intaglio.native import convolution, matmul, pooling
from intaglio.native.convolution import Geometry
from intaglio.native.fused import REMEMBERED, FusedKernel
from intaglio.native.pooling import Windows
from intaglio.ops.convolution import Plan, plan_of
from intaglio.ops.pooling_kernels import plan
from intaglio.runtime import interpreter

Run = Callable[..., Any]


def kernel_of(node: Node) -> Run | None:
    """The node's machine code, a function of its inputs' arrays; None if it has none."""
    name = node.op.name
    if name == "_FusedElementwise":
        return FusedKernel(node.attrs["body"])
    choose = CHOICES.get(name)
    if choose is None or node.inputs[-1].dtype is not float32:
        return None
    return Chosen(node, choose)


class Chosen:
    """A node's kernel: for each tuple of shapes what `choose` finds, or the op's own."""

    def __init__(self, node: Node, choose: Callable[..., Run | None]) -> None:
        self._op, self._attrs = node.op, node.attrs
        self._choose = choose
        # Small integers are sizes, of which the choice depends as it does of shapes.
        self._numbers = [i for i, v in enumerate(node.inputs) if v.dtype.is_integer]
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
        return run(*arrays)

    def _by_numpy(self, *arrays: Any) -> Any:
        return interpreter.call_kernel(self._op, arrays, self._attrs)


def _matmul(attrs: dict[str, Any], a: Any, b: Any) -> Run | None:
    if a.ndim != 2 or b.ndim != 2:
        return None
    turned = attrs["transpose_a"], attrs["transpose_b"]
    return matmul.product(a.shape, b.shape, *turned)


def _plan(attrs: dict[str, Any]) -> Plan | None:
    """The plan of a convolution that lies in memory as the kernels expect it."""
    if attrs["data_format"] != "NHWC" or any(d != 1 for d in attrs["dilations"]):
        return None
    return plan_of(
        4, attrs["strides"], attrs["padding"], attrs["explicit_paddings"],
        attrs["data_format"], attrs["dilations"],
    )  # fmt: skip


def _geometry(attrs: dict[str, Any], x: Any, filters: Any) -> Geometry | None:
    """The geometry of a convolution by the shapes; None if it is none of ours, or wrong."""
    sliding = _plan(attrs)
    if sliding is None or len(x) != 4 or len(filters) != 4 or x[3] != filters[2]:
        return None
    down, across = sliding.axes(x[1:3], filters[:2])
    return Geometry(
        x[0], x[1], x[2], x[3], down.out, across.out, filters[3], filters[0], filters[1],
        down.stride, across.stride, down.before, across.before,
    )  # fmt: skip


def _fits(g: Geometry | None, gradients: Any) -> bool:
    """True if gradients have the shape of the result."""
    if g is None:
        return False
    return gradients.shape == (g.images, g.out_height, g.out_width, g.filters)


def _conv2d(attrs: dict[str, Any], x: Any, filters: Any) -> Run | None:
    g = _geometry(attrs, x.shape, filters.shape)
    return None if g is None else convolution.forward(g)


def _conv2d_by_images(
    attrs: dict[str, Any], sizes: Any, filters: Any, gradients: Any
) -> Run | None:
    g = _geometry(attrs, tuple(sizes.tolist()), filters.shape)
    if g is None or not _fits(g, gradients):
        return None
    run = convolution.by_images(g)
    return None if run is None else lambda sizes, f, d: run(f, d)


def _conv2d_by_filters(
    attrs: dict[str, Any], x: Any, sizes: Any, gradients: Any
) -> Run | None:
    g = _geometry(attrs, x.shape, tuple(sizes.tolist()))
    if g is None or not _fits(g, gradients):
        return None
    run = convolution.by_filters(g)
    return None if run is None else lambda x, sizes, d: run(x, d)


def _windows(attrs: dict[str, Any], x: Any) -> Windows | None:
    """The windows of a pooling op that lie as the kernels expect them."""
    if attrs["data_format"] != "NHWC" or x.ndim != 4:
        return None
    along = plan(
        x.shape, attrs["ksize"], attrs["strides"], attrs["padding"],
        attrs["explicit_paddings"], attrs["data_format"],
    )  # fmt: skip
    batch, down, across, channels = along
    if batch.moves or channels.moves:
        return None
    return Windows(
        batch.size, down.size, across.size, channels.size, down.out, across.out,
        down.window, across.window, down.stride, across.stride, down.before, across.before,
    )  # fmt: skip


def _max_pool(attrs: dict[str, Any], x: Any) -> Run | None:
    w = _windows(attrs, x)
    return None if w is None else pooling.maximum(w)


def _max_pool_gradient(attrs: dict[str, Any], x: Any, y: Any, d: Any) -> Run | None:
    w = _windows(attrs, x)
    if w is None:
        return None
    shape = (w.images, w.out_height, w.out_width, w.channels)
    return pooling.maximum_gradient(w) if y.shape == d.shape == shape else None


CHOICES: dict[str, Callable[..., Run | None]] = {
    "MatMul": _matmul,
    "MaxPool": _max_pool,
    "MaxPoolGrad": _max_pool_gradient,
    "Conv2D": _conv2d,
    "Conv2DBackpropInput": _conv2d_by_images,
    "Conv2DBackpropFilter": _conv2d_by_filters,
}
