"""`RaggedTensor`: tensors with rows of different lengths.

Follows https://www.tensorflow.org/api_docs/python/tf/RaggedTensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from intaglio.autograph import loops
from intaglio.base import dtypes
from intaglio.base.shapes import TensorShape
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable_method, public_methods
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import (
    bounds,
    checks,
    core,
    densities,
    elementwise,
    gradients,
    indexing,
    operators,
    printing,
    text,
)
from intaglio.ragged.core import Ragged
from intaglio.ragged.hooks import HOOKS
from intaglio.ragged.partition import RowPartition, check_flag
from intaglio.trace.scopes import name_scope


@public_methods
class RaggedTensor(Ragged):
    """A tensor with one or more dimensions whose slices have different lengths.

    It is `values`, the concatenated rows, and a partition of them, with the offsets `row_splits`
    [nrows + 1]; values may be ragged again. All `from_` methods take `validate` (False: the
    arguments are not checked); inconsistent ones raise InvalidArgumentError.
    """

    __module__ = "tensorflow.python.ops.ragged.ragged_tensor"  # Keras recognises it by this
    __slots__ = ()
    __array_priority__ = 101
    __composite_gradient__ = gradients.ByFlatValues()
    __hash__: Any

    def __init__(self, values: Any, row_partition: Any, internal: bool = False) -> None:
        raise ValueError(
            "RaggedTensor constructor is private; please use one of the factory methods "
            "instead (e.g., RaggedTensor.from_row_lengths())"
        )

    # -- making --------------------------------------------------------------------------

    @property
    def _type_spec(self) -> Any:
        """The spec of this very value."""
        return HOOKS.spec_of(self)

    @classmethod
    def _of(cls, values: Any, rows: RowPartition, validate: bool) -> RaggedTensor:
        values = core.as_values(values, rows.dtype)
        checks.same_size(values.dims[0] if values.dims else None, rows.static_nvals)
        if validate:
            checks.compare(
                "==",
                rows.nvals(),
                core.row_count(values, rows.dtype),
                "Arguments to _from_row_partition do not form a valid RaggedTensor",
            )
        return core.ragged(values, rows)

    @classmethod
    @dispatchable_method
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: Any = True,
    ) -> RaggedTensor:
        """Values with their row's number, sorted. `nrows` counts empty rows at the end."""
        check_flag(validate)
        with name_scope(name or "RaggedFromValueRowIds"):
            values = core.as_values(values)
            rows = RowPartition.from_value_rowids(
                value_rowids, nrows, validate, dtype_hint=core.splits_dtype(values)
            )
            return cls._of(values, rows, validate)

    @classmethod
    @dispatchable_method
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: Any = True
    ) -> RaggedTensor:
        """The rows between neighbouring splits: sorted, from 0 to the number of values."""
        check_flag(validate)
        with name_scope(name or "RaggedFromRowSplits"):
            values = core.as_values(values)
            rows = RowPartition.from_row_splits(
                row_splits, validate, dtype_hint=core.splits_dtype(values)
            )
            return cls._of(values, rows, validate)

    @classmethod
    @dispatchable_method
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: Any = True
    ) -> RaggedTensor:
        """Rows of these lengths, which add up to the number of values."""
        check_flag(validate)
        with name_scope(name or "RaggedFromRowLengths"):
            values = core.as_values(values)
            rows = RowPartition.from_row_lengths(
                row_lengths, validate, dtype_hint=core.splits_dtype(values)
            )
            return cls._of(values, rows, validate)

    @classmethod
    @dispatchable_method
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: Any = True
    ) -> RaggedTensor:
        """Rows that begin here, the first one at 0."""
        check_flag(validate)
        with name_scope(name or "RaggedFromRowStarts"):
            values = core.as_values(values)
            hint = core.splits_dtype(values)
            dtype = row_starts.dtype if isinstance(row_starts, Tensor) else hint
            count = core.row_count(values, dtype)
            rows = RowPartition.from_row_starts(row_starts, count, validate, dtype_hint=hint)
            return cls._of(values, rows, validate)

    @classmethod
    @dispatchable_method
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: Any = True
    ) -> RaggedTensor:
        """Rows that end here, the last one with the values."""
        check_flag(validate)
        with name_scope(name or "RaggedFromRowLimits"):
            values = core.as_values(values)
            rows = RowPartition.from_row_limits(
                row_limits, validate, dtype_hint=core.splits_dtype(values)
            )
            return cls._of(values, rows, validate)

    @classmethod
    @dispatchable_method
    def from_uniform_row_length(
        cls,
        values: Any,
        uniform_row_length: Any,
        nrows: Any = None,
        validate: Any = True,
        name: str | None = None,
    ) -> RaggedTensor:
        """Rows of one length. `nrows` is needed where the length is 0."""
        check_flag(validate)
        with name_scope(name or "RaggedFromUniformRowLength"):
            values = core.as_values(values)
            dtype = core.splits_dtype(values)
            if isinstance(uniform_row_length, Tensor) and not isinstance(values, Ragged):
                dtype = uniform_row_length.dtype
            rows = RowPartition.from_uniform_row_length(
                core.as_index(uniform_row_length, dtype),
                core.row_count(values, dtype),
                None if nrows is None else core.as_index(nrows, dtype),
                validate,
            )
            return cls._of(values, rows, validate)

    @classmethod
    @dispatchable_method
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Any,
        nested_nrows: Any = None,
        name: str | None = None,
        validate: Any = True,
    ) -> Any:
        """Several ragged dimensions by their rows' numbers, the outermost first."""
        check_flag(validate)
        _check_list(nested_value_rowids, "nested_value_rowids")
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        else:
            _check_list(nested_nrows, "nested_nrows")
            if len(nested_nrows) != len(nested_value_rowids):
                raise ValueError(
                    "Argument `nested_nrows` must have the same length as argument "
                    f"`nested_value_rowids`. len(nested_nrows) = {len(nested_nrows)} vs."
                    f" len(nested_values_rowids) = {len(nested_value_rowids)}."
                )
        with name_scope(name or "RaggedFromNestedValueRowIds"):
            result = flat_values
            pairs = list(zip(nested_value_rowids, nested_nrows, strict=True))
            for rowids, nrows in reversed(pairs):
                result = cls.from_value_rowids(result, rowids, nrows, validate=validate)
            return result

    @classmethod
    @dispatchable_method
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Any, name: str | None = None, validate: Any = True
    ) -> Any:
        """Several ragged dimensions by their row splits, the outermost first."""
        check_flag(validate)
        _check_list(nested_row_splits, "nested_row_splits")
        with name_scope(name or "RaggedFromNestedRowSplits"):
            result = flat_values
            for splits in reversed(nested_row_splits):
                result = cls.from_row_splits(result, splits, validate=validate)
            return result

    @classmethod
    @dispatchable_method
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Any,
        name: str | None = None,
        validate: Any = True,
    ) -> Any:
        """Several ragged dimensions by their rows' lengths, the outermost first."""
        check_flag(validate)
        _check_list(nested_row_lengths, "nested_row_lengths")
        with name_scope(name or "RaggedFromNestedRowlengths"):
            result = flat_values
            for lengths in reversed(nested_row_lengths):
                result = cls.from_row_lengths(result, lengths, validate=validate)
            return result

    @classmethod
    @dispatchable_method
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: Any = 1,
        name: str | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> Any:
        """The rows of a tensor without what `lengths` or trailing `padding` leaves out."""
        with name_scope(name or "RaggedFromTensor"):
            return densities.from_tensor(tensor, lengths, padding, ragged_rank, row_splits_dtype)

    @classmethod
    @dispatchable_method
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64
    ) -> Any:
        """The values of a sparse matrix, whose entries are at the beginning of its rows."""
        with name_scope(name or "RaggedFromSparse"):
            return densities.from_sparse(st_input, row_splits_dtype)

    # -- reading -------------------------------------------------------------------------

    def get_shape(self) -> TensorShape:
        """The static shape; ragged dimensions have no size."""
        return self.shape

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The length of every row if it is the same by construction, else None."""
        return self._partition.uniform_row_length()

    def value_rowids(self, name: str | None = None) -> Tensor:
        """The row of each value."""
        with name_scope(name or "RaggedValueRowIds"):
            return self._partition.value_rowids()

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The rows of the values of all ragged dimensions, the outermost first."""
        with name_scope(name or "RaggedNestedValueRowIds"):
            return tuple([p.value_rowids() for p in self.nested_partitions])

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """The number of rows."""
        with name_scope(name or "RaggedNRows"):
            count = self._partition.nrows()
            return count if out_type is None else core.as_index(count, convert.as_dtype(out_type))

    def row_starts(self, name: str | None = None) -> Tensor:
        """Where rows begin."""
        with name_scope(name or "RaggedRowStarts"):
            return self._partition.row_starts()

    def row_limits(self, name: str | None = None) -> Tensor:
        """Where rows end."""
        with name_scope(name or "RaggedRowLimits"):
            return self._partition.row_limits()

    def row_lengths(self, axis: Any = 1, name: str | None = None) -> Any:
        """The lengths of the rows, or of the rows of an inner axis."""
        lengths = self.partition.known_lengths
        if lengths is not None and type(axis) is int and axis == 1:
            return lengths
        with name_scope(name or "RaggedRowLengths"):
            return bounds.row_lengths(self, axis)

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The rows' lengths of all ragged dimensions, the outermost first."""
        with name_scope(name or "RaggedNestedRowLengths"):
            return tuple([p.row_lengths() for p in self.nested_partitions])

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Tensor:
        """The shape of the smallest tensor that all rows fit into, or its size on axes."""
        with name_scope(name or "RaggedBoundingBox"):
            return bounds.bounding_shape(self, axis, out_type)

    def consumers(self) -> list[Any]:
        """The operations that take one of the tensors."""
        parts = [self.flat_values, *self.nested_row_splits]
        return [op for part in parts for op in part.consumers()]

    # -- remaking ------------------------------------------------------------------------

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same ragged tensor with int32 or int64 row splits."""
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        return core.ragged(values, self._partition.with_dtype(dtype))

    def merge_dims(self, outer_axis: Any, inner_axis: Any) -> Any:
        """The dimensions from `outer_axis` to `inner_axis` merged into one."""
        return bounds.merge_dims(self, outer_axis, inner_axis)

    def to_tensor(
        self, default_value: Any = None, name: str | None = None, shape: Any = None
    ) -> Tensor:
        """A tensor with `default_value` (by default 0 or "") where rows have no values.

        `shape` is that of the tensor, None for sizes that are as large as needed; what does
        not fit is left out.
        """
        with name_scope(name or "RaggedToTensor"):
            return densities.to_tensor(self, default_value, shape)

    def to_sparse(self, name: str | None = None) -> Any:
        """The values as a sparse tensor."""
        with name_scope(name or "RaggedToSparse"):
            return densities.to_sparse(self)

    def to_list(self) -> Any:
        """The values as nested Python lists. Raises ValueError in a graph."""
        if not isinstance(self.row_splits, Tensor) or not door.level().eager:
            raise ValueError("to_list can only be used in eager mode or with a RaggedTensorValue")
        return text.as_list(self)

    def numpy(self) -> Any:
        """The values as an array; of arrays, if rows have different lengths."""
        if not door.level().eager:
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        return text.as_array(self)

    # -- Python --------------------------------------------------------------------------

    def __repr__(self) -> str:
        return text.shown(self)

    def __getitem__(self, key: Any) -> Any:
        # Libraries give this method to classes of theirs.
        if isinstance(self, Ragged):
            return indexing.getitem(self, key)
        return indexing.ragged_getitem(self, key)

    def __iter__(self) -> Iterator[Any]:
        count = self._partition.static_nrows
        if count is None:
            raise TypeError("Cannot iterate over a RaggedTensor whose number of rows is not known")
        for i in range(count):
            yield self[i]

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __reduce__(self) -> Any:
        return core.nested, (self.flat_values, self.nested_partitions)

    def __tf_text__(self, summarize: int) -> Tensor:
        """The rows as `tf.print` shows them."""
        return printing.text(self, summarize)

    def __autograph_for__(
        self,
        extra_test: Any,
        body: Any,
        get_state: Any,
        set_state: Any,
        names: Sequence[str],
        options: dict[str, Any],
    ) -> None:
        """A `for` statement over the rows in converted code."""
        if door.level().eager:
            loops.python_for(self, extra_test, body)
            return
        loops.for_rows(
            self._partition.nrows(),
            self.__getitem__,
            extra_test,
            body,
            get_state,
            set_state,
            names,
            options,
        )

    @staticmethod
    def __autograph_builtin__(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`len(ragged)` in converted code is the number of rows."""
        if function is len and not door.level().eager:
            return raw.Cast(args[0].nrows(), DstT=dtypes.int32)
        return function(*args, **kwargs)


operators.install(RaggedTensor, elementwise.binary, elementwise.unary)


def _no_tensor(value: Any, dtype: Any = None, name: Any = None, as_ref: Any = False) -> Any:
    """A ragged tensor never becomes a tensor unasked."""
    raise ValueError("TypeError: object of type 'RaggedTensor' has no len()\n")


convert.register(RaggedTensor, _no_tensor)


def _check_list(value: Any, name: str) -> None:
    if not isinstance(value, (list, tuple)):
        shown = text.plain(value)
        raise TypeError(f"Argument `{name}` must be a list of Tensors. Received {shown}.")
