"""Elements and their types: structures of tensors, and other values made of tensors.

In datasets tuples and mappings are structure, and lists are tensors, as
https://www.tensorflow.org/api_docs/python/tf/data/Dataset says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base import nest
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import DType
from intaglio.base.shapes import Dims
from intaglio.op import convert
from intaglio.op.tensor import Tensor
from intaglio.runtime.eager import from_array
from intaglio.trace.extension_type import ExtensionTypeSpec
from intaglio.trace.type_spec import TensorSpec, TypeSpec


class NoneTensorSpec(TypeSpec):
    """The type of None in the place of a tensor."""

    __slots__ = ()

    @property
    def value_type(self) -> Any:
        return type(None)

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    @property
    def _component_specs(self) -> Any:
        return ()

    def _to_components(self, value: Any) -> Any:
        return ()

    def _from_components(self, components: Any) -> Any:
        return None

    def to_tensors(self, value: Any) -> list[Any]:
        return []

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        return None

    def __repr__(self) -> str:
        return "NoneTensorSpec()"


def is_structure(value: Any) -> bool:
    """True for tuples, mappings and the like; False for lists, tensors, datasets."""
    return not isinstance(value, list) and nest.is_nested(value)


def normalized(value: Any) -> Any:
    """An element as the user wrote it with its leaves as tensors.

    Raises TypeError or ValueError for what cannot become a tensor.
    """
    if is_structure(value):
        kind = nest.kind_of(value)
        return nest.rebuild(value, [normalized(v) for v in nest.items(value, kind)])
    if value is None or isinstance(value, (Tensor, CompositeTensor, TypeSpec)):
        return value
    return convert.to_tensor(value)


def spec_of(value: Any) -> Any:
    """The structure of specs of a normalized element."""
    return nest.map_structure(_spec_of_leaf, value)


def _spec_of_leaf(value: Any) -> TypeSpec:
    if isinstance(value, Tensor):
        return TensorSpec(value.dims, value.dtype)
    return NoneTensorSpec() if value is None else value._type_spec


def flat_specs(structure: Any) -> list[TensorSpec]:
    """The TensorSpecs of an element's components."""
    return [t for spec in nest.flatten(structure) for t in spec.flatten()]


def has_sparse(structure: Any) -> bool:
    """True for elements with sparse tensors."""
    return any(
        [s.value_type.__name__ == "SparseTensor" for s in nest.flatten(structure)]
    )


def demand_dense(structure: Any, transformation: str) -> None:
    """Raises NotImplementedError for elements with parts that are cut along no common dimension."""
    for spec in nest.flatten(structure):
        # The components of an extension type's values are rows of those of their batch.
        if len(spec.flatten()) > 1 and not isinstance(spec, ExtensionTypeSpec):
            raise NotImplementedError(
                f"{transformation} of elements of type {spec!r}: take them apart with `map` "
                "before, and put them together with `map` after"
            )


def output_attrs(structure: Any) -> dict[str, Any]:
    """`output_types` and `output_shapes` as ops take them."""
    specs = flat_specs(structure)
    return {
        "output_types": tuple([s.dtype for s in specs]),
        "output_shapes": tuple([s.dims for s in specs]),
    }


def flat_tensors(structure: Any, value: Any) -> list[Tensor]:
    """A normalized element's components."""
    specs = nest.flatten(structure)
    values = nest.flatten_up_to(structure, value)
    return [t for s, v in zip(specs, values, strict=True) for t in s.to_tensors(v)]


def packed(structure: Any, tensors: Sequence[Tensor]) -> Any:
    """The element with these components."""
    remaining = iter(tensors)
    return nest.map_structure(lambda spec: spec.from_tensors(remaining), structure)


def packer(structure: Any) -> Any:
    """A function from the arrays of components to the element, with eager tensors."""
    if type(structure) is TensorSpec:
        return lambda arrays: from_array(arrays[0])
    if type(structure) is tuple and all(type(s) is TensorSpec for s in structure):
        return lambda arrays: tuple([from_array(a) for a in arrays])
    return lambda arrays: packed(structure, [from_array(a) for a in arrays])


def compatible(one: Any, other: Any) -> Any:
    """The most specific structure above both.

    Raises TypeError if they are nested in different ways or no types are above both.
    """
    try:
        nest.assert_same_structure(one, other)
    except (TypeError, ValueError):
        raise TypeError(
            f"Incompatible dataset elements:\n  {one} vs.   {other}"
        ) from None
    joined = [
        a.most_specific_common_supertype([b])
        for a, b in zip(nest.flatten(one), nest.flatten(other), strict=True)
    ]
    if any(j is None for j in joined):
        raise TypeError(f"Incompatible dataset elements:\n  {one} vs.   {other}")
    return nest.pack_sequence_as(one, joined)


def as_numpy(value: Any) -> Any:
    """An element with arrays in the place of tensors."""

    def array(leaf: Any) -> Any:
        return leaf.numpy() if hasattr(leaf, "numpy") else leaf

    return nest.map_structure(array, value)


def zeros(dtype: DType, dims: Dims) -> Any:
    """What padding is made of where the user names no value."""
    return b"" if dtype.name == "string" else np.zeros((), dtype.numpy)
