"""What fills tables: tensors, and lines of text files.

Follows https://www.tensorflow.org/api_docs/python/tf/lookup/KeyValueTensorInitializer and
https://www.tensorflow.org/api_docs/python/tf/lookup/TextFileInitializer.
"""

from __future__ import annotations

import os
from typing import Any

from intaglio.base.dtypes import DType, as_dtype, int64, string
from intaglio.opdef import convert, raw
from intaglio.state.trackable_resource import Asset
from intaglio.state.tracking import AutoTrackable
from intaglio.trace.scopes import current_graph, name_scope


class TableInitializer(AutoTrackable):
    """What fills a table of these dtypes."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = as_dtype(key_dtype)
        self._value_dtype = as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The type of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The type of the values."""
        return self._value_dtype

    @property
    def _shared_name(self) -> str:
        return ""

    def initialize(self, table: Any) -> Any:
        """Fills the table. Raises NotImplementedError in this class."""
        raise NotImplementedError(f"{type(self).__name__}.initialize")

    def _check(self, table: Any) -> None:
        """Raises TypeError unless the table has the initializer's dtypes."""
        for what, own, others in (
            ("key", self._key_dtype, table.key_dtype),
            ("value", self._value_dtype, table.value_dtype),
        ):
            if own is not others:
                raise TypeError(
                    f"Invalid {what} dtype for table, expected {own!r} but got {others!r}"
                )


class KeyValueTensorInitializer(TableInitializer):
    """Fills a table with a vector of keys and one of values.

    A key that comes twice has to have the same value.

    >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    >>> print(tf.lookup.StaticHashTable(init, -1).lookup(tf.constant(["b", "c"])).numpy())
    [ 2 -1]
    """

    def __init__(
        self,
        keys: Any,
        values: Any,
        key_dtype: Any = None,
        value_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        with name_scope(name or "key_value_init") as self._scope:
            self._keys = convert.to_tensor(keys, key_dtype and as_dtype(key_dtype), "keys")
            self._values = convert.to_tensor(
                values, value_dtype and as_dtype(value_dtype), "values"
            )
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> Any:
        """Fills the table. Raises TypeError for a table of other dtypes."""
        self._check(table)
        with name_scope(self._scope):
            return raw.LookupTableImportV2(table.resource_handle, self._keys, self._values)


class TextFileIndex:
    """What of a line a key or value is, besides the number of a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(TableInitializer):
    """Fills a table from the lines of a text file.

    `key_index` and `value_index` select a part of a line: a column between `delimiter`s,
    `TextFileIndex.WHOLE_LINE`, or `TextFileIndex.LINE_NUMBER` from `value_index_offset` on.
    `vocab_size` lines are read, all if it is None. Raises ValueError for an empty name, for
    indices below -2, and for dtypes that the indices do not allow.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("red\\ngreen\\n")
    ...     file.flush()
    ...     init = tf.lookup.TextFileInitializer(
    ...         file.name, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
    ...         tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER,
    ...     )
    ...     table = tf.lookup.StaticHashTable(init, -1)
    >>> print(table.lookup(tf.constant(["green", "blue"])).numpy())
    [ 1 -1]
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        if isinstance(filename, str) and not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        keys, values = as_dtype(key_dtype), as_dtype(value_dtype)
        for what, index, dtype in (("key", key_index, keys), ("value", value_index, values)):
            if index < -2:
                raise ValueError(f"`{what}_index` should be >= -2, received: {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype is not int64:
                where = "if `key_index` is" if what == "key" else "for `value_index`"
                raise ValueError(
                    f"`{what}_dtype` must be int64 {where} "
                    f"{TextFileIndex.LINE_NUMBER}, received: <dtype: '{dtype.name}'>"
                )
            whole = index == TextFileIndex.WHOLE_LINE
            if whole and dtype is not string and not dtype.is_integer:
                raise ValueError(
                    f"`{what}_dtype` should be either integer or string for `{what}_index` "
                    f"{TextFileIndex.WHOLE_LINE}, received: <dtype: '{dtype.name}'>"
                )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._filename = Asset(filename)
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size = -1 if vocab_size is None else vocab_size
        self._delimiter = delimiter
        self._offset = value_index_offset
        super().__init__(keys, values)

    @property
    def _shared_name(self) -> str:
        path = os.fsdecode(self._filename._path)
        if self._vocab_size == -1:
            return f"hash_table_{path}_{self._key_index}_{self._value_index}"
        return f"hash_table_{path}_{self._vocab_size}_{self._key_index}_{self._value_index}"

    def _path(self) -> Any:
        """The file's path; in a plain graph a constant, for which a model's loader feeds its own."""
        graph: Any = current_graph()
        if graph is None or graph.building_function:
            return self._filename.asset_path
        path = convert.to_tensor(self._filename._path, string, "asset_filepath")
        graph.add_to_collection("asset_filepaths", path)
        return path

    def initialize(self, table: Any) -> Any:
        """Reads the file into the table. Raises NotFoundError if there is no such file."""
        self._check(table)
        return raw.InitializeTableFromTextFileV2(
            table.resource_handle,
            self._path(),
            key_index=self._key_index,
            value_index=self._value_index,
            vocab_size=self._vocab_size,
            delimiter=self._delimiter,
            offset=self._offset,
        )


__all__ = ["KeyValueTensorInitializer", "TableInitializer", "TextFileIndex", "TextFileInitializer"]
