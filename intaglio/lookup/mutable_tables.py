"""Tables that change: keys are inserted and removed, eagerly and in graphs.

Follows https://www.tensorflow.org/api_docs/python/tf/lookup/experimental/MutableHashTable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from intaglio.base.dtypes import as_dtype
from intaglio.ir.graph import SymbolicTensor
from intaglio.lookup.tables import Lookup, by_values, check_keys
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.trace.scopes import init_scope, name_scope


class MutableTable(Lookup):
    """What tables that change have in common. Checkpoints keep their keys and values."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str) -> None:
        super().__init__(key_dtype, value_dtype, name)
        self._default_value = convert.to_tensor(default_value, as_dtype(value_dtype))
        self._value_shape = self._default_value.dims
        self._handle: Any = None

    @property
    def resource_handle(self) -> Any:
        """The table's handle: a scalar tensor of dtype resource."""
        return self._handle

    def _initialize(self) -> Any:
        return None

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys, int64."""
        return raw.LookupTableSizeV2(self._handle, name=name)

    def remove(self, keys: Any, name: str | None = None) -> Any:
        """Forgets keys, if they are there. Raises TypeError for another dtype."""
        check_keys(keys, self._key_dtype)
        return raw.LookupTableRemoveV2(self._handle, keys, name=name)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Gives keys values. Raises InvalidArgumentError if the shapes do not fit."""
        tensor = convert.to_tensor(keys, self._key_dtype)
        rows = convert.to_tensor(values, self._value_dtype)
        return raw.LookupTableInsertV2(self._handle, tensor, rows, name=name)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values."""
        keys, values = raw.LookupTableExportV2(
            self._handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype, name=name
        )
        return keys, values

    def _find(self, keys: Any, default: Any) -> Any:
        def find(some: Any) -> Any:
            return raw.LookupTableFindV2(self._handle, some, default)

        return by_values(find, keys)

    def _checkpoint_values(self) -> dict[str, Any]:
        """What a checkpoint keeps of the table."""
        keys, values = self._handle._array.export()
        return {"table-keys": keys, "table-values": values}

    def _restore_checkpoint_values(self, values: Mapping[str, Any]) -> None:
        self._handle._array.replace(values["table-keys"], values["table-values"])


class MutableHashTable(MutableTable):
    """A table of tensors of the shape of `default_value`, the value of keys not there.

    >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    >>> table.insert(["a"], [5])
    >>> print(table.lookup(["a", "b"]).numpy())
    [ 5 -1]
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, name)
        types: dict[str, Any] = {"key_dtype": self._key_dtype, "value_dtype": self._value_dtype}
        self._handle = self._created(lambda: self._anonymous(types))

    def _anonymous(self, types: dict[str, Any]) -> Any:
        if self._value_shape == ():
            return raw.AnonymousMutableHashTable(**types)
        return raw.AnonymousMutableHashTableOfTensors(**types, value_shape=self._value_shape)

    def _create_resource(self) -> Any:
        options: dict[str, Any] = {
            "shared_name": self._table_name,
            "key_dtype": self._key_dtype,
            "value_dtype": self._value_dtype,
        }
        if self._value_shape == ():
            return raw.MutableHashTableV2(**options)
        return raw.MutableHashTableOfTensorsV2(**options, value_shape=self._value_shape)

    def lookup(self, keys: Any, dynamic_default_values: Any = None, name: str | None = None) -> Any:
        """The values of keys; `dynamic_default_values` has a default for each."""
        if not hasattr(keys, "dtype"):
            keys = convert.to_tensor(keys, self._key_dtype)
        default = self._default_value
        if dynamic_default_values is not None:
            default = convert.to_tensor(dynamic_default_values, self._value_dtype)
        with name_scope(name or f"{self._name}_lookup_table_find"):
            return self._find(keys, default)


class DenseHashTable(MutableTable):
    """A table with two keys that may not be used, for which TensorFlow's is faster.

    `empty_key` and `deleted_key` are different scalars. Raises InvalidArgumentError where
    they are used as keys.

    >>> table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -1)
    >>> table.insert([7], [5])
    >>> print(table.lookup(tf.constant([7, 8], tf.int64)).numpy())
    [ 5 -1]
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, name)
        self._buckets = initial_num_buckets or 131072
        with init_scope():
            self._empty_key = convert.to_tensor(empty_key, self._key_dtype)
            self._deleted_key = convert.to_tensor(deleted_key, self._key_dtype)
        self._handle = self._created(self._anonymous)

    def _anonymous(self) -> Any:
        return raw.AnonymousMutableDenseHashTable(
            self._empty_key,
            self._deleted_key,
            value_dtype=self._value_dtype,
            value_shape=self._value_shape,
            initial_num_buckets=self._buckets,
        )

    def _create_resource(self) -> Any:
        keys = (self._empty_key, self._deleted_key)
        # The keys as constants: a function that makes a resource takes nothing from outside.
        return raw.MutableDenseHashTableV2(
            *[k if isinstance(k, SymbolicTensor) else np.asarray(k) for k in keys],
            shared_name=self._table_name,
            value_dtype=self._value_dtype,
            value_shape=self._value_shape,
            initial_num_buckets=self._buckets,
        )

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys. Raises TypeError for keys that do not have the dtype."""
        if not hasattr(keys, "dtype"):
            keys = convert.to_tensor(keys, self._key_dtype)
        with name_scope(name or f"{self._name}_lookup_table_find"):
            return self._find(keys, self._default_value)

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Gives keys values."""
        return self.insert(keys, values, name)

    def erase(self, keys: Any, name: str | None = None) -> Any:
        """Forgets keys, if they are there."""
        return self.remove(keys, name)


__all__ = ["DenseHashTable", "MutableHashTable", "MutableTable"]
