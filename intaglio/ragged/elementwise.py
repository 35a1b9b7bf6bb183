"""Functions that work element by element, applied to ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.opdef import convert
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import broadcasting, checks, core
from intaglio.ragged.core import Ragged

_SCALARS = (int, float, complex, bool, str, bytes)


def unary(function: Callable[[Any], Any], x: Any) -> Any:
    """`function` of the values of `x`."""
    return x.with_flat_values(function(x.flat_values))


def binary(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """`function` of the values of both, brought to one shape."""
    dtype = next((v.dtype for v in (x, y) if isinstance(v, (Ragged, Tensor))), None)
    operands = [_operand(v, dtype) for v in (x, y)]
    flats, partitions = broadcasting.together(operands)
    return core.nested(function(*flats), partitions)


def _operand(value: Any, dtype: Any) -> Any:
    if isinstance(value, (Ragged, Tensor, *_SCALARS)):
        return value
    return convert.to_tensor(value, dtype_hint=dtype)


def assertion(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """An assertion on the values of both, brought to one shape."""
    dtype = next((v.dtype for v in (x, y) if isinstance(v, (Ragged, Tensor))), None)
    flats, _ = broadcasting.together([_operand(v, dtype) for v in (x, y)])
    return function(*flats)


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`op` of the flat values of all ragged arguments, which have to have equal rows.

    Raises ValueError if the result has not as many values.
    """
    found: list[Any] = []
    plain = [_flat_of(a, found) for a in args]
    named = {k: _flat_of(v, found) for k, v in kwargs.items()}
    if not found:
        return op(*args, **kwargs)
    _check_sizes(found)
    partitions = merged_partitions(found)
    return core.nested(_checked(op(*plain, **named), found), partitions)


def _flat_of(value: Any, found: list[Any]) -> Any:
    """`value` with flat values for its ragged tensors, which go to `found`."""
    if isinstance(value, Ragged):
        found.append(value)
        return value.flat_values
    if isinstance(value, list):
        return [_flat_of(v, found) for v in value]
    if isinstance(value, tuple):
        return tuple([_flat_of(v, found) for v in value])
    return {k: _flat_of(v, found) for k, v in value.items()} if isinstance(value, dict) else value


def _check_sizes(operands: list[Any]) -> None:
    sizes = {x.flat_values.dims[0] for x in operands if x.flat_values.dims}
    sizes.discard(None)
    if len(sizes) > 1:
        raise ValueError(
            "Input RaggedTensors' flat_values must all have the same outer-dimension size.  "
            f"Got sizes: {sizes}"
        )


def _checked(result: Any, operands: list[Any]) -> Any:
    tensor = convert.to_tensor(result)
    sizes = {x.flat_values.dims[0] for x in operands if x.flat_values.dims}
    size = next((s for s in sizes if s is not None), None)
    dims = tensor.dims
    wrong = dims is not None and (not dims or (None not in (dims[0], size) and dims[0] != size))
    if wrong:
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same "
            "outer-dimension size as flat_values of any ragged inputs. (output shape: "
            f"{tensor.shape}; expected outer dimension size: {size})"
        )
    return tensor


def merged_partitions(operands: list[Any]) -> Any:
    """The partitions of the first operand, which the others have to have as well."""
    first = operands[0]
    text = "RowPartition._merge_precomputed_encodings: partitions have incompatible row_splits"
    for other in operands[1:]:
        pairs = zip(first.nested_row_splits, other.nested_row_splits, strict=True)
        for a, b in pairs:
            checks.same_splits(a, b, text)
    return first.nested_partitions
