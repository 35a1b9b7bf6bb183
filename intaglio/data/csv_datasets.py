"""Batches of the columns of CSV files.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental/make_csv_dataset.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.data import csv_columns, csv_files
from intaglio.data.csv_columns import CsvDatasetV2 as CsvDataset
from intaglio.data.dataset import Dataset


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of the columns of CSV files as ordered dicts, for training.

    Types are those of `column_defaults`, else the narrowest that fit the first rows. With
    `label_name` the elements are pairs of the other columns and that one. Raises ValueError
    if no file matches or columns do not fit together.

    `column_names` are the names of the columns, by default those of the first line (`header`);
    `select_columns` are those that are read. `field_delim`, `use_quote_delim` and `na_value` are
    the form of the file, `encoding` its encoding and `compression_type` "GZIP", "ZLIB" or "".
    Dtypes follow from the first `num_rows_for_inference` rows. `shuffle_buffer_size` and
    `shuffle_seed` reorder the rows; `sloppy` allows for another order of files; `ignore_errors`
    leaves out rows that cannot be read. `num_parallel_reads` and `prefetch_buffer_size` are hints.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("a,b\\n1,x\\n2,y\\n")
    ...     rows = tf.data.experimental.make_csv_dataset(str(path), 2, num_epochs=1, shuffle=False)
    ...     [row["a"].numpy().tolist() for row in rows]
    [[1, 2]]
    """
    files = csv_columns.matching(file_pattern)
    dialect = csv_files.Dialect(field_delim.encode(), use_quote_delim, header)
    top = csv_columns.Header(files, dialect, na_value, compression_type or "")
    names = csv_columns.named_names(column_names, top, header)
    columns = csv_columns.chosen_columns(select_columns, names)
    defaults = csv_columns.column_defaults(
        column_defaults, top, len(names), columns, num_rows_for_inference
    )

    def read(name: Any) -> Dataset:
        return CsvDataset(
            name,
            defaults,
            compression_type,
            header=header,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=columns,
        )

    return csv_columns.batches_of_columns(
        files,
        read,
        [names[c] for c in columns],
        label_name,
        batch_size=batch_size,
        num_epochs=num_epochs,
        shuffle=shuffle,
        buffer_size=shuffle_buffer_size,
        seed=shuffle_seed,
        prefetch=prefetch_buffer_size,
        parallel=num_parallel_reads,
        sloppy=sloppy,
        ignore_errors=ignore_errors,
    )


__all__ = ["make_csv_dataset"]
