"""CSV files as datasets: records as tuples, or batches of named columns.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental/CsvDataset and
https://www.tensorflow.org/api_docs/python/tf/data/experimental/make_csv_dataset.
"""

from __future__ import annotations

import collections
import glob
import itertools
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.base.dtypes import DType, as_dtype, float32, float64, int32, int64, string
from intaglio.data import building, csv_files, element
from intaglio.data.dataset import Dataset
from intaglio.data.record_files import opened
from intaglio.data.stage import AUTOTUNE
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import public_methods
from intaglio.opdef.tensor import Tensor
from intaglio.type_specs.type_spec import TensorSpec


@public_methods
class CsvDatasetV2(Dataset):
    """The records of CSV files as tuples, each field of the type of its default.

    A dtype instead of a default means that the field is required. Raises ValueError or
    InvalidArgumentError for defaults and columns that do not fit together,
    InvalidArgumentError at a record that cannot be read.
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: Any = None,
        buffer_size: Any = None,
        header: Any = False,
        field_delim: Any = ",",
        use_quote_delim: Any = True,
        na_value: Any = "",
        select_cols: Any = None,
        exclude_cols: Any = None,
    ) -> None:
        defaults = [_default(d) for d in record_defaults]
        if not defaults:
            raise errors.invalid_argument(
                "`record_defaults` is empty: there must be at least 1 field."
            )
        structure = tuple([TensorSpec((), d.dtype) for d in defaults])
        handle = raw.CSVDatasetV2(
            convert.to_tensor(filenames, string),
            convert.to_tensor(compression_type or "", string),
            building.scalar(buffer_size or 4 << 20, "buffer_size"),
            convert.to_tensor(header),
            convert.to_tensor(field_delim, string),
            convert.to_tensor(use_quote_delim),
            convert.to_tensor(na_value, string),
            _columns(select_cols),
            defaults,
            _columns(exclude_cols),
            output_shapes=element.output_attrs(structure)["output_shapes"],
        )
        super().__init__(handle)
        self._element_spec = structure


_FIELDS = (float32, float64, int32, int64, string)


def _default(value: Any) -> Any:
    if isinstance(value, (DType, type)):
        if as_dtype(value) not in _FIELDS:
            raise ValueError(
                f"A field of a CSV file cannot be {as_dtype(value).name}: `record_defaults` may be "
                f"of {', '.join([t.name for t in _FIELDS])}."
            )
        return convert.to_tensor(np.zeros(0, as_dtype(value).numpy), as_dtype(value))
    found = convert.to_tensor(value)
    return raw.Reshape(found, np.array([-1], np.int32)) if found.dims == () else found


def _columns(numbers: Any) -> Any:
    return convert.to_tensor(np.asarray([] if numbers is None else numbers, np.int64))


# -- batches of named columns ----------------------------------------------------------------


def matching(file_pattern: Any) -> list[str]:
    """The files that a pattern, or one of a list, matches. Raises ValueError if none does."""
    patterns = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    if not patterns:
        raise ValueError("Argument `file_pattern` should not be empty.")
    found = [name for p in patterns for name in sorted(glob.glob(os.fsdecode(p)))]
    if not found:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    return found


class Header:
    """The column names of the files' first lines, checked against the arguments."""

    def __init__(
        self, names: list[str], dialect: csv_files.Dialect, na_value: str, compression: str
    ) -> None:
        self.files = names
        self.dialect = dialect
        self.na_value = na_value.encode()
        self.compression = compression

    def _rows(self, path: str, header: bool) -> Any:
        with opened(path, self.compression) as file:
            yield from csv_files.rows(file, self.dialect._replace(header=header))

    def column_names(self) -> list[str]:
        """The names in the first file. Raises ValueError if another has others."""
        first = [f.decode() for f in next(self._rows(self.files[0], False))]
        for path in self.files[1:]:
            names = [f.decode() for f in next(self._rows(path, False))]
            if names != first:
                raise ValueError(
                    "All input CSV files should have the same column names in the header row. File "
                    f"{path} has different column names."
                )
        return first

    def types(self, count: int, columns: list[int], limit: int | None) -> list[DType]:
        """The narrowest types for the columns of the first `limit` records."""
        found = [int32] * len(columns)
        rows = (r for f in self.files for r in self._rows(f, self.dialect.header))
        for number, row in enumerate(itertools.islice(rows, limit)):
            if row == [b""]:
                row = []
            if len(row) != count:
                raise ValueError(
                    f"Problem inferring types: CSV row {number + 1} has {len(row)} number of "
                    f"fields. Expected: {count}."
                )
            found = [
                csv_files.guessed_type(row[c], t, self.na_value)
                for c, t in zip(columns, found, strict=True)
            ]
        return found


def chosen_columns(select: Any, names: Sequence[str]) -> list[int]:
    """The numbers of the columns named. Raises ValueError for columns that do not exist."""
    if select is None:
        return list(range(len(names)))
    if not select:
        raise ValueError("`select_columns` should not be empty.")
    if len({*select}) != len(select):
        raise ValueError("`select_columns` contains duplicate columns")
    positions = {n: i for i, n in enumerate(names)}
    for column in select:
        if not (column in positions if isinstance(column, str) else 0 <= column < len(names)):
            raise ValueError(
                f"Column {column} specified in `select_columns` must be of one of the columns: "
                f"{positions.keys()}."
            )
    return sorted([positions[c] if isinstance(c, str) else c for c in select])


def named_names(column_names: Any, header: Header, has_header: bool) -> list[str]:
    """The columns' names. Raises ValueError if there are none, or some twice."""
    if column_names is None and not has_header:
        raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
    names = header.column_names() if column_names is None else list(column_names)
    counts = collections.Counter(names)
    if len(counts) != len(names):
        twice = {n for n, c in counts.items() if c > 1}
        raise ValueError(
            f"Either `column_names` argument or CSV header row contains duplicate column names: {twice}."
        )
    return names


def _empty(dtype: DType) -> Any:
    return convert.to_tensor([""] if dtype is string else np.zeros(1, dtype.numpy), dtype)


def column_defaults(
    defaults: Any, header: Header, count: int, columns: list[int], limit: Any
) -> list[Any]:
    """The default of each column: as given, else empty ones of the narrowest types."""
    if defaults is None:
        return [_empty(t) for t in header.types(count, columns, limit)]
    if len(defaults) == count != len(columns):
        defaults = [defaults[c] for c in columns]
    if len(defaults) != len(columns):
        raise ValueError(f"There are {len(defaults)} `column_defaults` for {len(columns)} columns.")
    return [d if isinstance(d, (DType, type, Tensor)) else convert.to_tensor(d) for d in defaults]


def batches_of_columns(
    files: list[str],
    read: Any,
    names: list[str],
    label: str | None,
    *,
    batch_size: Any,
    num_epochs: int | None,
    shuffle: bool,
    buffer_size: int,
    seed: int | None,
    prefetch: int | None,
    parallel: int | None,
    sloppy: bool,
    ignore_errors: bool,
) -> Dataset:
    """Batches of ordered dicts of columns; with a label, pairs of such and the label."""
    if label is not None and label not in names:
        raise ValueError(
            f"`label_name` provided must be one of the columns: {names}. Received: {label}."
        )
    found: Any = Dataset.from_tensor_slices(files)
    if shuffle:
        found = found.shuffle(len(files), seed)
    count = min(len(files), parallel or 1)
    found = found.interleave(
        read,
        cycle_length=count,
        num_parallel_calls=count if count > 1 else None,
        deterministic=not sloppy,
    )
    if ignore_errors:
        found = found.ignore_errors(log_warning=True)
    if shuffle:
        found = found.shuffle(buffer_size, seed)
    if num_epochs != 1:
        found = found.repeat(num_epochs)

    def named(*columns: Any) -> Any:
        features = collections.OrderedDict(zip(names, columns, strict=True))
        if label is None:
            return features
        return features, features.pop(label)

    # As in TensorFlow, the remainder is kept only where the data end.
    found = found.batch(batch_size, drop_remainder=num_epochs is None).map(named)
    return found.prefetch(AUTOTUNE if prefetch is None else prefetch)
