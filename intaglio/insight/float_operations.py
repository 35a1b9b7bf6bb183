"""How many floating-point operations TensorFlow's profiler counts for a node.

TensorFlow counts them for some ops only, by rules of its own: none for functions such as `exp`. The
rules were asked of TensorFlow 2.21; `costs` has counts that mean something.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from intaglio.ir.graph import Node
from intaglio.opdef import raw


class OpStats:
    """A number that belongs to a node, such as its floating-point operations; None if it is not known."""

    def __init__(self, statistic_type: str, value: Any = None) -> None:
        self.statistic_type = statistic_type
        self.value = value

    def __iadd__(self, other: Any) -> OpStats:
        if other.statistic_type != self.statistic_type:
            raise ValueError(
                f"Can't add an OpStat of type {self.statistic_type} to one of {other.statistic_type}."
            )
        if other.value is not None:
            self.value = other.value + (self.value or 0)
        return self


class RegisterStatistics:
    """A decorator for the function `f(graph, node_def) -> OpStats` of an op type's statistic."""

    def __init__(self, op_type: str, statistic_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._key = (op_type, statistic_type)

    def __call__(self, f: Any) -> Any:
        _OF_PROGRAMS[self._key] = f
        return f


_OF_PROGRAMS: dict[tuple[str, str], Callable[[Any, Any], OpStats]] = {}


def get_stats_for_node_def(graph: Any, node: Any, statistic_type: str) -> OpStats:
    """The statistic of a node that is a message; its value is None if nobody counts it."""
    function = _OF_PROGRAMS.get((node.op, statistic_type))
    if function is not None:
        return function(graph, node)
    if statistic_type != "flops":
        return OpStats(statistic_type)
    return OpStats(statistic_type, _count(graph.get_operation_by_name(node.name)))


def shape_of_output(graph: Any, name: str) -> Any:
    """The shape of the output that the input of a NodeDef names."""
    op, _, index = name.removeprefix("^").partition(":")
    return graph.get_operation_by_name(op).outputs[int(index or 0)].shape


def unary_flops(graph: Any, node: Any, ops_per_element: int = 1) -> OpStats:
    """So many for each element of the input."""
    return OpStats("flops", _size(shape_of_output(graph, node.input[0])) * ops_per_element)


def binary_flops(graph: Any, node: Any, ops_per_element: int = 1) -> OpStats:
    """So many for each element of the result."""
    return OpStats("flops", _size(shape_of_output(graph, node.name)) * ops_per_element)


def reduction_flops(
    graph: Any, node: Any, reduce_flops: int = 1, finalize_flops: int = 0
) -> OpStats:
    """So many for each element that is put together with another, and for each element of the result."""
    before = _size(shape_of_output(graph, node.input[0]))
    after = _size(shape_of_output(graph, node.name))
    return OpStats("flops", before * reduce_flops + after * (finalize_flops - reduce_flops))


def no_flops(graph: Any, node: Any) -> OpStats:
    """None."""
    return OpStats("flops", 0)


def _size(shape: Any) -> int:
    shape.assert_is_fully_defined()
    return shape.num_elements()


def float_operations(node: Node) -> int | None:
    """What is counted for a node; None where it is unknown, or shapes are."""
    function = _OF_PROGRAMS.get((node.op.name, "flops"))
    if function is not None:
        return function(node.graph, node.node_def).value
    return _count(node)


def _count(node: Node) -> int | None:
    rule = _RULES.get(node.op)
    if rule is None:
        return None
    sizes = [_dims(v) for v in node.inputs], [_dims(v) for v in node.outputs]
    try:
        return rule(_Sizes(node, *sizes))
    except _UnknownError:
        return None


class _UnknownError(Exception):
    """A shape that a rule needs is not known."""


class _Sizes(NamedTuple):
    node: Node
    inputs: list[Any]
    outputs: list[Any]

    def known(self, dims: Any) -> Any:
        """The dimensions, if all are known."""
        if dims is None or None in dims:
            raise _UnknownError
        return dims

    def result(self) -> int:
        """The elements of the first output."""
        return math.prod(self.known(self.outputs[0]))

    def operand(self, index: int = 0) -> int:
        """The elements of an input."""
        return math.prod(self.known(self.inputs[index]))


def _dims(value: Any) -> Any:
    return value.dims


_Rule = Callable[[_Sizes], int]
_RULES: dict[Any, _Rule] = {}


def _counts(*ops: Any) -> Callable[[_Rule], _Rule]:
    def register(rule: _Rule) -> _Rule:
        _RULES.update(dict.fromkeys(ops, rule))
        return rule

    return register


def _for_each(count: int, *ops: Any) -> None:
    """`count` for each element of the result."""
    _counts(*ops)(lambda sizes: count * sizes.result())


_for_each(
    1, raw.Add, raw.AddV2, raw.Sub, raw.Mul, raw.RealDiv, raw.Maximum, raw.Minimum, raw.Pow, raw.Neg,
    raw.Reciprocal, raw.Square, raw.Log, raw.Equal, raw.NotEqual, raw.Less, raw.LessEqual, raw.Greater,
    raw.GreaterEqual, raw.BiasAdd,
)  # fmt: skip
_for_each(2, raw.SquaredDifference, raw.Rsqrt)
_for_each(4, raw.RsqrtGrad)
_for_each(5, raw.Softmax)


@_counts(raw.AddN)
def _add_n(sizes: _Sizes) -> int:
    return sizes.result() * (len(sizes.inputs) - 1)


@_counts(raw.Sum, raw.ArgMax, raw.ArgMin, raw.BiasAddGrad)
def _reduction(sizes: _Sizes) -> int:
    return sizes.operand() - sizes.result()


@_counts(raw.Mean)
def _mean(sizes: _Sizes) -> int:
    return sizes.operand()


@_counts(raw.L2Loss)
def _l2_loss(sizes: _Sizes) -> int:
    return 3 * sizes.operand() - 1


@_counts(raw.MatMul)
def _product(sizes: _Sizes) -> int:
    inner = sizes.known(sizes.inputs[0])[0 if sizes.node.attrs["transpose_a"] else 1]
    return 2 * inner * sizes.result()


@_counts(raw.BatchMatMul, raw.BatchMatMulV2)
def _batched_product(sizes: _Sizes) -> int:
    """TensorFlow takes the last dimension of the first operand, also where that is transposed."""
    return 2 * sizes.known(sizes.inputs[0])[-1] * sizes.result()


@_counts(raw.Conv2D, raw.Conv3D)
def _convolution(sizes: _Sizes) -> int:
    return 2 * sizes.result() * math.prod(sizes.known(sizes.inputs[1])[:-1])


@_counts(raw.DepthwiseConv2dNative, raw.Dilation2D)
def _depthwise(sizes: _Sizes) -> int:
    return 2 * sizes.result() * math.prod(sizes.known(sizes.inputs[1])[:2])


@_counts(raw.Conv2DBackpropInput)
def _input_gradient(sizes: _Sizes) -> int:
    steps = math.prod(sizes.node.attrs["strides"])
    points = math.prod(sizes.known(sizes.outputs[0])[:3])
    return 2 * points * math.prod(sizes.known(sizes.inputs[1])) // steps


@_counts(raw.Conv2DBackpropFilter)
def _filter_gradient(sizes: _Sizes) -> int:
    points = math.prod(sizes.known(sizes.inputs[0])[:3])
    steps = math.prod(sizes.node.attrs["strides"])
    return 2 * points * math.prod(sizes.known(sizes.outputs[0])) // steps


def _window(sizes: _Sizes) -> int:
    return math.prod(sizes.node.attrs["ksize"])


@_counts(raw.MaxPool, raw.AvgPool)
def _pool(sizes: _Sizes) -> int:
    return sizes.result() * _window(sizes)


@_counts(raw.MaxPoolGrad)
def _max_pool_gradient(sizes: _Sizes) -> int:
    return sizes.operand(1) * (_window(sizes) + 1)


@_counts(raw.AvgPoolGrad)
def _mean_pool_gradient(sizes: _Sizes) -> int:
    return sizes.operand(1) * 2 * _window(sizes)


__all__ = ["OpStats", "RegisterStatistics", "float_operations", "get_stats_for_node_def"]
