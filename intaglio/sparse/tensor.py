"""`SparseTensor`: the non-zero elements of a tensor, and their indices.

Follows https://www.tensorflow.org/api_docs/python/tf/sparse/SparseTensor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from intaglio.base.composite import TensorInParts
from intaglio.base.dtypes import DType, int64
from intaglio.base.shapes import Dims, TensorShape, as_dims, is_subshape, merge
from intaglio.ir.hooks import HOOKS as GRAPH_HOOKS
from intaglio.opdef import convert, door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.sparse.hooks import HOOKS
from intaglio.trace.scopes import name_scope


class SparseTensorValue(NamedTuple):
    """The arrays of a sparse tensor."""

    indices: Any
    values: Any
    dense_shape: Any


class ByValues:
    """The gradient protocol of sparse tensors: gradients are those of their values."""

    def get_gradient_components(self, value: Any) -> Any:
        """The tensor that has a gradient."""
        return value.values

    def replace_gradient_components(self, value: Any, component_gradients: Any) -> Any:
        """The gradient at the indices of the value."""
        return value.with_values(component_gradients)


class SparseTensor(TensorInParts):
    """Values [n] at indices [n, rank] of a tensor of shape `dense_shape` [rank], 0 elsewhere.

    Most functions need the indices in row-major order, each at most once (`tf.sparse.reorder`
    sorts them). Indices and shape are int64. Raises ValueError if the parts do not fit.
    """

    __module__ = "tensorflow.python.framework.sparse_tensor"  # Keras recognises it by this
    __slots__ = ("__dict__", "__weakref__", "_dense_shape", "_indices", "_static", "_values")
    __composite_gradient__ = ByValues()

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        with name_scope("SparseTensor"):
            self._indices = _part(indices, "indices", int64)
            self._values = _part(values, "values", None)
            self._dense_shape = _part(dense_shape, "dense_shape", int64)
        positions = TensorShape(self._indices.dims).with_rank(2)
        count = TensorShape(self._values.dims).with_rank(1)
        rank = TensorShape(self._dense_shape.dims).with_rank(1)
        for dim, other_dim in ((positions[0], count[0]), (positions[1], rank[0])):
            if dim is not None and other_dim is not None and dim != other_dim:
                raise ValueError(f"Dimensions {dim} and {other_dim} are not compatible")
        self._static: Dims = _static(self._dense_shape)

    @property
    def _type_spec(self) -> Any:
        """The spec of this very value."""
        return HOOKS.spec_of(self)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The parts in a session, the default one if None: a SparseTensorValue of arrays.

        Raises ValueError if there is no default session.
        """
        return GRAPH_HOOKS.run_in_session(self, feed_dict, session)

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """The sparse tensor of a SparseTensorValue. Raises TypeError for anything else."""
        if not is_sparse(sparse_tensor_value):
            raise TypeError(
                f"Argument sparse_tensor_value={sparse_tensor_value} is neither a "
                "SparseTensor nor SparseTensorValue."
            )
        value = sparse_tensor_value
        return cls(value.indices, value.values, value.dense_shape)

    # -- parts -----------------------------------------------------------------------

    @property
    def indices(self) -> Any:
        """The indices, an int64 matrix [n, rank]."""
        return self._indices

    @property
    def values(self) -> Any:
        """The values at the indices, a vector [n]."""
        return self._values

    def _shape_invariant_to_type_spec(self, shape: TensorShape) -> Any:
        """What a loop may make of the tensor if the shape of its `dense_shape` may be `shape`.

        Raises ValueError unless that has one dimension.
        """
        if shape.rank is None:
            return type(self._type_spec)(None, self.dtype)
        if shape.rank != 1:
            raise ValueError(
                f"Expected a shape with 1 dimension. Obtained: {shape} which has {shape.rank} dimensions. A loop "
                "may take a SparseTensor's `dense_shape` as its shape invariant, or a SparseTensorSpec."
            )
        rank = shape[0]
        return type(self._type_spec)(None if rank is None else [None] * rank, self.dtype)

    @property
    def dense_shape(self) -> Any:
        """The shape of the whole tensor, an int64 vector [rank]."""
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self._values.dtype

    @property
    def dims(self) -> Dims:
        """The static shape of the whole tensor as a tuple."""
        return self._static

    @property
    def shape(self) -> TensorShape:
        """The static shape of the whole tensor."""
        return TensorShape(self._static)

    def get_shape(self) -> TensorShape:
        """The static shape of the whole tensor."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Says what is known of the shape. Raises ValueError if it contradicts the present one."""
        known = TensorShape(shape)
        if not self.shape.is_compatible_with(known):
            raise ValueError(f"Shapes {self.shape} and {known} are incompatible")
        self._static = merge(self._static, as_dims(known))

    @property
    def op(self) -> Any:
        """The operation that makes the values."""
        return self._values.op

    @property
    def graph(self) -> Any:
        """The graph that the parts belong to."""
        return self._indices.graph

    def consumers(self) -> list[Any]:
        """The operations that take one of the parts."""
        found = [*self._indices.consumers(), *self._values.consumers()]
        return list({id(op): op for op in (*found, *self._dense_shape.consumers())}.values())

    def with_values(self, new_values: Any) -> SparseTensor:
        """Other values, as many as there are now, at the same indices."""
        result = SparseTensor(self._indices, new_values, self._dense_shape)
        result._static = self._static
        return result

    # -- Python ----------------------------------------------------------------------

    def __mul__(self, y: Any) -> SparseTensor:
        return self.with_values(_with_dense(raw.SparseDenseCwiseMul, self, y, "mul"))

    def __rmul__(self, x: Any) -> Any:
        if not isinstance(x, Tensor) and not hasattr(type(x), "__tf_tensor__"):
            return NotImplemented
        return self * x

    def __truediv__(self, y: Any) -> SparseTensor:
        return quotient(self, y)

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )

    def __reduce__(self) -> Any:
        return _unpickled, (self._indices, self._values, self._dense_shape)

    def __tf_text__(self, summarize: int) -> Tensor:
        """The parts as `tf.print` shows them."""
        return raw.StringFormat(
            [self._indices, self._values, self._dense_shape],
            template="'SparseTensor(indices={}, values={}, shape={})'",
            placeholder="{}",
            summarize=summarize,
        )


def _unpickled(indices: Any, values: Any, dense_shape: Any) -> SparseTensor:
    return SparseTensor(indices, values, dense_shape)


def _part(value: Any, name: str, dtype: DType | None) -> Any:
    if isinstance(value, Tensor) and dtype is not None and value.dtype is not dtype:
        raise ValueError(
            f"{name}: Tensor conversion requested dtype {dtype.name} for Tensor with "
            f"dtype {value.dtype.name}: {value!r}"
        )
    return convert.to_tensor(value, dtype, None if door.level().eager else name)


def _static(shape: Any) -> Dims:
    """What is known of the shape without running."""
    array = getattr(shape, "_array", None)
    if array is not None:
        return tuple([int(d) if d >= 0 else None for d in array])
    return shape.spec.as_shape()


def with_static(value: SparseTensor, dims: Dims) -> SparseTensor:
    """The sparse tensor, of whose shape this is known as well."""
    if not is_subshape(value._static, dims):
        value._static = merge(value._static, dims)
    return value


def _with_dense(op: Any, x: SparseTensor, y: Any, name: str) -> Any:
    dense = convert.to_tensor(y, x.dtype)
    return op(x.indices, x.values, x.dense_shape, dense, name=name)


def quotient(x: SparseTensor, y: Any) -> SparseTensor:
    """`x / y`; of integers, in floating point as of tensors."""
    if not x.dtype.is_integer:
        return x.with_values(_with_dense(raw.SparseDenseCwiseDiv, x, y, "truediv"))
    dense = convert.to_tensor(y, x.dtype)
    wide = "float32" if x.dtype.size <= 2 else "float64"
    above = x.with_values(raw.Cast(x.values, DstT=wide))
    return quotient(above, raw.Cast(dense, DstT=wide))


def is_sparse(value: Any) -> bool:
    """True for a SparseTensor or a SparseTensorValue."""
    return isinstance(value, (SparseTensor, SparseTensorValue))


def as_sparse(value: Any) -> SparseTensor:
    """A SparseTensor or SparseTensorValue as the former. Raises TypeError for anything else."""
    if isinstance(value, SparseTensor):
        return value
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    raise TypeError("Input must be a SparseTensor.")


def all_sparse(values: Any) -> list[SparseTensor]:
    """A list of SparseTensors. Raises TypeError if there is anything else."""
    if not isinstance(values, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    return [as_sparse(v) for v in values]


def _no_tensor(value: Any, dtype: Any = None, name: Any = None, as_ref: Any = False) -> Any:
    """A sparse tensor never becomes a tensor unasked."""
    raise ValueError(
        f"Attempt to convert a value ({value!r}) with an unsupported type "
        f"({type(value)!r}) to a Tensor. Use tf.sparse.to_dense for the whole tensor, "
        "or its `values`."
    )


convert.register(SparseTensor, _no_tensor)
