"""Construction of Dataset objects from their variant tensors, which transformations share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors, nest
from intaglio.base.dtypes import int64
from intaglio.data import element
from intaglio.data.hooks import HOOKS
from intaglio.data.tracing import Traced, arguments_of
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import EagerTensor
from intaglio.type_specs.type_spec import BatchableTypeSpec


@functools.cache
def kind(name: str, base: Any) -> Any:
    """A subclass of Dataset of that name, which shows in the repr."""
    return type(name, (base,), {"__module__": base.__module__})


def dataset_of_handle(name: str, handle: Tensor, structure: Any, inputs: Sequence[Any] = ()) -> Any:
    """A dataset of a handle that prints as `name`, with the merged options of its input datasets."""
    base = next((d.base_of_derived for d in inputs if d.base_of_derived), HOOKS.dataset)
    dataset = kind(name, base)(handle)
    dataset._element_spec = structure
    for other in inputs:
        dataset._options = dataset._options.merge(other._options)
    return dataset


def scalar(value: Any, name: str) -> Tensor:
    """A count or size as an int64 scalar. Raises InvalidArgumentError for larger tensors."""
    found = integers(value, name)
    if found.dims:
        raise errors.invalid_argument(f"{name} must be a scalar")
    return found


def integers(value: Any, name: str) -> Tensor:
    """Counts or sizes as an int64 tensor."""
    if not isinstance(value, Tensor):
        return convert.to_tensor(value, int64, name)
    return value if value.dtype is int64 else raw.Cast(value, DstT=int64)


def constant(value: Any) -> Any:
    """The Python number behind a value, or None if a graph computes it."""
    if isinstance(value, EagerTensor):
        return value.numpy().item()
    if isinstance(value, Tensor):
        known = getattr(value, "spec", None)
        return None if known is None or known.value is None else known.value.item()
    return value.item() if isinstance(value, np.generic) else value


def transformed(
    op: Callable[..., Any], label: str, dataset: Any, /, *arguments: Any, **attrs: Any
) -> Any:
    """A dataset whose variant is the result of an op on another's, with elements of the same type."""
    structure = attrs.pop("structure", dataset.element_spec)
    handle = op(dataset.handle_tensor, *arguments, **element.output_attrs(structure), **attrs)
    return dataset_of_handle(label, handle, structure, [dataset])


def in_rows(dataset: Any) -> Any:
    """The dataset with elements whose components can be sliced along the first dimension.

    Tensors have rows; other values are written again, each of their rows on its own.
    """
    structure = dataset.element_spec
    if element.is_dense(structure):
        return dataset

    def rows(*arguments: Any) -> Any:
        value = element.whole(structure, arguments)
        return tuple(element.flat_rows(structure, value))

    return retyped(dataset.map(rows), structure)


def retyped(dataset: Any, structure: Any) -> Any:
    """The dataset with the same components as elements of another type."""
    return dataset_of_handle(type(dataset).__name__, dataset.handle_tensor, structure, [dataset])


def traced(function: Any, dataset: Any, transformation: str) -> Traced:
    """A function of the dataset's elements, as a graph."""
    return Traced(function, arguments_of(dataset.element_spec), transformation)


def predicate(function: Any, dataset: Any, transformation: str) -> Traced:
    """A predicate of the dataset's elements. Raises ValueError unless it returns a bool scalar."""
    found = traced(function, dataset, transformation)
    spec = found.structure
    known = getattr(spec, "dtype", None)
    if known is None or known.name != "bool" or spec.dims not in ((), None):
        raise ValueError(
            "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its "
            f"return type is {spec}."
        )
    return found


def inner_dataset(found: Traced, parameter: str) -> Any:
    """The type of the elements of the dataset that a function returns.

    Raises TypeError if it returns something else.
    """
    inner = getattr(found.structure, "element_spec", None)
    if inner is None or not isinstance(found.value, HOOKS.dataset):
        raise TypeError(
            f"The `{parameter}` argument must return a `Dataset` object. Got {type(found.value)!r}."
        )
    return inner


def batched(structure: Any, size: int | None) -> Any:
    """The type of batches of elements. Raises TypeError for elements that cannot be batched."""

    def one(spec: Any) -> Any:
        if not isinstance(spec, BatchableTypeSpec):
            raise TypeError(
                f"Dataset.batch() of elements of type {spec!r}, which cannot be put together: "
                "make its type a tf.experimental.BatchableExtensionType."
            )
        return spec._batch(size)

    return nest.map_structure(one, structure)


def padded_specs(structure: Any, padded_shapes: Any, size: int | None) -> tuple[list[Any], Any]:
    """The padded shapes as int64 vectors, -1 for what the elements decide, and the new type."""
    specs = nest.flatten(structure)
    if padded_shapes is None:
        if any(s.dims is None for s in specs):
            raise ValueError(
                "You must provide `padded_shapes` argument because component "
                f"{[s.dims for s in specs].index(None)} has unknown rank."
            )
        shapes: Sequence[Any] = [s.dims for s in specs]
    else:
        shapes = nest.flatten_up_to(structure, padded_shapes)
    vectors: list[Any] = []
    batched_specs: list[Any] = []
    for spec, shape in zip(specs, shapes, strict=True):
        if isinstance(shape, Tensor) and not isinstance(shape, EagerTensor):
            # Computed by the graph: how long each side is shows when it runs.
            rank = None if shape.dims is None else shape.dims[0]
            vectors.append(raw.Cast(shape, DstT=int64))
            dims = None if rank is None else (None,) * rank
            batched_specs.append(type(spec)(dims, spec.dtype)._batch(size))
            continue
        if isinstance(shape, Tensor):
            values = constant_vector(shape)
        else:
            # A number is the only dimension's length, as in `tf.TensorShape`.
            number = isinstance(shape, (int, np.integer)) and shape >= 0
            sides: Any = [shape] if number else shape
            if isinstance(sides, (str, bytes, int, float)):
                raise ValueError(
                    f"Padded shape {shape} must be a `tf.int64` vector tensor, but its shape was ()."
                )
            dims = sides.as_list() if hasattr(sides, "as_list") else list(sides)
            if any(isinstance(d, float) for d in dims):
                raise TypeError(
                    f"Padded shape {shape} must be a `tf.int64` vector tensor, but its "
                    "element type was float32."
                )
            values = [-1 if d is None else int(d) for d in dims]
            for v in values:
                if v < -1:
                    raise ValueError(f"Dimension {v} must be >= 0")
        if spec.dims is not None and (
            len(spec.dims) != len(values)
            or any(0 <= v < (d or 0) for v, d in zip(values, spec.dims, strict=True))
        ):
            raise ValueError(
                f"The padded shape {_shape_text(values)} is not compatible with the shape "
                f"{spec.shape} of the corresponding input component."
            )
        vectors.append(np.asarray(values, np.int64))
        dims = tuple([None if v < 0 else v for v in values])
        batched_specs.append(type(spec)(dims, spec.dtype)._batch(size))
    return vectors, nest.pack_sequence_as(structure, batched_specs)


def _shape_text(values: Sequence[int]) -> str:
    return str(tuple([None if v < 0 else v for v in values]))


def constant_vector(tensor: Tensor) -> list[int]:
    """The elements of an eager vector; a scalar is one of one element."""
    return np.atleast_1d(np.asarray(tensor)).tolist()


def padding(structure: Any, padding_values: Any) -> list[Tensor]:
    """The padding of each component. Raises TypeError for one of another dtype."""
    specs = nest.flatten(structure)
    if padding_values is None:
        values: Sequence[Any] = [None] * len(specs)
    elif nest.is_nested(padding_values):
        values = nest.flatten_up_to(structure, padding_values)
    else:
        values = [padding_values] * len(specs)
    return [_padding_of(s, v) for s, v in zip(specs, values, strict=True)]


def _padding_of(spec: Any, value: Any) -> Tensor:
    if value is None:
        return convert.to_tensor(element.zeros(spec.dtype), spec.dtype)
    found = convert.to_tensor(value)
    if found.dtype is not spec.dtype:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type {found.dtype} does not match "
            f"type {spec.dtype} of the corresponding input component."
        )
    if found.dims:
        raise ValueError(
            f"Invalid `padding_values`. `padding_values` values should be scalars, but got {found.shape}."
        )
    return found


def is_dataset(value: Any) -> bool:
    """True for datasets."""
    return isinstance(value, HOOKS.dataset)


def determinism(deterministic: bool | None) -> str:
    """The attribute of ops that says whether they keep the order."""
    return {None: "default", True: "true", False: "false"}[deterministic]
