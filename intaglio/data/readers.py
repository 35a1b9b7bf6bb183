"""The public dataset classes: of files, of databases, of random numbers.

Follows https://www.tensorflow.org/api_docs/python/tf/data/TextLineDataset,
https://www.tensorflow.org/api_docs/python/tf/data/TFRecordDataset and
https://www.tensorflow.org/api_docs/python/tf/data/FixedLengthRecordDataset.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import nest
from intaglio.base.dtypes import as_dtype, string
from intaglio.data import building, element
from intaglio.data.dataset import Dataset
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import public_methods
from intaglio.type_specs.type_spec import TensorSpec

_LINES = TensorSpec((), string)


@public_methods
class _FileDataset(Dataset):
    """Elements of files named by a tensor, or by the elements of a dataset."""

    def __init__(self, filenames: Any, read: Callable[[Any], Any], num_parallel_reads: Any) -> None:
        if building.is_dataset(filenames):
            handle = _of_files(_checked(filenames), read, num_parallel_reads)
        elif num_parallel_reads is None:
            handle = read(_flat(filenames))  # one after the other: the op does that
        else:
            names = Dataset.from_tensor_slices(_flat(filenames))
            handle = _of_files(names, read, num_parallel_reads)
        super().__init__(handle)
        self._element_spec = _LINES


def _of_files(names: Any, read: Callable[[Any], Any], num_parallel_reads: Any) -> Any:
    """The contents of the files that a dataset names."""

    def of_file(name: Any) -> Any:
        return building.dataset_of_handle("_FileDataset", read(name), _LINES)

    if num_parallel_reads is None:
        return names.flat_map(of_file).handle_tensor
    return names.interleave(
        of_file, cycle_length=num_parallel_reads, num_parallel_calls=num_parallel_reads
    ).handle_tensor


def _checked(names: Any) -> Any:
    """The argument, checked to be a dataset of file names. Raises TypeError for other elements."""
    spec = names.element_spec
    if getattr(spec, "dtype", None) is not string:
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements. Got a dataset of "
            f"`{getattr(spec, 'dtype', spec)!r}` elements."
        )
    if spec.dims not in ((), None):
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements of shape [] (i.e. "
            f"scalars). Got a dataset of element shape {spec.shape!r}."
        )
    return names


def _flat(filenames: Any) -> Any:
    tensor = (
        convert.to_tensor(filenames, string)
        if isinstance(filenames, (str, bytes, list, tuple)) and not len(filenames)
        else convert.to_tensor(filenames)
    )
    if tensor.dtype is not string:
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements. Got "
            f"`{tensor.dtype!r}` elements."
        )
    return raw.Reshape(tensor, np.array([-1], np.int32))


def _text(value: Any) -> Any:
    return convert.to_tensor("" if value is None else value, string)


def _number(value: Any) -> Any:
    return building.scalar(0 if value is None else value, "buffer_size")


@public_methods
class TextLineDatasetV2(_FileDataset):
    """The lines of text files, without their ends.

    Raises NotFoundError at the first line of a file that is not there.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            filenames,
            lambda n: raw.TextLineDataset(
                n, _text(compression_type), _number(buffer_size), name=name
            ),
            num_parallel_reads,
        )


@public_methods
class TFRecordDatasetV2(_FileDataset):
    """The records of TFRecord files. Raises DataLossError at a corrupted record."""

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            filenames,
            lambda n: raw.TFRecordDataset(
                n, _text(compression_type), _number(buffer_size), name=name
            ),
            num_parallel_reads,
        )


@public_methods
class FixedLengthRecordDatasetV2(_FileDataset):
    """Records of `record_bytes` bytes, between a head and a foot that are left out."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            filenames,
            lambda n: raw.FixedLengthRecordDatasetV2(
                n,
                _number(header_bytes),
                _number(record_bytes),
                _number(footer_bytes),
                _number(buffer_size),
                _text(compression_type),
                name=name,
            ),
            num_parallel_reads,
        )


@public_methods
class SqlDatasetV2(Dataset):
    """The rows of a query to a database; `driver_name` is "sqlite".

    Raises InvalidArgumentError for another driver, for types that no column has, and at the
    first row if there are not as many columns; UnknownError for a bad query.
    """

    def __init__(
        self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any
    ) -> None:
        structure = nest.map_structure(lambda t: TensorSpec((), as_dtype(t)), output_types)
        handle = raw.SqlDataset(
            _text(driver_name),
            _text(data_source_name),
            _text(query),
            **element.output_attrs(structure),
        )
        super().__init__(handle)
        self._element_spec = structure


@public_methods
class RandomDatasetV2(Dataset):
    """Random int64 numbers below 2**32, without end; as `Dataset.random`."""

    def __init__(
        self,
        seed: int | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> None:
        numbers = Dataset.random(seed, rerandomize_each_iteration, name)
        super().__init__(numbers.handle_tensor)
        self._element_spec = numbers.element_spec


TextLineDataset = TextLineDatasetV2
SqlDataset = SqlDatasetV2
TFRecordDataset = TFRecordDatasetV2
FixedLengthRecordDataset = FixedLengthRecordDatasetV2
