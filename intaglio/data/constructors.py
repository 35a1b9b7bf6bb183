"""The constructors of datasets from tensors, numbers, Python generators and file names.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base import nest, shapes
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import (
    DType,
    as_dtype,
    bool_,
    cast_array,
    complex128,
    float16,
    float32,
    float64,
    int32,
    int64,
    string,
    uint64,
)
from intaglio.base.shapes import compatible
from intaglio.data import building, element, files
from intaglio.data.seeds import dataset_seeds
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.ops.control_flow.python_call import Token
from intaglio.runtime.eager import EagerTensor
from intaglio.type_specs.type_spec import TensorSpec


def from_tensors(tensors: Any, name: str | None) -> Any:
    """One element."""
    value = element.normalized(tensors)
    structure = element.spec_of(value)
    handle = raw.TensorDataset(
        element.flat_tensors(structure, value),
        output_shapes=element.output_attrs(structure)["output_shapes"],
        name=name,
    )
    return building.dataset_of_handle("_TensorDataset", handle, structure)


def from_tensor_slices(tensors: Any, name: str | None) -> Any:
    """The slices along the first dimension."""
    value = element.normalized(tensors)
    whole = element.spec_of(value)
    if not element.flat_specs(whole):
        raise ValueError("Invalid `element`. `element` should not be empty.")
    structure = nest.map_structure(element.unbatched, whole)
    rows = element.flat_rows(whole, value)
    lengths = [t.dims[0] for t in rows if t.dims and t.dims[0] is not None]
    for length in lengths[1:]:
        if length != lengths[0]:
            raise ValueError(f"Dimensions {lengths[0]} and {length} are not compatible")
    handle = raw.TensorSliceDataset(
        rows, output_shapes=element.output_attrs(structure)["output_shapes"], name=name
    )
    return building.dataset_of_handle("_TensorSliceDataset", handle, structure)


def from_list(elements: Any, name: str | None) -> Any:
    """The elements of a list."""
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    if not elements:
        raise ValueError(
            "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, "
            "use `tf.data.Dataset.range(0)`."
        )
    values = [element.normalized(e) for e in elements]
    structure = element.spec_of(values[0])
    for value in values[1:]:
        nest.assert_same_structure(structure, element.spec_of(value))
        structure = element.compatible(structure, element.spec_of(value))
    flat = [element.flat_tensors(structure, v) for v in values]
    handle = raw.ListDataset(
        [t for tensors in flat for t in tensors], **element.output_attrs(structure), name=name
    )
    return building.dataset_of_handle("_ListDataset", handle, structure)


def range_of(args: Sequence[Any], output_type: Any = None, name: str | None = None) -> Any:
    """A range of numbers. Raises ValueError unless there are one to three arguments."""
    if not 1 <= len(args) <= 3:
        raise ValueError(
            f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}."
        )
    start, stop, step = {1: (0, *args, 1), 2: (*args, 1)}.get(len(args), args)
    kind = int64 if output_type is None else as_dtype(output_type)
    structure = TensorSpec((), kind)
    handle = raw.RangeDataset(
        building.scalar(start, "start"),
        building.scalar(stop, "stop"),
        building.scalar(step, "step"),
        **element.output_attrs(structure),
        name=name,
    )
    return building.dataset_of_handle("_RangeDataset", handle, structure)


def random_numbers(seed: int | None, rerandomize: bool | None, name: str | None) -> Any:
    """Random int64 numbers without end."""
    first, second = dataset_seeds(seed)
    seeds = (np.int64(first), np.int64(second))
    structure = TensorSpec((), int64)
    generator, _ = raw.AnonymousSeedGenerator(*seeds, bool(rerandomize))
    handle = raw.RandomDatasetV2(
        *seeds,
        generator,
        rerandomize_each_iteration=bool(rerandomize),
        **element.output_attrs(structure),
        name=name,
    )
    return building.dataset_of_handle("_RandomDataset", handle, structure)


def list_files(pattern: Any, shuffle: bool | None, seed: int | None, name: str | None) -> Any:
    """The names of the files that match the patterns."""
    tensor = convert.to_tensor(pattern, string)
    names = raw.MatchingFiles(tensor)
    if isinstance(names, EagerTensor):
        files.check_matches(names._array, tensor._array)
    dataset = from_tensor_slices(names, name)
    if shuffle is None or shuffle:
        count = raw.Maximum(raw.Size(names, out_type=int64), np.int64(1))
        dataset = dataset.shuffle(count, seed=seed)
    return dataset


# -- generators ----------------------------------------------------------------------------


def from_generator(
    generator: Callable[..., Any],
    output_types: Any,
    output_shapes: Any,
    args: Any,
    output_signature: Any,
) -> Any:
    """A dataset of the values that a Python generator yields."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    structure = _signature(output_types, output_shapes, output_signature)
    generator_args = tuple(convert.to_tensor(a) for a in args) if args else ()
    token = Token.of(_reader(generator, structure))

    def elements(*arguments: Any) -> Any:
        handle = raw.PythonGeneratorDataset(
            list(arguments[: len(generator_args)]), token=token, **element.output_attrs(structure)
        )
        return building.dataset_of_handle("_GeneratorDataset", handle, structure)

    return from_tensors(generator_args or 0, None).flat_map(elements)


def _signature(output_types: Any, output_shapes: Any, output_signature: Any) -> Any:
    if output_signature is not None:
        if output_types is not None or output_shapes is not None:
            other = "output_shapes" if output_types is None else "output_types"
            raise TypeError(
                f"The `{other}` argument can not be used together with the `output_signature` "
                "argument."
            )
        for spec in nest.flatten(output_signature):
            if not hasattr(spec, "_component_specs"):
                raise TypeError(
                    "`output_signature` must contain objects that are subclass of "
                    f"`tf.TypeSpec` but found {type(spec)} which is not."
                )
        return _as_structure(output_signature)
    if output_types is None:
        raise TypeError(
            "To specify the output signature you need to provide either the `output_signature` "
            "argument or the `output_types` argument."
        )
    types = nest.map_structure(as_dtype, _as_structure(output_types))
    if output_shapes is None:
        return nest.map_structure(lambda t: TensorSpec(None, t), types)
    shapes = nest.flatten_up_to(types, output_shapes)
    return nest.pack_sequence_as(
        types,
        [TensorSpec(shape, kind) for shape, kind in zip(shapes, nest.flatten(types), strict=True)],
    )


def _as_structure(value: Any) -> Any:
    """Lists of specs as tuples: in elements, lists are tensors."""
    if isinstance(value, list):
        return tuple([_as_structure(v) for v in value])
    return value


def _reader(generator: Callable[..., Any], structure: Any) -> Callable[..., Any]:
    """The generator's elements as tuples of arrays, checked."""
    single = type(structure) is TensorSpec

    def read(*arguments: Any) -> Iterator[tuple[Any, ...]]:
        values = [a[()] if a.ndim == 0 else np.array(a) for a in arguments]
        for value in generator(*values):
            yield ((_component(value, structure),) if single else _components(value, structure))

    return read


def _components(value: Any, structure: Any) -> tuple[Any, ...]:
    try:
        values = nest.flatten_up_to(structure, value)
    except (TypeError, ValueError) as e:
        raise _misfit(value, structure) from e
    found: list[Any] = []
    for spec, part in zip(nest.flatten(structure), values, strict=True):
        if type(spec) is TensorSpec:
            found.append(_component(part, spec))
        else:
            _check_composite(part, spec, value, structure)
            found += [t._array for t in spec._to_tensor_list(part)]
    return tuple(found)


def _misfit(value: Any, structure: Any) -> TypeError:
    return TypeError(
        "`generator` yielded an element that did not match the expected structure. The "
        f"expected structure was {_types(structure)}, but the yielded element was {value}."
    )


def _types(structure: Any) -> Any:
    return nest.map_structure(lambda s: s.dtype if isinstance(s, TensorSpec) else s, structure)


def _check_composite(part: Any, spec: Any, value: Any, structure: Any) -> None:
    """Raises TypeError unless a part of a yielded value, no tensor, has the declared type."""
    if part is None and isinstance(spec, element.NoneTensorSpec):
        return
    if not isinstance(part, (CompositeTensor, Tensor)):
        raise _misfit(value, structure)
    if not spec.is_compatible_with(part):
        found = element.spec_of(element.normalized(value))
        raise TypeError(
            f"`generator` yielded an element of {found} where an element of {structure} was expected."
        )


# The types of unknown rank that take a Python bool, in TensorFlow 2.21.
_TAKEN_OF_BOOL = frozenset([bool_, int32, int64, uint64, float16, float32, float64, complex128])


def _is_taken(value: Any, dtype: DType) -> bool:
    """True if the value is accepted for a component of unknown rank; one of known rank casts any number."""
    if isinstance(value, Tensor):
        return value.dtype is dtype
    if isinstance(value, (np.ndarray, np.generic)):
        return True
    array = np.asarray(value)
    kind = array.dtype.kind
    if not array.size:
        return True
    if kind == "b":
        return dtype in _TAKEN_OF_BOOL
    taken = kind in "iufc" and dtype.is_complex
    taken |= kind in "iuf" and dtype.is_floating
    return taken or (kind in "iu" and dtype.is_integer)


def _as_array(value: Any, spec: TensorSpec) -> Any:
    """A yielded value as an array of the declared dtype, or None if it is not convertible.

    Numbers are cast as NumPy casts arrays: 1.5 becomes 1 where integers are declared, as in TensorFlow.
    """
    try:
        if spec.dtype is string:
            return convert.to_array(value, string)
        if spec.dims is None and not _is_taken(value, spec.dtype):
            return None
        array = value._array if isinstance(value, Tensor) else np.asarray(value)
        if array.dtype == spec.dtype.numpy:
            return array
        return cast_array(array, spec.dtype)
    except (TypeError, ValueError, OverflowError):
        return None


def _component(value: Any, spec: TensorSpec) -> Any:
    """A yielded value as an array of the declared type. Raises TypeError if it is not."""
    array = _as_array(value, spec)
    if array is None:
        raise TypeError(
            "`generator` yielded an element that did not match the expected structure. The "
            f"expected structure was {spec}, but the yielded element was {value}."
        )
    if not compatible(array.shape, spec.dims):
        raise TypeError(
            f"`generator` yielded an element of shape {array.shape} where an element of shape "
            f"{shapes.text(spec.dims)} was expected."
        )
    return array
