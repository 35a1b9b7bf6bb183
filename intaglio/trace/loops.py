"""Loops over the first dimension of tensors: map, fold and scan, eagerly and recorded.

Follows https://www.tensorflow.org/api_docs/python/tf/map_fn,
https://www.tensorflow.org/api_docs/python/tf/foldl and
https://www.tensorflow.org/api_docs/python/tf/scan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base import nest
from intaglio.base.dtypes import DType, as_dtype, int32
from intaglio.base.errors import OutOfRangeError, invalid_argument
from intaglio.base.shapes import Dims
from intaglio.opdef import convert, raw
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.ops.control_flow.tensor_list import element_form
from intaglio.trace.control_flow import recording, while_loop
from intaglio.trace.scopes import name_scope

_ROW = np.int32(0)


class Rows:
    """A structure of tensors taken apart along the first dimension.

    In a recorded loop the rows of tensors that gradients flow through come from lists,
    so that each iteration's gradient is one row and not a whole tensor.
    """

    def __init__(self, elems: Any, reverse: bool = False) -> None:
        self.elems = nest.map_structure(convert.to_tensor, elems)
        self.flat: list[Tensor] = nest.flatten(self.elems)
        if not self.flat:
            raise ValueError("elems must be a Tensor or a nonempty structure of them.")
        for tensor in self.flat:
            if tensor.dims == ():
                raise ValueError(
                    f"elements in elems must be 1+ dimensional Tensors, not scalars: {tensor!r}"
                )
        self.reverse = reverse
        self.count = next((t.dims[0] for t in self.flat if t.dims), None)
        self._check_lengths()

    def _check_lengths(self) -> None:
        known = {t.dims[0] for t in self.flat if t.dims and t.dims[0] is not None}
        if len(known) > 1:
            raise ValueError(f"elems must have the same first dimension, but have {sorted(known)}")
        if known:
            self.count = known.pop()

    @property
    def length(self) -> Any:
        """The number of rows: an integer, or a scalar tensor."""
        if self.count is not None:
            return self.count
        return raw.Shape(self.flat[0], out_type=int32)[0]

    def packed(self, rows: Sequence[Tensor]) -> Any:
        """Rows of the tensors in the structure of `elems`."""
        return nest.pack_sequence_as(self.elems, list(rows))

    def __iter__(self) -> Iterator[Any]:
        """The rows, eagerly."""
        count = self.count or 0
        parts = [raw.Unpack(t, num=count, axis=0) if count else [] for t in self.flat]
        order = range(count - 1, -1, -1) if self.reverse else range(count)
        for i in order:
            yield self.packed([p[i] for p in parts])

    # -- recorded ------------------------------------------------------------------------

    def lists(self) -> list[Tensor]:
        """The loop-carried tensor lists that a recorded loop takes rows from."""
        return [
            raw.TensorListFromTensor(t if self.reverse else raw.ReverseV2(t, [0]), _row_form(t))
            for t in self.flat
            if _differentiable(t)
        ]

    def take(self, iteration: Any, lists: Sequence[Tensor]) -> tuple[Any, list[Tensor]]:
        """The row of an iteration, and the lists that the next iteration takes."""
        source = iter(lists)
        rest: list[Tensor] = []
        rows: list[Tensor] = []
        at = raw.Sub(raw.Sub(self.length, 1), iteration) if self.reverse else iteration
        for tensor in self.flat:
            if not _differentiable(tensor):
                rows.append(raw.GatherV2(tensor, at, _ROW))
                continue
            left, row = raw.TensorListPopBack(
                next(source), _row_form(tensor), element_dtype=tensor.dtype
            )
            rest.append(left)
            rows.append(row)
        return self.packed(rows), rest


def _differentiable(tensor: Tensor) -> bool:
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def _row_form(tensor: Tensor) -> np.ndarray:
    dims = tensor.dims
    return element_form(Spec(tensor.dtype, None if dims is None else dims[1:]))


class Stack:
    """Stacks the values of all iterations, as the rows of one tensor for each component."""

    def __init__(self, dtypes: Sequence[DType], count: int | None) -> None:
        self.dtypes = dtypes
        self.count = count
        self.dims: list[Dims] = [None] * len(dtypes)

    def start(self) -> list[Tensor]:
        """Empty lists for a recorded loop."""
        return [
            raw.EmptyTensorList(np.int32(-1), np.int32(-1), element_dtype=d) for d in self.dtypes
        ]

    def push(self, lists: Sequence[Tensor], values: Sequence[Tensor]) -> list[Tensor]:
        """The lists with an iteration's values."""
        self.dims = [v.dims for v in values]
        return [raw.TensorListPushBack(h, v) for h, v in zip(lists, values, strict=True)]

    def finish(self, lists: Sequence[Tensor], reverse: bool) -> list[Tensor]:
        """The rows as tensors."""
        count = -1 if self.count is None else self.count
        found = [
            raw.TensorListStack(h, element_form(Spec(d, dims)), element_dtype=d, num_elements=count)
            for h, d, dims in zip(lists, self.dtypes, self.dims, strict=True)
        ]
        return [raw.ReverseV2(v, [0]) if reverse else v for v in found]


def _stacked(rows: Sequence[Sequence[Tensor]], signature: Sequence[Any]) -> list[Any]:
    """Eager rows as tensors; without rows their type comes from the signature."""
    if rows:
        return [raw.Pack(list(column), axis=0) for column in zip(*rows, strict=True)]
    empty: list[Any] = []
    for spec in signature:
        dims = getattr(spec, "dims", None)
        shape = (0, *(d or 0 for d in dims)) if dims is not None else (0,)
        empty.append(convert.to_tensor(np.zeros(shape, as_dtype(spec).numpy)))
    return empty


# -- the functions -----------------------------------------------------------------------


def map_rows(
    fn: Callable[[Any], Any],
    elems: Any,
    signature: Any,
    parallel_iterations: int | None,
    name: str | None,
) -> Any:
    """`fn` of each row, as rows; `signature` has the dtypes (or specs) of what `fn` returns."""
    if not callable(fn):
        raise TypeError(f"The provided function {fn!r} is not callable.")
    with name_scope(name or "map"):
        rows = Rows(elems)
        if signature is None:
            signature = nest.map_structure(lambda t: t.dtype, rows.elems)
        wanted = nest.flatten(signature)

        def apply(row: Any) -> list[Tensor]:
            result = fn(row)
            nest.assert_same_structure(
                nest.map_structure(lambda _: 0, result),
                nest.map_structure(lambda _: 0, signature),
                False,
            )
            return [
                _of_dtype(v, as_dtype(s)) for v, s in zip(nest.flatten(result), wanted, strict=True)
            ]

        if recording() is None:
            values = _stacked([apply(row) for row in rows], wanted)
            return nest.pack_sequence_as(signature, values)
        stack = Stack([as_dtype(s) for s in wanted], rows.count)
        n = len(wanted)

        def body(iteration: Any, *state: Tensor) -> list[Tensor]:
            row, rest = rows.take(iteration, state[n:])
            return [raw.AddV2(iteration, 1), *stack.push(state[:n], apply(row)), *rest]

        ends = _counted(rows, body, [*stack.start(), *rows.lists()], parallel_iterations)
        return nest.pack_sequence_as(signature, stack.finish(ends[1 : 1 + n], False))


def _of_dtype(value: Any, dtype: DType) -> Tensor:
    tensor = convert.to_tensor(value, dtype_hint=dtype)
    if tensor.dtype is not dtype:
        raise invalid_argument(
            f"TensorArray dtype is {dtype.name} but Op is trying to write dtype {tensor.dtype.name}: name the types "
            "of the function's results with fn_output_signature."
        )
    return tensor


def _counted(
    rows: Rows,
    body: Callable[..., Any],
    state: Sequence[Tensor],
    parallel_iterations: int | None,
    start: int = 0,
    invariants: Sequence[Dims] | None = None,
) -> list[Tensor]:
    """A recorded loop with an iteration for each row."""
    length = rows.length
    first = convert.to_tensor(start, int32)
    return while_loop(
        lambda iteration, *_: raw.Less(iteration, length),
        body,
        [first, *state],
        shape_invariants=None if invariants is None else [(), *invariants],
        parallel_iterations=parallel_iterations or 10,
    )


def fold_rows(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any,
    parallel_iterations: int | None,
    reverse: bool,
    name: str,
) -> Any:
    """`fn(accumulated, row)` for each row, starting with the first row or an initializer."""
    if not callable(fn):
        raise TypeError(f"{fn.__class__.__name__} is not callable")
    with name_scope(name):
        rows = Rows(elems, reverse)
        if recording() is None:
            return _fold_now(fn, rows, initializer)
        value, lists, start = _first(rows, initializer)
        flat = nest.flatten(value)
        n = len(flat)

        def body(iteration: Any, *state: Tensor) -> list[Tensor]:
            row, rest = rows.take(iteration, state[n:])
            result = fn(nest.pack_sequence_as(value, list(state[:n])), row)
            return [raw.AddV2(iteration, 1), *_like(result, value, flat), *rest]

        ends = _counted(rows, body, [*flat, *lists], parallel_iterations, start)
        return nest.pack_sequence_as(value, ends[1 : 1 + n])


def _fold_now(fn: Callable[[Any, Any], Any], rows: Rows, initializer: Any) -> Any:
    source = iter(rows)
    if initializer is None:
        value = next(source, None)
        if value is None:
            raise _without_rows("fold")
    else:
        value = nest.map_structure(convert.to_tensor, initializer)
    for row in source:
        value = fn(value, row)
    return nest.map_structure(convert.to_tensor, value)


def _without_rows(what: str) -> Exception:
    text = f"The first row of 0 was to be read: a {what} of no rows needs an initializer."
    return OutOfRangeError(None, None, text)


def _first(rows: Rows, initializer: Any) -> tuple[Any, list[Tensor], int]:
    """The initial state of a recorded fold: its value, the lists of rows, the first iteration."""
    lists = rows.lists()
    if initializer is not None:
        return nest.map_structure(convert.to_tensor, initializer), lists, 0
    value, lists = rows.take(np.int32(0), lists)
    return value, lists, 1


def _like(result: Any, value: Any, flat: Sequence[Tensor]) -> list[Tensor]:
    """The flat result of a step, checked to have the structure and dtypes of its argument."""
    nest.assert_same_structure(value, result, False)
    return [
        convert.to_tensor(v, dtype_hint=before.dtype)
        for v, before in zip(nest.flatten(result), flat, strict=True)
    ]


def scan_rows(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any,
    parallel_iterations: int | None,
    infer_shape: bool,
    reverse: bool,
    name: str | None,
) -> Any:
    """Like a fold, with the values of all iterations as rows."""
    if not callable(fn):
        raise TypeError(f"{fn.__class__.__name__} is not callable")
    with name_scope(name or "scan"):
        rows = Rows(elems, reverse)
        if recording() is None:
            return _scan_now(fn, rows, initializer, reverse)
        value, lists, start = _first(rows, initializer)
        flat = nest.flatten(value)
        n = len(flat)
        stack = Stack([v.dtype for v in flat], rows.count)
        columns = stack.start()
        if start:
            columns = stack.push(columns, flat)

        def body(iteration: Any, *state: Tensor) -> list[Tensor]:
            row, rest = rows.take(iteration, state[2 * n :])
            result = fn(nest.pack_sequence_as(value, list(state[:n])), row)
            values = _like(result, value, flat)
            pushed = stack.push(state[n : 2 * n], values)
            return [raw.AddV2(iteration, 1), *values, *pushed, *rest]

        state = [*flat, *columns, *lists]
        open_shapes = [None if not infer_shape else v.dims for v in flat]
        invariants = [*open_shapes, *[()] * (n + len(lists))]
        ends = _counted(rows, body, state, parallel_iterations, start, invariants)
        return nest.pack_sequence_as(value, stack.finish(ends[1 + n : 1 + 2 * n], reverse))


def _scan_now(fn: Callable[[Any, Any], Any], rows: Rows, initializer: Any, reverse: bool) -> Any:
    source = iter(rows)
    results: list[list[Tensor]] = []
    if initializer is None:
        value = next(source, None)
        if value is None:
            raise _without_rows("scan")
        results.append(nest.flatten(value))
    else:
        value = nest.map_structure(convert.to_tensor, initializer)
    like = value
    flat = nest.flatten(like)
    for row in source:
        value = nest.pack_sequence_as(like, _like(fn(value, row), like, flat))
        results.append(nest.flatten(value))
    if reverse:
        results.reverse()
    return nest.pack_sequence_as(like, _stacked(results, flat))


__all__ = ["fold_rows", "map_rows", "scan_rows"]
