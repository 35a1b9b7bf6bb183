"""`tf.map_fn` on rows of composite values, and with composite results.

Follows https://www.tensorflow.org/api_docs/python/tf/map_fn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import dtypes, nest
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import DType, as_dtype
from intaglio.base.errors import invalid_argument
from intaglio.opdef import convert, door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import core
from intaglio.ragged.core import Ragged
from intaglio.ragged.spec import RaggedTensorSpec
from intaglio.trace import control_flow
from intaglio.trace.scopes import name_scope
from intaglio.type_specs.tensor_array import TensorArray
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec, type_spec_of


def concerns(values: tuple[Any, ...]) -> bool:
    """True if elements or results of a call of `tf.map_fn` are composite values."""
    _, elems, dtype, *_, signature = values
    leaves = nest.flatten([elems, dtype, signature])
    return any(
        isinstance(x, CompositeTensor)
        or (isinstance(x, TypeSpec) and not isinstance(x, TensorSpec))
        for x in leaves
    )


def map_fn(
    fn: Any,
    elems: Any,
    dtype: Any = None,
    parallel_iterations: Any = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """`fn` of every row; results of other types than the rows need `fn_output_signature`."""
    if not callable(fn):
        raise TypeError(f"The provided function {fn!r} is not callable.")
    with name_scope(name or "map"):
        values = nest.map_structure(_element, elems)
        signature = dtype if fn_output_signature is None else fn_output_signature
        if signature is None:
            signature = nest.map_structure(_row_spec, values)
        specs = nest.map_structure(_as_spec, signature)
        wanted: list[Any] = nest.flatten(specs)
        elements = [_Elements(v) for v in nest.flatten(values)]
        count = elements[0].count()

        def parts(row: Any) -> list[list[Any]]:
            rows = [element.row(row) for element in elements]
            result = fn(nest.pack_sequence_as(values, rows))
            nest.assert_same_structure(
                nest.map_structure(lambda _: 0, result),
                nest.map_structure(lambda _: 0, specs),
                False,
            )
            pairs = zip(wanted, nest.flatten(result), strict=True)
            return [_taken_apart(s, v) for s, v in pairs]

        columns = (
            _now(parts, count, wanted) if door.level().eager else _staged(parts, count, wanted)
        )
        results = [_put_together(s, c, count) for s, c in zip(wanted, columns, strict=True)]
        return nest.pack_sequence_as(specs, results)


# -- elements ----------------------------------------------------------------------------


def _element(value: Any) -> Any:
    return value if isinstance(value, CompositeTensor) else convert.to_tensor(value)


def _row_spec(value: Any) -> Any:
    return type_spec_of(value)._unbatch()


def _as_spec(wanted: Any) -> Any:
    return wanted if isinstance(wanted, TypeSpec) else TensorSpec(None, as_dtype(wanted))


class _Elements:
    """The rows of a value; one that is neither a tensor nor ragged is taken apart once."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.tensors: list[Any] | None = None
        if not isinstance(value, (Tensor, Ragged)):
            spec = value._type_spec
            self.spec = spec._unbatch()
            self.tensors = spec._to_batched_tensor_list(value)

    def count(self) -> Any:
        """The number of rows as an int32 scalar."""
        if isinstance(self.value, Ragged):
            return core.as_index(self.value.partition.nrows(), dtypes.int32)
        shape: Any = raw.Shape(self.tensors[0] if self.tensors else self.value)
        return shape[0]

    def row(self, index: Any) -> Any:
        """The row at an index."""
        if self.tensors is None:
            return self.value[index]
        return self.spec._from_tensor_list([tensor[index] for tensor in self.tensors])


# -- results -----------------------------------------------------------------------------


def _is_ragged(spec: Any) -> bool:
    return isinstance(spec, RaggedTensorSpec)


def _taken_apart(spec: Any, value: Any) -> list[Any]:
    """A result's tensors: of a ragged one the flat values and all rows' lengths."""
    if not _is_ragged(spec):
        return spec._to_tensor_list(value)
    x = core.as_operand(value, spec.dtype)
    levels = x.ragged_rank if isinstance(x, Ragged) else 0
    if x.dims == () or levels != spec.ragged_rank:
        raise ValueError(
            f"The function returned {x!r} where {spec!r} was expected: name the types of its results with fn_output_signature."
        )
    if x.dtype is not spec.dtype:
        raise TypeError(
            f"The function returned a value of type {x.dtype.name} where {spec.dtype.name} was expected."
        )
    kind = spec.row_splits_dtype
    if not levels:
        shape: Any = raw.Shape(x, out_type=kind)
        return [x, shape[:1]]
    lengths = [core.as_index(p.row_lengths(), kind) for p in x.nested_partitions]
    count = raw.ExpandDims(core.as_index(x.partition.nrows(), kind), 0)
    return [x.flat_values, count, *lengths]


def _kinds(spec: Any) -> list[DType]:
    """The dtypes of what `_taken_apart` returns."""
    if not _is_ragged(spec):
        return [s.dtype for s in spec._flat_tensor_specs]
    return [spec.dtype, *[spec.row_splits_dtype] * (spec.ragged_rank + 1)]


def _put_together(spec: Any, columns: Sequence[Any], count: Any) -> Any:
    """All results as one value, from the columns of their tensors."""
    if not _is_ragged(spec):
        if isinstance(spec, TensorSpec):
            return columns[0]
        return spec._batch(None)._from_tensor_list(columns)
    flat, *lengths = columns
    result = flat
    for one in reversed(lengths):
        result = core.from_lengths(result, one)
    return result


def _now(parts: Any, count: Any, wanted: Sequence[Any]) -> list[list[Any]]:
    """The columns of results computed at once."""
    number = int(np.asarray(count._array))
    iterations = [parts(i) for i in range(number)]
    columns: list[list[Any]] = []
    for at, spec in enumerate(wanted):
        own = [values[at] for values in iterations]
        columns.append(
            [_joined(spec, [row[i] for row in own], kind, i) for i, kind in enumerate(_kinds(spec))]
        )
    return columns


def _joined(spec: Any, items: list[Any], kind: DType, part: int) -> Any:
    if items:
        return raw.ConcatV2(items, 0) if _is_ragged(spec) else raw.Pack(items, axis=0)
    dims = spec.shape.as_list() if spec.shape.rank is not None else []
    inner = dims[1:] if _is_ragged(spec) and part == 0 else [] if _is_ragged(spec) else dims
    if kind is dtypes.variant:
        raise invalid_argument(f"No rows, hence no results of type {spec!r} to put together")
    shape = [0, *[d or 0 for d in inner]]
    return convert.to_tensor(np.zeros(shape, kind.numpy), kind)


def _staged(parts: Any, count: Any, wanted: Sequence[Any]) -> list[list[Any]]:
    """The columns of results that a loop in the graph collects."""
    kinds = [(spec, kind) for spec in wanted for kind in _kinds(spec)]
    arrays = [
        TensorArray(kind, size=count, infer_shape=not _is_ragged(spec), element_shape=None)
        for spec, kind in kinds
    ]

    def body(index: Any, *state: Any) -> list[Any]:
        flat = [tensor for own in parts(index) for tensor in own]
        written = [a.write(index, t) for a, t in zip(state, flat, strict=True)]
        return [raw.AddV2(index, convert.to_tensor(1, dtypes.int32)), *written]

    start = [convert.to_tensor(0, dtypes.int32), *arrays]
    ends = control_flow.while_loop(lambda index, *_: raw.Less(index, count), body, start)
    staged = [
        array.concat() if _is_ragged(spec) else array.stack()
        for array, (spec, _) in zip(ends[1:], kinds, strict=True)
    ]
    found = iter(staged)
    return [[next(found) for _ in _kinds(spec)] for spec in wanted]
