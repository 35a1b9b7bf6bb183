"""`tf.TensorArray` and `tf.TensorArraySpec`.

Follows https://www.tensorflow.org/api_docs/python/tf/TensorArray and
https://www.tensorflow.org/api_docs/python/tf/TensorArraySpec.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import DType, as_dtype, float32, variant
from intaglio.base.shapes import TensorShape, as_dims
from intaglio.opdef import door
from intaglio.opdef.tensor import Tensor
from intaglio.type_specs.array_facts import Facts
from intaglio.type_specs.eager_array import EagerArray
from intaglio.type_specs.graph_array import ListedArray
from intaglio.type_specs.trace_type import TraceType
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec


class TensorArray(CompositeTensor):
    """An array of tensors of one dtype, written and read element by element.

    Eagerly it is a list that `write` changes; in a graph every change makes a new array, so
    always write `array = array.write(i, value)`. It can be a loop variable, an argument and
    a result of a `tf.function`.

    `size` is an integer or scalar int32 tensor; with `dynamic_size` writing beyond it makes
    the array longer. `clear_after_read` (default True) lets an eager array forget elements
    once they are read. With `infer_shape` all elements must have one shape;
    `element_shape` is what is known of it beforehand. Elements never written are zeros.
    `flow` is the tensor list of another array. `tensor_array_name`, `handle` and
    `colocate_with_first_write_call` are without effect.

    Raises ValueError without a size (or flow), or for a `handle`.

    >>> array = tf.TensorArray(tf.int32, size=2)
    >>> array = array.write(0, 7).write(1, 8)
    >>> print(array.stack().numpy())
    [7 8]
    """

    __slots__ = ("__weakref__", "_array")

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        eager = door.level().eager
        if handle is not None:
            raise ValueError(
                "TensorArray handles are not supported when eager execution is enabled."
            )
        dims = as_dims(element_shape)
        facts = Facts(as_dtype(dtype), dims, bool(infer_shape), bool(dynamic_size))
        listed = isinstance(flow, Tensor) and flow.dtype is variant
        if eager and not listed:
            clear = clear_after_read is None or bool(clear_after_read)
            self._array: Any = EagerArray(facts, size, clear)
        elif flow is not None:
            if size is not None or element_shape is not None:
                other = "size" if size is not None else "element_shape"
                raise ValueError(
                    f"Cannot provide both `flow` and `{other}` arguments at the same time."
                )
            self._array = ListedArray(facts, flow)
        else:
            self._array = ListedArray.reserved(facts, size, name)

    @classmethod
    def _around(cls, array: Any) -> TensorArray:
        instance = cls.__new__(cls)
        instance._array = array
        return instance

    def _now(self, array: Any) -> TensorArray:
        return self if array is self._array else self._around(array)

    # -- what is known -----------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The elements' type."""
        return self._array.facts.dtype

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the elements' shape."""
        return TensorShape(self._array.facts.dims)

    @property
    def dynamic_size(self) -> bool:
        """True if writing beyond the end makes the array longer."""
        return self._array.facts.dynamic

    @property
    def flow(self) -> Tensor:
        """The tensor list, in graphs."""
        return self._array.flow

    @property
    def handle(self) -> None:
        """None: arrays have no handle."""
        return None

    @staticmethod
    def __autograph_builtin__(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`len(array)` in converted code is its size."""
        if function is len:
            return args[0].size()
        return function(*args, **kwargs)

    @property
    def _infer_shape(self) -> bool:
        return self._array.facts.infer

    # -- elements --------------------------------------------------------------------

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`, a scalar int32; zeros if it was never written.

        Raises OutOfRangeError (eager) or InvalidArgumentError for an index outside, and
        InvalidArgumentError for an element that was cleared when it was read before.
        """
        return self._array.read(index, name)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with `value` at `index`: continue with what this returns.

        Raises InvalidArgumentError for a wrong dtype, ValueError for a wrong shape,
        OutOfRangeError (eager) or InvalidArgumentError for an index outside.
        """
        return self._now(self._array.write(index, value, name))

    # -- all at once -----------------------------------------------------------------

    def stack(self, name: str | None = None) -> Tensor:
        """The elements, all of one shape, as the rows of a tensor [size, ...]."""
        return self._array.stack(name)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at the indices (int32 vector) as the rows of a tensor."""
        return self._array.gather(indices, name)

    def concat(self, name: str | None = None) -> Tensor:
        """The elements joined along their first dimension, which may differ."""
        return self._array.concat(name)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """The array with the rows of `value` as elements: continue with what this returns.

        Raises ValueError for more rows than an eager array of fixed size has elements.
        """
        return self._now(self._array.unstack(value, name))

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with the rows of `value` at the indices (int32 vector).

        Raises InvalidArgumentError unless there are as many rows as indices.
        """
        return self._now(self._array.scatter(indices, value, name))

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """The array with consecutive parts of `value`, of these lengths, as elements.

        Raises InvalidArgumentError unless the lengths (vector) sum up to value's length.
        """
        return self._now(self._array.split(value, lengths, name))

    # -- the rest --------------------------------------------------------------------

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements, a scalar int32."""
        return self._array.size(name)

    def identity(self) -> TensorArray:
        """The same array, as of the current control dependencies."""
        return self._now(self._array.identity())

    def grad(self, source: Any, flow: Any = None, name: str | None = None) -> Any:
        """Raises NotImplementedError: gradients flow through arrays without it."""
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's gradient implementation does not "
            "use/need this function to compute gradients of operations that use TensorArrays."
        )

    def close(self, name: str | None = None) -> Any:
        """Lets go of an eager array's elements; does nothing in graphs."""
        return self._array.close(name)

    def mark_used(self) -> None:
        """Does nothing: unused arrays are not reported."""

    @property
    def _type_spec(self) -> TensorArraySpec:
        facts = self._array.facts
        spec = TensorArraySpec(facts.dims, facts.dtype, facts.dynamic, facts.infer)
        if isinstance(self._array, ListedArray):
            spec._facts = facts
        return spec


class TensorArraySpec(TypeSpec):
    """The type of a TensorArray: what is known of its elements, and whether it can grow."""

    __slots__ = ("_dims", "_dtype", "_dynamic_size", "_facts", "_infer_shape")

    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:
        self._dims = as_dims(element_shape)
        self._dtype = as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape
        # The facts of the very array that this is the spec of: the one rebuilt shares them.
        self._facts: Facts | None = None

    @classmethod
    def from_value(cls, value: Any) -> TensorArraySpec:
        """The spec of an array. Raises TypeError for anything else."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: `{type(value)}`")
        facts = value._array.facts
        return cls(facts.dims, facts.dtype, facts.dynamic, facts.infer)

    @property
    def value_type(self) -> Any:
        return TensorArray

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """True if dtype and growth agree and the element shapes could."""
        if not isinstance(spec_or_value, (TensorArray, TensorArraySpec)):
            return False
        other = (
            self.from_value(spec_or_value)
            if isinstance(spec_or_value, TensorArray)
            else spec_or_value
        )
        return (
            self._dtype is other._dtype
            and self._dynamic_size == other._dynamic_size
            and TensorShape(self._dims).is_compatible_with(other._dims)
        )

    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TensorArraySpec | None:
        """The most specific spec above all; None if dtype or growth differ."""
        dims = self._dims
        for other in others:
            if (
                not isinstance(other, TensorArraySpec)
                or other._dtype is not self._dtype
                or other._dynamic_size != self._dynamic_size
                or other._infer_shape != self._infer_shape
            ):
                return None
            joined = TensorShape(dims).most_specific_compatible_shape(other._dims)
            dims = as_dims(joined)
        return TensorArraySpec(dims, self._dtype, self._dynamic_size, self._infer_shape)

    def _serialize(self) -> tuple[Any, ...]:
        shape = TensorShape(self._dims)
        return (shape, self._dtype, self._dynamic_size, self._infer_shape)

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """The array if it may have this type. Raises TypeError."""
        if not isinstance(value, TensorArray) or not self.is_compatible_with(value):
            raise TypeError(f"Can not cast {value!r} to {self!r}")
        return value

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], variant)]

    def _to_components(self, value: Any) -> Any:
        if not isinstance(value, TensorArray):
            raise TypeError(f"value must be a TensorArray, but saw: `{type(value)}`")
        return [value._array.as_list_tensor()]

    def _from_components(self, components: Any) -> TensorArray:
        facts = self._facts
        if facts is None or door.level().eager:  # what a call returns is on its own
            facts = self._new_facts()
        return TensorArray._around(ListedArray(facts, components[0]))

    def _new_facts(self) -> Facts:
        dynamic = bool(self._dynamic_size)
        return Facts(self._dtype, self._dims, self._infer_shape, dynamic)

    def placeholder_value(self, placeholder_context: Any = None) -> TensorArray:
        """An array around a placeholder, with the facts of the spec only."""
        flow = placeholder_context.placeholder(self._component_specs[0])
        return TensorArray._around(ListedArray(self._new_facts(), flow))


__all__ = ["TensorArray", "TensorArraySpec"]
