"""Tables that are filled once.

Follows https://www.tensorflow.org/api_docs/python/tf/lookup/StaticHashTable and
https://www.tensorflow.org/api_docs/python/tf/lookup/StaticVocabularyTable.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, as_dtype, int64, string
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.ragged.api import RaggedTensor
from intaglio.sparse.api import SparseTensor
from intaglio.state.trackable_resource import TrackableResource
from intaglio.trace.scopes import current_graph, executing_eagerly, init_scope, name_scope

# Numbers for the names under which saved models make tables.
_NUMBERS = itertools.count()


class Lookup(TrackableResource):
    """A table of keys and values of two dtypes."""

    def __init__(self, key_dtype: Any, value_dtype: Any, name: str | None) -> None:
        super().__init__()
        self._table_name = f"table_{next(_NUMBERS)}"
        self._key_dtype = as_dtype(key_dtype)
        self._value_dtype = as_dtype(value_dtype)
        self._name = name

    def _created(self, anonymous: Callable[[], Any]) -> Any:
        """The table's handle: in a plain graph, whose sessions each have tables, one by name."""
        with init_scope():
            return anonymous() if executing_eagerly() else self._create_resource()

    @property
    def key_dtype(self) -> DType:
        """The type of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The type of the values."""
        return self._value_dtype

    @property
    def name(self) -> str | None:
        """The name of the table, None if it has none of its own."""
        return None

    def __getitem__(self, keys: Any) -> Any:
        find: Callable[[Any], Any] = getattr(self, "lookup")  # noqa: B009  # of the subclass
        return find(keys)


def check_keys(keys: Any, dtype: DType) -> None:
    """Raises TypeError unless the keys have the dtype."""
    if keys.dtype is not dtype:
        raise TypeError(
            f"Dtype of argument `keys` must be <dtype: '{dtype.name}'>, received: "
            f"<dtype: '{keys.dtype.name}'>"
        )


def by_values(find: Callable[[Any], Any], keys: Any) -> Any:
    """A look-up of the values of sparse and ragged keys."""
    if isinstance(keys, SparseTensor):
        return keys.with_values(find(keys.values))
    if isinstance(keys, RaggedTensor):
        return keys.with_flat_values(find(keys.flat_values))
    return find(keys)


class StaticHashTable(Lookup):
    """A table that an initializer fills when it is created; `default_value` for other keys.

    Keys may be tensors, sparse and ragged tensors. Raises FailedPreconditionError if a key
    has two values.

    >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    >>> table = tf.lookup.StaticHashTable(init, -1)
    >>> print(table.lookup(tf.constant(["a", "z"])).numpy(), table.size().numpy())
    [ 1 -1] 2
    """

    def __init__(
        self,
        initializer: Any,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype, name)
        self._initializer = initializer
        self._default_value = convert.to_tensor(default_value, self._value_dtype)
        if self._default_value.dims != ():
            raise ValueError(f"Shape {self._default_value.shape} of default_value must have rank 0")
        self._table_name = initializer._shared_name or self._table_name
        self._resource_handle = self._handle = self._created(
            lambda: raw.AnonymousHashTable(key_dtype=self._key_dtype, value_dtype=self._value_dtype)
        )
        # A table that a function makes belongs to its trace: it is filled by the first call, with
        # tensors of the function as may be, and found full by later ones.
        self._filling: Any = self._initialize()
        graph: Any = current_graph()
        if graph is not None and not graph.building_function:
            self._filling = graph.nodes[-1]
            graph.add_to_collection("table_initializer", self._filling)

    def _create_resource(self) -> Any:
        return raw.HashTableV2(
            shared_name=self._table_name, key_dtype=self._key_dtype, value_dtype=self._value_dtype
        )

    def _initialize(self) -> Any:
        return self._initializer.initialize(self)

    @property
    def default_value(self) -> Tensor:
        """The value of keys that are not there."""
        return self._default_value

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, of the keys' shape. Raises TypeError for another dtype."""
        check_keys(keys, self._key_dtype)

        def find(some: Any) -> Any:
            return raw.LookupTableFindV2(self._handle, some, self._default_value)

        with name_scope(name or "hash_table_Lookup"):
            return by_values(find, keys)

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys, int64."""
        return raw.LookupTableSizeV2(self._handle, name=name)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values."""
        keys, values = raw.LookupTableExportV2(
            self._handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype, name=name
        )
        return keys, values


class StaticHashTableV1(StaticHashTable):
    """`StaticHashTable` with the operation that fills it in a session."""

    @property
    def initializer(self) -> Any:
        """The operation that fills the table."""
        return self._filling


class StaticVocabularyTable(Lookup):
    """Numbers of words; words that are not there share `num_oov_buckets` numbers behind.

    Their number is chosen by a hash. Without an initializer all words are such. Raises
    ValueError for less than one bucket, TypeError for values that are not int64 and keys
    that are neither int64 nor string.

    >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
    >>> table = tf.lookup.StaticVocabularyTable(init, 3)
    >>> print(table.lookup(tf.constant(["a", "z"])).numpy(), table.size().numpy())
    [0 3] 5
    """

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        self._buckets = num_oov_buckets
        self._table: StaticHashTable | None = None
        if initializer is not None:
            if initializer.value_dtype is not int64:
                raise TypeError(
                    f"Invalid `value_dtype`, expected <dtype: 'int64'> but got <dtype: '{initializer.value_dtype.name}'>."
                )
            if initializer.key_dtype not in (int64, string):
                raise TypeError(
                    "Invalid `key_dtype`, expected one of (tf.int64, tf.string), but got "
                    f"<dtype: '{initializer.key_dtype.name}'>."
                )
            self._table = StaticHashTable(initializer, -1)
        wanted = lookup_key_dtype or (self._table.key_dtype if self._table else string)
        super().__init__(wanted, int64, name)
        if self._table is not None:
            own = self._table.key_dtype
            if own.is_integer != self._key_dtype.is_integer:
                raise TypeError(f"Invalid `key_dtype`, expected {own} but got {self._key_dtype}.")

    @property
    def resource_handle(self) -> Any:
        """The table's handle: a scalar tensor of dtype resource; None without words."""
        return None if self._table is None else self._table.resource_handle

    def _create_resource(self) -> Any:
        return self._table and self._table._create_resource()

    def _initialize(self) -> Any:
        return self._table and self._table._initialize()

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {} if self._table is None else {"_initializer": self._table._initializer}

    def size(self, name: str | None = None) -> Tensor:
        """The number of words and buckets, int64."""
        known: Any = 0 if self._table is None else self._table.size()
        return convert.to_tensor(known + np.int64(self._buckets), int64)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The numbers of keys, int64, of the keys' shape. Raises TypeError for another dtype."""
        check_keys(keys, self._key_dtype)
        with name_scope(name or "hash_table_Lookup"):
            return by_values(self._find, keys)

    def _find(self, keys: Any) -> Any:
        if self._table is not None and keys.dtype is not self._table.key_dtype:
            keys = raw.Cast(keys, DstT=self._table.key_dtype)
        words = raw.AsString(keys) if keys.dtype.is_integer else keys
        bucket: Any = raw.StringToHashBucketFast(words, num_buckets=self._buckets)
        if self._table is None:
            return bucket
        found: Any = self._table.lookup(keys)
        other = bucket + self._table.size()
        return raw.SelectV2(raw.NotEqual(found, self._table.default_value), found, other)


class StaticVocabularyTableV1(StaticVocabularyTable):
    """`StaticVocabularyTable` with the operation that fills it in a session."""

    @property
    def initializer(self) -> Any:
        """The operation that fills the table; without words one that does nothing."""
        return raw.NoOp() if self._table is None else self._table._filling


__all__ = [
    "Lookup",
    "StaticHashTable",
    "StaticHashTableV1",
    "StaticVocabularyTable",
    "StaticVocabularyTableV1",
]
