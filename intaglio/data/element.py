"""Elements of datasets and their types: structures of tensors and composite values.

In datasets tuples and mappings are structure, and lists are tensors, as
in https://www.tensorflow.org/api_docs/python/tf/data/Dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base import nest
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import DType
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import from_array
from intaglio.type_specs.type_spec import BatchableTypeSpec, TensorSpec, TypeSpec


class NoneTensorSpec(BatchableTypeSpec):
    """The type of None instead of a tensor."""

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

    def _batch(self, batch_size: int | None) -> NoneTensorSpec:
        return self

    def _unbatch(self) -> NoneTensorSpec:
        return self

    def __repr__(self) -> str:
        return "NoneTensorSpec()"


def is_structure(value: Any) -> bool:
    """True for tuples, mappings and the like; False for lists, tensors, datasets."""
    return not isinstance(value, list) and nest.is_nested(value)


def normalized(value: Any) -> Any:
    """A user's element with its leaves converted to tensors.

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
    """The TensorSpecs of an element's components. Raises TypeError for what is no structure of specs."""
    found: list[TensorSpec] = []
    for spec in nest.flatten(structure):
        if not isinstance(spec, TypeSpec):
            raise TypeError(f"Expected a structure of `tf.TypeSpec`s, got {spec!r}")
        found += spec._flat_tensor_specs
    return found


def output_attrs(structure: Any) -> dict[str, Any]:
    """`output_types` and `output_shapes` as ops take them."""
    specs = flat_specs(structure)
    return {
        "output_types": tuple([s.dtype for s in specs]),
        "output_shapes": tuple([s.dims for s in specs]),
    }


def flat_tensors(structure: Any, value: Any) -> list[Tensor]:
    """A normalized element's components."""
    return [t for spec, v in _parts(structure, value) for t in spec._to_tensor_list(v)]


def flat_rows(structure: Any, value: Any) -> list[Tensor]:
    """Tensors whose rows are the components of the element's rows.

    Raises ValueError for elements without rows, TypeError for those that have none by type.
    """
    return [t for spec, v in _parts(structure, value) for t in spec._to_batched_tensor_list(v)]


def _parts(structure: Any, value: Any) -> Any:
    return zip(nest.flatten(structure), nest.flatten_up_to(structure, value), strict=True)


def packed(structure: Any, tensors: Sequence[Tensor]) -> Any:
    """The element with these components."""
    remaining = iter(tensors)

    def one(spec: Any) -> Any:
        own = [next(remaining) for _ in spec._flat_tensor_specs]
        return spec._from_compatible_tensor_list(own)

    return nest.map_structure(one, structure)


def unbatched(spec: Any) -> Any:
    """The type of the rows of values of a type. Raises TypeError if they have none."""
    if not isinstance(spec, BatchableTypeSpec):
        raise TypeError(
            "Slicing dataset elements is only supported for types that may be batched, but "
            f"values of type {spec!r} may not: make its type a tf.experimental.BatchableExtensionType."
        )
    return spec._unbatch()


def is_dense(structure: Any) -> bool:
    """True for elements that are structures of tensors, whose components are these tensors."""
    return all(isinstance(spec, TensorSpec) for spec in nest.flatten(structure))


def whole(structure: Any, arguments: tuple[Any, ...]) -> Any:
    """The element, from the arguments of a mapped function."""
    return arguments if type(structure) is tuple else arguments[0]


def packer(structure: Any) -> Any:
    """A function from the arrays of components to the element, with eager tensors."""
    if type(structure) is TensorSpec:
        return lambda arrays: from_array(arrays[0])
    if type(structure) is tuple and all(type(s) is TensorSpec for s in structure):
        return lambda arrays: tuple([from_array(a) for a in arrays])
    return lambda arrays: packed(structure, [from_array(a) for a in arrays])


def compatible(one: Any, other: Any) -> Any:
    """The most specific common supertype of two structures.

    Raises TypeError if their structures differ or their types have no common supertype.
    """
    try:
        nest.assert_same_structure(one, other)
    except (TypeError, ValueError):
        raise TypeError(f"Incompatible dataset elements:\n  {one} vs.   {other}") from None
    joined = [
        a.most_specific_common_supertype([b])
        for a, b in zip(nest.flatten(one), nest.flatten(other), strict=True)
    ]
    if any(j is None for j in joined):
        raise TypeError(f"Incompatible dataset elements:\n  {one} vs.   {other}")
    return nest.pack_sequence_as(one, joined)


def as_numpy(value: Any) -> Any:
    """An element with arrays instead of tensors."""

    def array(leaf: Any) -> Any:
        # By its name: its module is imported by programs that use it.
        sparse = type(leaf).__name__ == "SparseTensor"
        found: Any = _dense(leaf) if sparse else leaf
        return found.numpy() if hasattr(found, "numpy") else found

    return nest.map_structure(array, value)


def _dense(sparse: Any) -> Tensor:
    return raw.SparseToDense(sparse.indices, sparse.dense_shape, sparse.values, zeros(sparse.dtype))


def zeros(dtype: DType) -> Any:
    """The default padding values."""
    return b"" if dtype.name == "string" else np.zeros((), dtype.numpy)
