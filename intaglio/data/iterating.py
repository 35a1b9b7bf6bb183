"""The Python classes of iterators and optionals, eager and in graphs.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Iterator and
https://www.tensorflow.org/api_docs/python/tf/experimental/Optional.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from intaglio.autograph import loops, whole_trace
from intaglio.base import errors
from intaglio.base.composite import CompositeTensor
from intaglio.base.devices import DEVICE
from intaglio.base.dtypes import string
from intaglio.data import element, late
from intaglio.data.iterators import IteratorResource
from intaglio.data.specs import IteratorSpec, OptionalSpec
from intaglio.function.user_errors import without_our_frames
from intaglio.opdef import convert, door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import EagerTensor, from_array
from intaglio.trace import control_flow

# So many elements Python takes of an iterator in graphs, TensorFlow's number: a graph has no end
# of the data, at which a loop of Python's would stop.
_PYTHON_STEPS = 32

# The type of the elements.
T = TypeVar("T")


class Iterator(CompositeTensor, Generic[T]):
    """An iterator over the elements of a dataset, whose position Python code and graphs share.

    Eagerly the end is StopIteration; in graphs, and for `get_next`, OutOfRangeError. In a graph
    Python sees no end: ValueError after 32 elements taken outside of converted code.
    """

    def __init__(self, handle: Any, element_spec: Any) -> None:
        self.handle_tensor = handle
        self._element_spec = element_spec
        self._resource: IteratorResource | None = (
            handle._array if isinstance(handle, EagerTensor) else None
        )
        self._pack: Callable[[Any], Any] = element.packer(element_spec)
        self._python_steps = 0

    @property
    def element_spec(self) -> Any:
        """The structure of the elements' types."""
        return self._element_spec

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self._element_spec)

    @property
    def _iterator_resource(self) -> Any:
        return self.handle_tensor

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        if self._resource is None or not door.level().eager:
            self._count_python_step()
            return self._recorded()
        try:
            return self._pack(self._resource.next())
        except errors.OpError as e:
            raise without_our_frames(_named(e, "IteratorGetNext")) from None
        except StopIteration:
            raise
        except Exception as e:  # the user's own
            raise without_our_frames(e) from None

    def next(self) -> Any:
        """The next element; the same as `next(iterator)`."""
        return self.__next__() if door.level().eager else self.get_next()

    def get_next(self) -> T:
        """The next element. Raises OutOfRangeError after the last."""
        if door.level().eager:
            try:
                return self.__next__()
            except StopIteration:
                raise errors.OutOfRangeError(
                    None, None, "End of sequence [Op:IteratorGetNext] name: "
                ) from None
        if not whole_trace.is_open():
            self._count_python_step()
        return self._recorded()

    def _count_python_step(self) -> None:
        """Raises ValueError for a loop of Python's in a graph, which would never end."""
        self._python_steps += 1
        if self._python_steps <= _PYTHON_STEPS:
            return
        what = "An unusually high number of `tf.data.Iterator.get_next()` calls was detected."
        if whole_trace.is_open():
            raise ValueError(
                f"{what} Comprehensions, generators, and functions that are not converted go "
                "through a dataset in Python, and in a graph it has no end there. Write a `for` "
                "statement, or use Dataset.reduce."
            )
        raise ValueError(
            f"{what} This suggests that the `for elem in dataset: ...` idiom is used within "
            "tf.function with AutoGraph disabled. This idiom is only supported when AutoGraph is "
            "enabled."
        )

    def _next_in_graph(self) -> Any:
        return self.__next__() if door.level().eager else self._recorded()

    def _recorded(self) -> Any:
        tensors = raw.IteratorGetNext(
            self.handle_tensor, **element.output_attrs(self._element_spec)
        )
        return element.packed(self._element_spec, tensors)

    # -- positions -----------------------------------------------------------------------

    def _save(self) -> Any:
        """The position as a string tensor."""
        state = late.serializing.to_bytes(self._own_resource().save())
        return convert.to_tensor(state, string)

    def _restore(self, state: Any) -> None:
        """Restores a position from `_save`, of an iterator over an equal dataset."""
        data = np.asarray(state).item()
        self._own_resource().restore(late.serializing.from_bytes(data))

    def _own_resource(self) -> IteratorResource:
        if self._resource is None:
            raise ValueError("The position of an iterator of a graph is not known.")
        return self._resource

    def _checkpoint_values(self) -> dict[str, Any]:
        """The values of the iterator that a checkpoint saves."""
        state = np.empty((), object)
        state[()] = late.serializing.to_bytes(self._own_resource().save())
        return {"ITERATOR_STATE": state}

    def _restore_checkpoint_values(self, values: Mapping[str, Any]) -> None:
        """Restores what `_checkpoint_values` returned.

        TensorFlow's iterators save variants that only its own kernels can read, under another name.
        """
        state = values.get("ITERATOR_STATE")
        if state is None:
            raise errors.invalid_argument(
                "The checkpoint has the position of an iterator of TensorFlow's, a variant of its kernels, which "
                "cannot be restored here (TensorFlow cannot restore one of Intaglio's either). Restore it with a "
                "Checkpoint without the iterator, and skip the elements that have been used: dataset.skip(steps)."
            )
        self._own_resource().restore(late.serializing.from_bytes(state.item()))

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {}

    def __reduce__(self) -> Any:
        resource = self._own_resource()
        parts = [resource.stage, resource.save()]
        return _unpickled, (late.serializing.to_bytes(parts), self._element_spec)

    def get_next_as_optional(self) -> Optional:
        """The next element as an optional, empty after the last."""
        handle = raw.IteratorGetNextAsOptional(
            self.handle_tensor, **element.output_attrs(self._element_spec)
        )
        return Optional(handle, self._element_spec)

    def __autograph_for__(
        self,
        extra_test: Any,
        body: Callable[[Any], None],
        get_state: Any,
        set_state: Any,
        names: Sequence[str],
        options: dict[str, Any],
    ) -> None:
        """A `for` statement over the iterator in converted code."""
        loops.for_each(
            self,
            self._has_next,
            self._next_in_graph,
            extra_test,
            body,
            get_state,
            set_state,
            names,
            options,
        )

    def _has_next(self) -> Tensor:
        return raw.IteratorHasNext(self.handle_tensor)

    @staticmethod
    def __autograph_builtin__(
        function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """`next(iterator, default)` in converted code of graphs."""
        if function is next and not door.level().eager:
            iterator, *default = args
            if not default:
                return iterator.get_next()
            return iterator.get_next_as_optional().value_or(*default)
        return function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Iterator element_spec={self._element_spec}>"


def _named(error: errors.OpError, op: str) -> errors.OpError:
    """The error in the form of an eager op's."""
    if "[Op:" not in error.message:
        error._message = f"{{{{function_node __wrapped__{op}_device_{DEVICE}}}}} {error.message} [Op:{op}] name: "
    return error


class Optional(CompositeTensor):
    """A value that may be missing."""

    def __init__(self, handle: Any, element_spec: Any) -> None:
        self.handle_tensor = handle
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The structure of the value's types."""
        return self._element_spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._element_spec)

    def has_value(self, name: str | None = None) -> Any:
        """A bool tensor: whether there is a value."""
        return raw.OptionalHasValue(self.handle_tensor, name=name)

    def get_value(self, name: str | None = None) -> Any:
        """The value. Raises InvalidArgumentError if there is none."""
        tensors = raw.OptionalGetValue(
            self.handle_tensor, **element.output_attrs(self._element_spec), name=name
        )
        return element.packed(self._element_spec, tensors)

    def value_or(self, default: Any) -> Any:
        """The value, or `default`: a choice in a graph."""
        from_default = element.normalized(default)
        return control_flow.cond(self.has_value(), self.get_value, lambda: from_default)

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An optional with the value."""
        value = element.normalized(value)
        structure = element.spec_of(value)
        handle = raw.OptionalFromValue(element.flat_tensors(structure, value))
        return Optional(handle, structure)

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """An optional without a value, that could have one of `element_spec`."""
        return Optional(raw.OptionalNone(), element_spec)


class NumpyIterator:
    """The elements of a dataset with arrays instead of tensors."""

    def __init__(self, dataset: Any) -> None:
        self._iterator: Iterator = dataset.__iter__()

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return element.as_numpy(next(self._iterator))

    def next(self) -> Any:
        """The next element."""
        return self.__next__()

    def save(self) -> Any:
        """The position as a string tensor."""
        return self._iterator._save()

    def restore(self, state: Any) -> None:
        """Restores a position from `save`."""
        self._iterator._restore(state)

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._iterator!r})"


def _unpickled(data: bytes, element_spec: Any) -> Iterator:
    """The iterator that was pickled, at its position."""
    stage, position = late.serializing.from_bytes(data)
    resource = IteratorResource()
    resource.begin(stage)
    resource.restore(position)
    return Iterator(from_array(resource), element_spec)


def begin(dataset: Any) -> Iterator[Any]:
    """An iterator at the dataset's first element, created eagerly or in a graph."""
    structure = dataset.element_spec
    if door.level().eager:
        resource = IteratorResource()
        resource.begin(dataset.handle_tensor._array)
        return Iterator(from_array(resource), structure)
    handle = raw.AnonymousIteratorV3(**element.output_attrs(structure))
    raw.MakeIterator(dataset.handle_tensor, handle)
    return Iterator(handle, structure)
