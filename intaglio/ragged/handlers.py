"""The table of public functions and their dispatch targets for ragged tensors."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from intaglio.base.composite import CompositeTensor
from intaglio.opdef import dispatch
from intaglio.opdef.dispatch import ANYTHING, handle
from intaglio.opdef.elementwise_names import ASSERTIONS, BINARY, UNARY
from intaglio.ragged import (
    arranging,
    counting,
    elementwise,
    gathering,
    joining,
    mapping,
    matrices,
    normalizing,
    reductions,
    shape,
    strings,
)
from intaglio.ragged.core import Ragged
from intaglio.ragged.shape import DynamicRaggedShape


class _Operand(abc.ABCMeta):
    """Classes of the values allowed beside a ragged tensor in a list: all but other composites."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Ragged) or not isinstance(instance, CompositeTensor)


class Operand(metaclass=_Operand):
    """A ragged tensor, a tensor, or what becomes one."""


_LIST = list[Operand]
_RAGGED = (False, (Ragged,))

# public name -> (handler, the parameters of which one is ragged)
_BY_VALUE: dict[str, tuple[Callable[..., Any], str]] = {
    "bitcast": (arranging.bitcast, "input"),
    "broadcast_to": (shape.broadcast_to, "input"),
    "constant": (arranging.constant_refused, "value"),
    "cumsum": (arranging.cumsum, "x"),
    "debugging.assert_type": (arranging.assert_type, "tensor"),
    "dynamic_partition": (arranging.dynamic_partition, "data partitions"),
    "expand_dims": (arranging.expand_dims, "input"),
    "gather": (gathering.gather, "params indices"),
    "gather_nd": (gathering.gather_nd, "params indices"),
    "identity": (arranging.identity, "input"),
    "linalg.matmul": (matrices.matmul, "a b"),
    "math.bincount": (counting.bincount, "arr"),
    "math.reduce_all": (reductions.reduce_all, "input_tensor"),
    "math.reduce_any": (reductions.reduce_any, "input_tensor"),
    "math.reduce_logsumexp": (reductions.reduce_logsumexp, "input_tensor"),
    "math.reduce_max": (reductions.reduce_max, "input_tensor"),
    "math.reduce_mean": (reductions.reduce_mean, "input_tensor"),
    "math.reduce_min": (reductions.reduce_min, "input_tensor"),
    "math.reduce_prod": (reductions.reduce_prod, "input_tensor"),
    "math.reduce_std": (reductions.reduce_std, "input_tensor"),
    "math.reduce_sum": (reductions.reduce_sum, "input_tensor"),
    "math.reduce_variance": (reductions.reduce_variance, "input_tensor"),
    "math.unsorted_segment_max": (reductions.unsorted_max, "data segment_ids"),
    "math.unsorted_segment_mean": (reductions.unsorted_mean, "data segment_ids"),
    "math.unsorted_segment_min": (reductions.unsorted_min, "data segment_ids"),
    "math.unsorted_segment_prod": (reductions.unsorted_prod, "data segment_ids"),
    "math.unsorted_segment_sqrt_n": (reductions.unsorted_sqrt_n, "data segment_ids"),
    "math.unsorted_segment_sum": (reductions.unsorted_sum, "data segment_ids"),
    "nn.dropout": (normalizing.dropout, "x"),
    "nn.experimental.stateless_dropout": (normalizing.stateless_dropout, "x"),
    "nn.embedding_lookup": (gathering.embedding_lookup, "ids"),
    "nn.embedding_lookup_sparse": (normalizing.embedding_lookup_sparse, "sp_ids"),
    "nn.softmax": (normalizing.softmax, "logits"),
    "one_hot": (arranging.one_hot, "indices"),
    "rank": (arranging.rank, "input"),
    "reshape": (shape.reshape, "tensor"),
    "reverse": (arranging.reverse, "tensor"),
    "shape": (shape.shape, "input"),
    "size": (arranging.size, "input"),
    "split": (arranging.split, "value"),
    "stop_gradient": (arranging.stop_gradient, "input"),
    "squeeze": (arranging.squeeze, "input"),
    "strings.reduce_join": (reductions.reduce_join, "inputs"),
    "tile": (joining.tile, "input"),
    "where": (arranging.where, "condition x y"),
}
_BY_LIST: dict[str, tuple[Callable[..., Any], str]] = {
    "concat": (joining.concat, "values"),
    "math.add_n": (joining.add_n, "inputs"),
    "stack": (joining.stack, "values"),
    "strings.join": (strings.join, "inputs"),
}
_BY_SHAPE: dict[str, tuple[Callable[..., Any], str]] = {
    "broadcast_dynamic_shape": (shape.broadcast_dynamic_shape, "shape_x shape_y"),
    "broadcast_to": (shape.broadcast_to, "shape"),
    "fill": (shape.fill, "dims"),
    "ones": (shape.ones, "shape"),
    "reshape": (shape.reshape, "shape"),
    "zeros": (shape.zeros, "shape"),
}


def register() -> None:
    """Lets public functions take ragged tensors."""
    for name, (handler, parameters) in _BY_VALUE.items():
        handle(name, handler, **dict.fromkeys(parameters.split(), Ragged))
    for name, (handler, parameters) in _BY_LIST.items():
        handle(name, handler, **dict.fromkeys(parameters.split(), _LIST))
    for name, (handler, parameters) in _BY_SHAPE.items():
        handle(name, handler, **dict.fromkeys(parameters.split(), DynamicRaggedShape))
    dispatch.handle_if("map_fn", mapping.map_fn, mapping.concerns)
    both = [(_RAGGED, ANYTHING), (ANYTHING, _RAGGED)]
    dispatch.handle_elementwise(UNARY, elementwise.unary, [(_RAGGED,)])
    dispatch.handle_elementwise(BINARY, elementwise.binary, both)
    dispatch.handle_elementwise(ASSERTIONS, elementwise.assertion, both)
