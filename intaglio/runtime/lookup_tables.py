"""Look-up tables: the values behind their handles."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.base.dtypes import RESOURCE_MARKER, DType
from intaglio.base.errors import invalid_argument
from intaglio.base.locks import lasting_lock
from intaglio.base.shapes import brackets
from intaglio.opdef.spec import Spec
from intaglio.ops.text.native_strings import Keys

# Initial number of rows of a table's values.
_INITIAL_ROWS = 16
# Number of queried integers from which on they are looked up in an array with one cell for each integer
# between the least and the greatest key, if that array is not too sparse.
_MIN_DENSE_KEYS = 256
_MAX_CELLS_PER_KEY = 16
# Number of queries per key after which strings are looked up in a native hash table.
_QUESTIONS_PER_KEY = 2
_NO_CELLS = np.zeros(0, np.int64)


class LookupTable:
    """Values by key: a dict from a key to a row of the array of values.

    A `fixed` table is initialized once. `forbidden` are reserved keys with their names, which no entry has.
    """

    __slots__ = (
        "__weakref__",
        "_asked",
        "_dense",
        "_lock",
        "_rows",
        "_texts",
        "_used",
        "_values",
        "fixed",
        "forbidden",
        "initialized",
        "key_dtype",
        "name",
        "spec",
    )

    dtype = RESOURCE_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1

    def __init__(self, key_dtype: DType, values: Spec, name: str, fixed: bool = False) -> None:
        self.key_dtype = key_dtype
        self.spec = values
        self.name = name
        self.fixed = fixed
        self.initialized = not fixed
        self.forbidden: tuple[tuple[str, Any], ...] = ()
        self._lock = lasting_lock()
        self._rows: dict[Any, int] = {}
        # The least key, and the row of every integer from it on; None until the first look-up.
        self._dense: tuple[int, np.ndarray] | None = None
        # The keys that are strings, and their rows where these are not 0, 1, 2, ...; then the number of
        # queries since the last change.
        self._texts: tuple[Keys, np.ndarray | None] | None = None
        self._asked = 0
        self._used = 0
        self._values = np.zeros((0, *self._inner), values.dtype.numpy)

    @property
    def _inner(self) -> tuple[int, ...]:
        return tuple([d or 0 for d in self.spec.shape or ()])

    def __len__(self) -> int:
        """The number of keys: 0 before the table is initialized, as in TensorFlow."""
        return len(self._rows)

    def _need(self) -> None:
        if not self.initialized:
            raise errors.FailedPreconditionError(None, None, "Table not initialized.")

    def _keys(self, keys: Any) -> list[Any]:
        if keys.dtype != self.key_dtype.numpy:
            raise invalid_argument(f"Key must be type {self.key_dtype.name} but got {keys.dtype}")
        found = keys.reshape(-1).tolist()
        for what, key in self.forbidden:
            if key in found:
                raise invalid_argument(f"Using the {what} as a table key is not allowed")
        return found

    def _row_indices(self, keys: list[Any]) -> Any:
        """The row of each key, -1 for those that are not there."""
        there = map(self._rows.get, keys, itertools.repeat(-1))
        return np.fromiter(there, np.int64, len(keys))

    def _rows_of_integers(self, keys: Any) -> Any:
        """As `_row_indices`, by an array indexed by the integers between the keys; None if they are too sparse."""
        if self._dense is None:
            known = np.fromiter(self._rows, np.int64, len(self._rows))
            least, most = (int(f(known)) for f in (np.min, np.max)) if known.size else (0, 0)
            if most - least >= _MAX_CELLS_PER_KEY * known.size + _MIN_DENSE_KEYS:
                self._dense = (0, _NO_CELLS)
            else:
                cells = np.full(most - least + 1, -1, np.int64)
                cells[known - least] = np.fromiter(self._rows.values(), np.int64, known.size)
                self._dense = (least, cells)
        least, cells = self._dense
        if not cells.size:
            return None
        inside = (keys >= least) & (keys < least + cells.size)
        at = np.where(inside, keys, least).astype(np.int64) - least
        return np.where(inside, cells[at], -1)

    def _rows_of_texts(self, keys: Any) -> Any:
        """As `_row_indices`, by a native hash table once that is profitable; None before."""
        if self._texts is None:
            self._asked += keys.size
            if not self._rows or self._asked < _QUESTIONS_PER_KEY * len(self._rows):
                return None
            found = Keys.of(self._rows)
            if found is None:
                return None
            rows = np.fromiter(self._rows.values(), np.int64, len(self._rows))
            in_order = np.array_equal(rows, np.arange(rows.size))
            self._texts = found, None if in_order else rows
        known, rows = self._texts
        numbers = known.find(keys)
        if rows is None or numbers is None:
            return numbers
        return np.where(numbers < 0, -1, rows[numbers])

    def _changed(self) -> None:
        """Drops the indices built for look-ups, after a change of keys or rows."""
        self._dense = self._texts = None
        self._asked = 0

    def find(self, keys: Any, default: Any) -> Any:
        """The values of the keys; the default (one, or one for each key) for others."""
        whole = keys.size >= _MIN_DENSE_KEYS and keys.dtype.kind in "iO" and not self.forbidden
        wanted = None if whole and keys.dtype == self.key_dtype.numpy else self._keys(keys)
        dims = (*keys.shape, *self._inner)
        if default.shape not in (self._inner, dims):
            raise invalid_argument(
                f"Expected shape {brackets(self._inner)} or {brackets(dims)} for default "
                f"value, got {brackets(default.shape)}"
            )
        with self._lock:
            self._need()
            rows = None
            if wanted is None:
                by_kind = self._rows_of_texts if keys.dtype == object else self._rows_of_integers
                rows = by_kind(keys.reshape(-1))
            if rows is None:
                rows = self._row_indices(keys.reshape(-1).tolist() if wanted is None else wanted)
            missing = np.flatnonzero(rows < 0)
            if missing.size == rows.size:
                found = np.empty((rows.size, *self._inner), self.spec.dtype.numpy)
            else:  # -1 is a row
                found = self._values[rows]
            every = default.shape == self._inner
            found[missing] = default if every else default.reshape(found.shape)[missing]
        return found.reshape(dims)

    def insert(self, keys: Any, values: Any) -> None:
        """Sets the values of keys; the last one counts for a repeated key."""
        if values.shape != (*keys.shape, *self._inner):
            raise invalid_argument(
                f"Expected shape {brackets((*keys.shape, *self._inner))} for value, got "
                f"{brackets(values.shape)}"
            )
        key_list = self._keys(keys)
        rows = values.reshape((len(key_list), *self._inner))
        with self._lock:
            self._changed()
            new = [k for k in dict.fromkeys(key_list) if k not in self._rows]
            last = self._used + len(new)
            if last > len(self._values):
                grown = np.zeros((max(_INITIAL_ROWS, 2 * last), *self._inner), self._values.dtype)
                grown[: self._used] = self._values[: self._used]
                self._values = grown
            self._rows.update(zip(new, range(self._used, last), strict=True))
            self._used = last
            row_indices = self._row_indices(key_list)
            if self.fixed:
                self._check_equal(key_list, rows, row_indices)
            self._values[row_indices] = rows

    def _check_equal(self, keys: list[Any], rows: Any, row_indices: Any) -> None:
        """Checks that no key of a fixed table gets a second value."""
        first = np.full(self._used, -1)
        first[row_indices[::-1]] = np.arange(len(keys))[::-1]
        unlike = rows != rows[first[row_indices]]
        if np.any(unlike):
            at = int(np.argmax(unlike))
            key = keys[at].decode() if isinstance(keys[at], bytes) else keys[at]
            had = rows[first[row_indices[at]]]
            self._rows.clear()
            self._changed()
            raise errors.FailedPreconditionError(
                None,
                None,
                "HashTable has different value for same key. Key "
                f"{key} has {_text(had)} and trying to add value {_text(rows[at])}",
            )

    def initialize(self, keys: Any, values: Any) -> None:
        """Initializes a fixed table, unless that was done before."""
        with self._lock:
            if not self.initialized:
                self.insert(keys, values)
                self.initialized = True

    def _of_buckets(self, keys: Any, values: Any) -> tuple[Any, Any]:
        """What TensorFlow's dense tables export: all their buckets, the unused ones with a
        forbidden key, and the keys with a dimension of 1 more."""
        if keys.ndim == 2 and keys.shape[1] == 1:
            keys = keys[:, 0]
            values = values.reshape((len(keys), *self._inner))
        used = ~np.isin(keys, np.array([k for _, k in self.forbidden], keys.dtype))
        return keys[used], values[used]

    def replace(self, keys: Any, values: Any) -> None:
        """Makes these the only keys."""
        if self.forbidden:
            keys, values = self._of_buckets(keys, values)
        with self._lock:
            self._rows, self._used = {}, 0
            self.insert(keys, values)

    def remove(self, keys: Any) -> None:
        """Removes keys; absent ones are ignored."""
        key_list = self._keys(keys)
        with self._lock:
            self._changed()
            for key in key_list:
                self._rows.pop(key, None)
            if self._used > 2 * len(self._rows) + _INITIAL_ROWS:
                keys, values = self.export()
                self.replace(keys, values)

    def export(self) -> tuple[Any, Any]:
        """All keys and their values."""
        with self._lock:
            if not self.initialized:
                raise errors.AbortedError(None, None, "HashTable is not initialized.")
            keys = np.empty(len(self._rows), self.key_dtype.numpy)
            keys[:] = list(self._rows)
            row_indices = np.fromiter(self._rows.values(), np.int64, len(self._rows))
            return keys, self._values[row_indices]

    def __repr__(self) -> str:
        return (
            f'<ResourceHandle(name="{self.name}", '
            'device="/job:localhost/replica:0/task:0/device:CPU:0", container="localhost", '
            'type="tensorflow::lookup::LookupInterface", dtype and shapes : "[  ]")>'
        )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
