"""Recurrent networks of cells, over the steps of sequences.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/nn/dynamic_rnn and its neighbours. A cell
is a callable `output, state = cell(input, state)` with `output_size` and `state_size`: numbers, shapes, or
structures of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import nest
from intaglio.base.dtypes import as_dtype, int32, int64
from intaglio.base.shapes import TensorShape
from intaglio.compat_v1.variable_scopes import get_variable_scope, variable_scope
from intaglio.composite_ops.array import rearranging
from intaglio.opdef import convert, raw
from intaglio.trace import choices, scopes
from intaglio.type_specs.tensor_array import TensorArray


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """The outputs of all steps and the last state, computed in a loop.

    Args:
      inputs: a tensor or a structure of them, [batch, steps, ...], or [steps, batch, ...] with `time_major`.
      sequence_length: int vector of the batch's size: steps from there on give zeros and keep the state.
      initial_state: what the cell takes first; zeros of `dtype` if None.

    Returns outputs with the axes of `inputs`, in the structure of `cell.output_size`, and the state. Raises
    ValueError for inputs without a depth, and if neither an initial state nor a dtype is passed.
    """
    with variable_scope(scope or "rnn"):
        values = nest.map_structure(convert.to_tensor, inputs)
        if not time_major:
            values = nest.map_structure(_swapped, values)
        flat = nest.flatten(values)
        for value in flat:
            if value.shape.rank is not None and None in value.shape.as_list()[2:]:
                raise ValueError(
                    "Input size (depth of inputs) must be accessible via shape inference, but saw value None."
                )
        batch = _batch_size(flat)
        state = _first_state(cell, initial_state, batch, dtype)
        lengths = _lengths(sequence_length)
        arrays = nest.map_structure(
            lambda v: TensorArray(v.dtype, _steps(v), element_shape=v.shape[1:]).unstack(v), values
        )
        outputs, last = _unrolled(cell, flat[0], arrays, state, lengths, batch, dtype)
        if not time_major:
            outputs = nest.map_structure(_swapped, outputs)
        return outputs, last


def _unrolled(
    cell: Any, first: Any, inputs: Any, state: Any, lengths: Any, batch: Any, dtype: Any
) -> tuple[Any, Any]:
    steps = _steps(first)
    kind = as_dtype(dtype) if dtype is not None else nest.flatten(state)[0].dtype
    sizes = nest.map_structure(TensorShape, _sizes(cell.output_size))
    zeros = nest.map_structure(lambda size: _zeros(batch, size, kind), sizes)
    static_batch, static_steps = first.shape[1], first.shape[0]
    arrays = nest.map_structure(
        lambda zero: TensorArray(kind, steps, element_shape=zero.shape), zeros
    )

    def step(time: Any, arrays: Any, state: Any) -> Any:
        taken = nest.map_structure(lambda array: array.read(time), inputs)
        output, new = cell(taken, state)
        nest.assert_same_structure(zeros, output)
        nest.assert_same_structure(state, new)
        new = nest.pack_sequence_as(state, nest.flatten(new))
        if lengths is not None:
            ended = raw.LessEqual(lengths, time)
            output = _chosen(ended, zeros, output)
            new = _chosen(ended, state, new)
        written = [
            array.write(time, value)
            for array, value in zip(nest.flatten(arrays), nest.flatten(output), strict=True)
        ]
        return time + 1, nest.pack_sequence_as(arrays, written), new

    _, arrays, last = choices.while_loop(
        lambda time, *_: time < steps, step, (convert.to_tensor(0), arrays, state)
    )
    outputs = nest.map_structure(lambda array: array.stack(), arrays)
    for value, size in zip(nest.flatten(outputs), nest.flatten(sizes), strict=True):
        value.set_shape([static_steps, static_batch, *size.as_list()])
    return outputs, last


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """`dynamic_rnn` from both ends: (outputs, outputs of the second), (state, state of the second)."""
    steps, batch = (0, 1) if time_major else (1, 0)

    def reversed_in_time(value: Any) -> Any:
        if sequence_length is None:
            return raw.ReverseV2(value, [steps])
        return rearranging.reverse_sequence(
            value, sequence_length, seq_axis=steps, batch_axis=batch
        )

    with variable_scope(scope or "bidirectional_rnn"):
        values = nest.map_structure(convert.to_tensor, inputs)
        with variable_scope("fw") as own:
            outputs, state = dynamic_rnn(
                cell_fw,
                values,
                sequence_length,
                initial_state_fw,
                dtype,
                time_major=time_major,
                scope=own,
            )
        with variable_scope("bw") as own:
            outputs_bw, state_bw = dynamic_rnn(
                cell_bw,
                nest.map_structure(reversed_in_time, values),
                sequence_length,
                initial_state_bw,
                dtype,
                time_major=time_major,
                scope=own,
            )
    return (outputs, nest.map_structure(reversed_in_time, outputs_bw)), (state, state_bw)


def static_rnn(
    cell: Any,
    inputs: Sequence[Any],
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """The outputs of all steps, a list as `inputs` is, and the last state; no loop.

    Each input is [batch, depth], or a structure of such. Raises TypeError for inputs that are no list,
    ValueError for an empty list, and if neither an initial state nor a dtype is passed.
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Argument `inputs` must be a sequence. Received: {inputs}")
    if not inputs:
        raise ValueError("Argument `inputs` must not be empty.")
    outputs: list[Any] = []
    with variable_scope(scope or "rnn"):
        values = [nest.map_structure(convert.to_tensor, value) for value in inputs]
        flat = nest.flatten(values[0])
        batch = raw.Shape(flat[0])[0] if flat[0].shape[:1].as_list() == [None] else flat[0].shape[0]
        state = _first_state(cell, initial_state, batch, dtype)
        lengths = _lengths(sequence_length)
        for time, value in enumerate(values):
            if time:
                get_variable_scope().reuse_variables()
            output, new = cell(value, state)
            if lengths is not None:
                ended = raw.LessEqual(lengths, time)
                output = _chosen(ended, nest.map_structure(raw.ZerosLike, output), output)
                new = _chosen(ended, state, new)
            outputs.append(output)
            state = new
    return outputs, state


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Sequence[Any],
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any, Any]:
    """`static_rnn` from both ends: outputs of both, joined along their last axis, and both last states."""
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as own:
            outputs, state = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, own
            )
        with variable_scope("bw") as own:
            backwards = _reversed_steps(inputs, sequence_length)
            outputs_bw, state_bw = static_rnn(
                cell_bw, backwards, initial_state_bw, dtype, sequence_length, own
            )
    joined = [
        nest.map_structure(lambda x, y: raw.ConcatV2([x, y], 1), x, y)
        for x, y in zip(outputs, _reversed_steps(outputs_bw, sequence_length), strict=True)
    ]
    return joined, state, state_bw


def static_state_saving_rnn(
    cell: Any,
    inputs: Sequence[Any],
    state_saver: Any,
    state_name: Any,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """`static_rnn` between states that `state_saver` reads and writes by name (`state`, `save_state`).

    `state_name` has the structure of `cell.state_size`. Raises ValueError for another.
    """
    nest.assert_same_structure(cell.state_size, state_name)
    names = nest.flatten(state_name)
    first = nest.pack_sequence_as(cell.state_size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, first, sequence_length=sequence_length, scope=scope)
    saves = [
        state_saver.save_state(name, value)
        for name, value in zip(names, nest.flatten(state), strict=True)
    ]
    with scopes.control_dependencies([save for save in saves if save is not None]):
        outputs[-1] = nest.map_structure(raw.Identity, outputs[-1])
    return outputs, state


def raw_rnn(
    cell: Any,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Steps of a cell whose inputs, states and ends a function decides.

    `loop_fn(time, cell_output, cell_state, loop_state)` returns `(elements_finished, next_input,
    next_cell_state, emit_output, next_loop_state)`; before the first step, the output and states that it
    gets are None, and `emit_output` is the structure of what is emitted, without the batch axis, or None.

    Returns the TensorArrays of what was emitted, the last state, and the last loop state.
    """
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn"):
        zero = convert.to_tensor(0)
        ended, value, state, emitted, loop_state = loop_fn(zero, None, None, None)
        ended, value = convert.to_tensor(ended), nest.map_structure(convert.to_tensor, value)
        state = nest.map_structure(convert.to_tensor, state)
        if emitted is None:
            kind = nest.flatten(state)[0].dtype
            shapes = nest.map_structure(TensorShape, _sizes(cell.output_size))
            kinds = nest.map_structure(lambda _: kind, shapes)
        else:
            emitted = nest.map_structure(convert.to_tensor, emitted)
            shapes = nest.map_structure(lambda e: e.shape, emitted)
            kinds = nest.map_structure(lambda e: e.dtype, emitted)
        batch = _batch_size([raw.ExpandDims(v, 0) for v in nest.flatten(value)])
        zeros = nest.map_structure(lambda s, k: _zeros(batch, s, k), shapes, kinds)
        arrays = nest.map_structure(
            lambda z: TensorArray(z.dtype, 0, dynamic_size=True, element_shape=z.shape), zeros
        )
        carried = convert.to_tensor(0) if loop_state is None else loop_state

        def step(time: Any, ended: Any, value: Any, arrays: Any, state: Any, carried: Any) -> Any:
            output, new = cell(value, state)
            then = time + 1
            found = loop_fn(then, output, new, None if loop_state is None else carried)
            then_ended, value, new, emit, then_carried = found
            emit = output if emit is None else emit
            emit = _chosen(ended, zeros, emit)
            new = _chosen(ended, state, new)
            written = [
                array.write(time, e)
                for array, e in zip(nest.flatten(arrays), nest.flatten(emit), strict=True)
            ]
            arrays = nest.pack_sequence_as(arrays, written)
            ended = raw.LogicalOr(ended, convert.to_tensor(then_ended))
            return then, ended, value, arrays, new, carried if loop_state is None else then_carried

        _, _, _, arrays, state, carried = choices.while_loop(
            lambda time, ended, *_: raw.LogicalNot(raw.All(ended, [0])),
            step,
            (zero, ended, value, arrays, state, carried),
        )
        return arrays, state, None if loop_state is None else carried


# -- parts ---------------------------------------------------------------------------------


def _swapped(value: Any) -> Any:
    """A batch of steps as steps of a batch, and the other way."""
    rank = value.shape.rank
    if rank is not None and rank < 2:
        raise ValueError(f"Expected input tensor {value.name} to have rank at least 2, not {rank}")
    if rank is None:
        others = raw.Range(2, raw.Rank(value), 1)
        return raw.Transpose(value, raw.ConcatV2([convert.to_tensor([1, 0]), others], 0))
    return raw.Transpose(value, [1, 0, *range(2, rank)])


def _steps(value: Any) -> Any:
    """The number of steps, known or in a tensor."""
    return raw.Shape(value)[0] if value.shape[0] is None else value.shape[0]


def _batch_size(flat: Sequence[Any]) -> Any:
    """The size of the batch, the second axis; known, if one value knows it."""
    known = [v.shape[1] for v in flat if v.shape.rank is not None and v.shape[1] is not None]
    return known[0] if known else raw.Shape(flat[0])[1]


def _sizes(size: Any) -> Any:
    """Sizes as a structure whose leaves are numbers or shapes."""
    return [size] if isinstance(size, list) and all(isinstance(n, int) for n in size) else size


def _zeros(batch: Any, size: Any, dtype: Any) -> Any:
    dims = [batch, *TensorShape(size).as_list()]
    if not isinstance(batch, int):
        dims = raw.Pack([convert.to_tensor(d, int32) for d in dims])
    return raw.Fill(dims, raw.Cast(convert.to_tensor(0), DstT=as_dtype(dtype)))


def _first_state(cell: Any, initial_state: Any, batch: Any, dtype: Any) -> Any:
    if initial_state is not None:
        return nest.map_structure(convert.to_tensor, initial_state)
    if dtype is None:
        raise ValueError("If no initial_state is provided, argument `dtype` must be specified")
    make = getattr(cell, "get_initial_state", None)
    if make is not None:
        return make(inputs=None, batch_size=batch, dtype=dtype)
    return cell.zero_state(batch, dtype)


def _lengths(lengths: Any) -> Any:
    """The lengths of the sequences as int32. Raises ValueError for anything but a vector."""
    if lengths is None:
        return None
    found = convert.to_tensor(lengths)
    if found.shape.rank not in (None, 1):
        raise ValueError(
            "Argument sequence_length must be a vector of length batch_size. Received "
            f"sequence_length={lengths} of shape: {found.shape}"
        )
    return raw.Cast(found, DstT=int32) if found.dtype is int64 else found


def _chosen(ended: Any, before: Any, after: Any) -> Any:
    """Where sequences have ended, what was before; states without a batch go on."""

    def choose(x: Any, y: Any) -> Any:
        if isinstance(y, TensorArray):
            return y
        y = convert.to_tensor(y)
        rank = y.shape.rank
        if rank == 0:
            return y
        return raw.Select(ended, x, y)

    return nest.map_structure(choose, before, after)


def _reversed_steps(values: Sequence[Any], lengths: Any) -> list[Any]:
    """The steps from the last to the first; with lengths, those of each sequence alone."""
    if lengths is None:
        return list(reversed(values))
    flat = [nest.flatten(value) for value in values]
    columns = [
        rearranging.unstack(
            rearranging.reverse_sequence(raw.Pack(list(column)), lengths, 0, 1), num=len(values)
        )
        for column in zip(*flat, strict=True)
    ]
    return [
        nest.pack_sequence_as(value, list(row))
        for value, row in zip(values, zip(*columns, strict=True), strict=True)
    ]
