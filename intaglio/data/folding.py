"""The methods of datasets with a state or groups: reduce, scan, group_by_window, buckets.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Dataset.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import nest
from intaglio.base.dtypes import int32, int64
from intaglio.base.shapes import TensorShape
from intaglio.data import building, element
from intaglio.data.specs import DatasetSpec
from intaglio.data.tracing import Traced, arguments_of
from intaglio.opdef import convert, raw
from intaglio.trace.scopes import control_dependencies
from intaglio.type_specs.type_spec import TensorSpec


def _stepped(
    function: Callable[..., Any], state: Any, dataset: Any, transformation: str, parameter: str
) -> tuple[Traced, Any]:
    """The function of state and element, and the state's type once shapes have been relaxed.

    Raises TypeError if the next state is of another type.
    """
    while True:
        argument_specs = (state, dataset.element_spec)
        found = Traced(function, argument_specs, transformation)
        after = found.structure
        if parameter == "scan_func":
            if type(after) is not tuple or len(after) != 2:
                raise TypeError(
                    "Invalid `scan_func`. `scan_func` should return a pair consisting of new "
                    f"state and the output value but its return type is {after}."
                )
            after = after[0]
        wider = _wider(state, after, parameter)
        if wider == state:
            return found, state
        state = wider


def _wider(before: Any, after: Any, parameter: str) -> Any:
    try:
        nest.assert_same_structure(before, after)
    except (ValueError, TypeError) as e:
        raise TypeError(
            f"Invalid `{parameter}`. The element structure for the new state must match the "
            f"initial state. Expected {before}, got {after}."
        ) from e
    joined: list[Any] = []
    for old, new in zip(nest.flatten(before), nest.flatten(after), strict=True):
        wide = old.most_specific_common_supertype([new])
        if wide is None:
            scan = parameter == "scan_func"
            raise TypeError(
                f"{'Invalid `scan_func`. ' if scan else ''}The element types for the new state "
                f"must match the initial state. Expected {getattr(old, 'dtype', old)}"
                f"{', got' if scan else ' but got'} {getattr(new, 'dtype', new)}."
            )
        joined.append(wide)
    return nest.pack_sequence_as(before, joined)


def reduced(dataset: Any, initial_state: Any, function: Any, name: str | None) -> Any:
    """The state after all elements."""
    value = element.normalized(initial_state)
    found, state = _stepped(
        function, element.spec_of(value), dataset, "Dataset.reduce()", "reduce_func"
    )
    tensors = raw.ReduceDataset(
        dataset.handle_tensor,
        element.flat_tensors(state, value),
        found.captures,
        f=found.graph,
        **element.output_attrs(state),
        name=name,
    )
    return element.packed(state, tensors)


def scanned(dataset: Any, initial_state: Any, function: Any, name: str | None) -> Any:
    """Elements computed with a state."""
    value = element.normalized(initial_state)
    found, state = _stepped(
        function, element.spec_of(value), dataset, "Dataset.scan()", "scan_func"
    )
    structure = found.structure[1]
    handle = raw.ScanDataset(
        dataset.handle_tensor,
        element.flat_tensors(state, value),
        found.captures,
        f=found.graph,
        **element.output_attrs(structure),
        preserve_cardinality=True,
        name=name,
    )
    return building.dataset_of_handle("_ScanDataset", handle, structure, [dataset])


def grouped(
    dataset: Any,
    key_func: Any,
    reduce_func: Any,
    window_size: Any,
    window_size_func: Any,
    name: str | None,
) -> Any:
    """Windows of one key, each reduced to a dataset."""
    if (window_size is None) == (window_size_func is None):
        raise ValueError(
            "Either the `window_size` argument or the `window_size_func` argument must be specified."
        )
    key = TensorSpec((), int64)

    def sized(key: Any) -> Any:
        size = window_size if window_size_func is None else window_size_func(key)
        return raw.Cast(convert.to_tensor(size), DstT=int64)

    transformation = "Dataset.group_by_window()"
    keys = building.traced(key_func, dataset, transformation)
    spec = keys.structure
    if getattr(spec, "dims", None) != () or spec.dtype is not int64:
        raise ValueError(
            "Invalid `key_func`. `key_func` must return a single `tf.int64` scalar tensor, "
            f"but its return type is {spec}."
        )
    inner = DatasetSpec(dataset.element_spec)
    results = Traced(reduce_func, (key, inner), transformation)
    structure = getattr(results.structure, "element_spec", None)
    if not building.is_dataset(results.value):
        raise TypeError(
            "Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object "
            f"but its return type is {results.structure}."
        )
    sizes = Traced(sized, (key,), transformation)
    handle = raw.GroupByWindowDataset(
        dataset.handle_tensor,
        keys.captures,
        results.captures,
        sizes.captures,
        key_func=keys.graph,
        reduce_func=results.graph,
        window_size_func=sizes.graph,
        **element.output_attrs(structure),
        name=name,
    )
    return building.dataset_of_handle("_GroupByWindowDataset", handle, structure, [dataset])


def reduced_by_key(
    dataset: Any, key_func: Any, init_func: Any, reduce_func: Any, finalize_func: Any
) -> Any:
    """For each key one element."""
    transformation = "tf.data.experimental.group_by_reducer()"
    keys = building.traced(key_func, dataset, transformation)
    spec = keys.structure
    if getattr(spec, "dims", None) != () or spec.dtype is not int64:
        raise ValueError(
            "Invalid `key_func`. Expected `key_func` to return a scalar tf.int64 tensor, but "
            f"`key_func` returns {spec}."
        )
    first = Traced(init_func, (TensorSpec((), int64),), transformation)
    found, state = _stepped(
        reduce_func, first.structure, dataset, transformation, "reducer.reduce_func"
    )
    last = Traced(finalize_func, arguments_of(state), transformation)
    handle = raw.GroupByReducerDataset(
        dataset.handle_tensor,
        keys.captures,
        first.captures,
        found.captures,
        last.captures,
        key_func=keys.graph,
        init_func=first.graph,
        reduce_func=found.graph,
        finalize_func=last.graph,
        **element.output_attrs(last.structure),
    )
    return building.dataset_of_handle("_GroupByReducerDataset", handle, last.structure, [dataset])


def bucketed(
    dataset: Any,
    length_of: Callable[..., Any],
    boundaries: Sequence[int],
    batch_sizes: Sequence[int],
    padded_shapes: Any,
    padding_values: Any,
    pad_to_boundary: bool,
    no_padding: bool,
    drop_remainder: bool,
) -> Any:
    """Batches of elements of like lengths. Raises ValueError for sizes that do not fit."""
    if len(batch_sizes) != len(boundaries) + 1:
        raise ValueError(
            "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
            f"`len(bucket_batch_sizes)={len(batch_sizes)}` and "
            f"`len(bucket_boundaries)={len(boundaries)}`."
        )
    if any(a >= b for a, b in itertools.pairwise(boundaries)):
        raise ValueError(
            f"`bucket_boundaries` must be strictly increasing, but are {list(boundaries)}."
        )
    least = np.array([np.iinfo(np.int32).min, *boundaries], np.int32)
    most = np.array([*boundaries, np.iinfo(np.int32).max], np.int32)
    sizes = np.array(batch_sizes, np.int64)

    def bucket(*args: Any) -> Any:
        length = raw.Cast(convert.to_tensor(length_of(*args)), DstT=int32)
        inside = raw.LogicalAnd(raw.LessEqual(least, length), raw.Less(length, most))
        return raw.Min(raw.Where(inside), np.int32(0), keep_dims=False)[0]

    def size_of(number: Any) -> Any:
        return raw.GatherV2(sizes, number, np.int32(0))

    def together(number: Any, windows: Any) -> Any:
        size = size_of(number)
        if no_padding:
            return windows.batch(size, drop_remainder=drop_remainder)
        shapes = padded_shapes
        if pad_to_boundary:
            shapes = _up_to(boundaries, number, windows.element_spec, padded_shapes)
        return windows.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)

    return grouped(dataset, bucket, together, None, size_of, None)


def _up_to(boundaries: Sequence[int], number: Any, structure: Any, padded_shapes: Any) -> Any:
    """Padded shapes in which open dimensions are the bucket's boundary minus one.

    Raises InvalidArgumentError at elements as long as the last boundary.
    """
    last = np.int64(len(boundaries))
    message = (
        "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
    )
    check = raw.Assert(raw.Less(number, last), [message], summarize=3)
    limits = np.array([*boundaries, 0], np.int64) - 1
    with control_dependencies([check]):
        limit = raw.GatherV2(limits, number, np.int32(0))
    specs = nest.flatten(structure)
    argument_specs = (
        [spec.shape for spec in specs]
        if padded_shapes is None
        else nest.flatten_up_to(structure, padded_shapes)
    )
    shapes = [
        raw.Pack([limit if d is None or d == -1 else np.int64(d) for d in TensorShape(g).as_list()])
        if len(TensorShape(g))
        else np.zeros(0, np.int64)
        for g in argument_specs
    ]
    return nest.pack_sequence_as(structure, shapes)


class Reducer:
    """A reduction by three functions: the initial state, the next state, the result."""

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self._init_func = init_func
        self._reduce_func = reduce_func
        self._finalize_func = finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        """From a key to the first state."""
        return self._init_func

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """From a state and an element to the next state."""
        return self._reduce_func

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """From the last state to the result."""
        return self._finalize_func
