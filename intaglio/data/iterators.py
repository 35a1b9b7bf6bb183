"""Iterators and optionals as values of graphs: resources, and the ops on them."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.base.dtypes import (
    BY_NUMPY,
    RESOURCE_MARKER,
    VARIANT_MARKER,
    int64,
    resource,
    string,
    uint64,
    variant,
)
from intaglio.base.dtypes import bool_ as boolean
from intaglio.base.locks import lasting_lock
from intaglio.data import late
from intaglio.data.stage import ELEMENTS, OUTPUTS, Advance, Element, Root, Stage
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec

END = "End of sequence"


class IteratorResource:
    """The value of an iterator's handle: an open stage, and an element that `has_next` has computed."""

    __slots__ = (
        "__weakref__",
        "_advance",
        "_ahead",
        "_checked",
        "_handle",
        "_lock",
        "_root",
        "count",
        "stage",
    )

    dtype = RESOURCE_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    spec = None

    def __init__(self) -> None:
        self._advance: Advance | None = None
        self._ahead: Element | None = None
        self._checked: Any = None  # the types that an element had
        self._handle: bytes | None = None
        self._lock = lasting_lock()
        self._root = Root()
        self.stage: Stage | None = None
        self.count = 0

    def string_handle(self) -> bytes:
        """The string that identifies the iterator in graphs."""
        with self._lock:
            if self._handle is None:
                self._handle = b"iterator %d" % next(_numbers)
                _BY_HANDLE[self._handle] = self
            return self._handle

    def begin(self, stage: Stage) -> None:
        """Starts at the first element of the stage."""
        with self._lock:
            self._begin(stage)

    def _begin(self, stage: Stage) -> None:
        self._root = Root()
        self._advance, self._ahead, self.count = stage.open(self._root), None, 0
        self.stage = stage
        self._checked = None

    def save(self) -> Any:
        """The position as a plain value."""
        with self._lock:
            ahead = None if self._ahead is None else list(self._ahead)
            return [self.count, ahead, self._root.save()]

    def restore(self, position: Any) -> None:
        """Goes to a position of an iterator over an equal dataset.

        Raises FailedPreconditionError if the iterator has no dataset.
        """
        with self._lock:
            if self.stage is None:
                raise errors.FailedPreconditionError(
                    None, None, "the iterator has no dataset: initialize it first"
                )
            self._begin(self.stage)
            count, ahead, inner = position
            self._root.restore(inner)
            self.count, self._ahead = count, None if ahead is None else tuple(ahead)

    def next(self) -> Element:
        """The next element. Raises StopIteration at the end."""
        with self._lock:
            if self._ahead is not None:
                found, self._ahead = self._ahead, None
            else:
                found = self._step()
            self.count += 1
            return found

    def next_of(self, types: Any) -> Element:
        """The next element, checked against the declared types."""
        element = self.next()
        if self._checked is not types:
            checked(element, types)
            self._checked = types
        return element

    def has_next(self) -> bool:
        """True if `next` will return an element; computes it."""
        with self._lock:
            if self._ahead is None:
                try:
                    self._ahead = self._step()
                except StopIteration:
                    return False
            return True

    def _step(self) -> Element:
        if self._advance is None:
            raise errors.FailedPreconditionError(
                None,
                None,
                "GetNext() failed because the iterator has not been initialized. Ensure that "
                "you have run the initializer operation for this iterator before getting "
                "the next element.",
            )
        return self._advance()


class OptionalValue:
    """The value of an optional tensor: the components, or None."""

    __slots__ = ("components",)

    dtype = VARIANT_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1

    def __init__(self, components: Element | None) -> None:
        self.components = components


def component_specs(types: Any, dims: Any) -> list[Spec]:
    """The specs of an element's components."""
    return [Spec(t, d) for t, d in zip(types, dims, strict=True)]


def checked(element: Element, types: Any) -> list[Any]:
    """An element's arrays. Raises InvalidArgumentError if they are not of the types declared."""
    if len(element) != len(types):
        raise errors.invalid_argument(
            f"Number of components does not match: expected {len(types)} types but got {len(element)}."
        )
    for index, (array, wanted) in enumerate(zip(element, types, strict=True)):
        if array.dtype != wanted.numpy and BY_NUMPY.get(array.dtype) is not wanted:
            raise errors.invalid_argument(
                f"Data type mismatch at component {index}: expected {wanted.kernel_name} but "
                f"got {BY_NUMPY[array.dtype].kernel_name}."
            )
    return list(element)


class IteratorOp(Op):
    """An op on an iterator, in program order."""

    on_host = True
    stateful = True
    differentiable = False


@op
class AnonymousIteratorV3(IteratorOp):
    """An iterator that only its handle refers to."""

    signature = f"; {ELEMENTS} -> handle: resource"

    def infer(self) -> Spec:
        return Spec(resource, ())

    def kernel(self):
        return IteratorResource()


@op
class IteratorV2(IteratorOp):
    """The iterator of a name, which the sessions of a graph each have of their own."""

    signature = f"; shared_name: str, container: str, {ELEMENTS} -> handle: resource"

    def infer(self) -> Spec:
        return Spec(resource, ())

    def kernel(self, shared_name, container, resources):
        return resources.shared(shared_name, container, lambda name: IteratorResource())


@op
class OneShotIterator(IteratorOp):
    """The iterator of a name, which begins by itself with the dataset that a function makes."""

    signature = (
        f"; dataset_factory: func, {ELEMENTS}, container: str = '', shared_name: str = ''"
        " -> handle: resource"
    )
    control_flow = "call"

    def infer(self) -> Spec:
        return Spec(resource, ())

    def kernel(self, dataset_factory, container, shared_name, resources, run):
        found = resources.shared(shared_name, container, lambda name: IteratorResource())
        if found.stage is None:
            found.begin(run(dataset_factory, [])[0])
        return found


# Handles as strings, and the iterators that they stand for. A handle is a number of its iterator, and
# nothing of the process: what a program reads from outside names no iterator that it was not given.
_BY_HANDLE: weakref.WeakValueDictionary[bytes, IteratorResource] = weakref.WeakValueDictionary()
_numbers = itertools.count()


@op
class IteratorToStringHandle(IteratorOp):
    """A string that stands for the iterator, in this process."""

    signature = "resource_handle: resource; -> string_handle: string"

    def infer(self) -> Spec:
        return Spec(string, ())

    def kernel(self, resource_handle):
        return np.array(resource_handle.string_handle(), object)


@op
class IteratorFromStringHandleV2(IteratorOp):
    """The iterator for which a string stands."""

    signature = (
        "string_handle: string; output_types: list(type) = [], output_shapes: list(shape) = []"
        " -> resource_handle: resource"
    )

    def infer(self) -> Spec:
        return Spec(resource, ())

    def kernel(self, string_handle):
        found = _BY_HANDLE.get(string_handle.item())
        if found is None:
            raise errors.invalid_argument("Could not parse string_handle as a valid ResourceHandle")
        return found


@op
class MakeIterator(IteratorOp):
    """Starts the iterator at the dataset's first element."""

    signature = "dataset: variant, iterator: resource; -> "

    def infer(self) -> None:
        return None

    def kernel(self, dataset, iterator):
        iterator.begin(dataset)


@op
class IteratorGetNext(IteratorOp):
    """The next element; OutOfRangeError after the last."""

    signature = f"iterator: resource; {ELEMENTS} -> components: *output_types"
    reaches_outside = "data"

    def infer(self, output_types, output_shapes) -> Any:
        return [component_specs(output_types, output_shapes)]

    def kernel(self, iterator, output_types):
        try:
            return list(iterator.next_of(output_types))
        except StopIteration:
            raise errors.OutOfRangeError(None, None, END) from None


@op
class IteratorHasNext(IteratorOp):
    """Whether there is a next element, which the iterator keeps; an op of our own."""

    signature = "iterator: resource; -> more: bool"
    reaches_outside = "data"

    def infer(self) -> Spec:
        return Spec(boolean, ())

    def kernel(self, iterator):
        return np.bool_(iterator.has_next())


@op
class IteratorGetNextAsOptional(IteratorOp):
    """The next element, or nothing, as an optional."""

    signature = f"iterator: resource; {ELEMENTS} -> optional: variant"
    reaches_outside = "data"

    def infer(self) -> Spec:
        return Spec(variant, ())

    def kernel(self, iterator):
        try:
            return OptionalValue(iterator.next())
        except StopIteration:
            return OptionalValue(None)


class OptionalOp(Op):
    """An op on optionals."""

    on_host = True
    differentiable = False


@op
class OptionalFromValue(OptionalOp):
    """An optional with these components."""

    signature = "components: *Toutput_types; -> optional: variant"

    def infer(self) -> Spec:
        return Spec(variant, ())

    def kernel(self, components):
        return OptionalValue(tuple(components))


@op
class OptionalNone(OptionalOp):
    """An optional without a value."""

    signature = "; -> optional: variant"

    def infer(self) -> Spec:
        return Spec(variant, ())

    def kernel(self):
        return OptionalValue(None)


@op
class OptionalHasValue(OptionalOp):
    """Whether there is a value."""

    signature = "optional: variant; -> has_value: bool"

    def infer(self) -> Spec:
        return Spec(boolean, ())

    def kernel(self, optional):
        return np.bool_(optional.components is not None)


@op
class OptionalGetValue(OptionalOp):
    """The optional's components; InvalidArgumentError if there are none."""

    signature = f"optional: variant; {ELEMENTS} -> components: *output_types"

    def infer(self, output_types, output_shapes) -> Any:
        return [component_specs(output_types, output_shapes)]

    def kernel(self, optional, output_types):
        if optional.components is None:
            raise errors.invalid_argument("The given optional does not have a value.")
        return checked(optional.components, output_types)


@op
class DatasetToSingleElement(IteratorOp):
    """The only element of a dataset."""

    signature = f"dataset: variant; {OUTPUTS} -> components: *output_types"
    reaches_outside = "data"

    def infer(self, output_types, output_shapes) -> Any:
        return [component_specs(output_types, output_shapes)]

    def kernel(self, dataset, output_types):
        root = Root()  # as long as this is here, what the stages keep is too
        advance = dataset.open(root)
        try:
            element = advance()
        except StopIteration:
            raise errors.invalid_argument("Dataset was empty.") from None
        try:
            advance()
        except StopIteration:
            return checked(element, output_types)
        raise errors.invalid_argument("Dataset had more than one element.")


@op
class DatasetCardinality(OptionalOp):
    """The number of elements, -1 for infinitely many, -2 if it is not known."""

    signature = "input_dataset: variant; cardinality_options: str = '' -> cardinality: int64"

    def infer(self) -> Spec:
        return Spec(int64, ())

    def kernel(self, input_dataset):
        return np.int64(input_dataset.cardinality)


@op
class GetElementAtIndex(Op):
    """One element by its index, where the dataset has random access."""

    signature = f"dataset: variant, index: int64; {ELEMENTS} -> components: *output_types"
    differentiable = False

    def infer(self, output_types, output_shapes) -> Any:
        return [component_specs(output_types, output_shapes)]

    def kernel(self, dataset, index, output_types):
        number, size = int(index), dataset.cardinality
        if dataset.at is None:
            raise errors.UnimplementedError(
                None,
                None,
                f"Random access is not implemented for dataset {dataset.name}DatasetOp::Dataset",
            )
        if number < 0 or 0 <= size <= number:
            raise errors.OutOfRangeError(None, None, f"Index out of range [0, {size}):{number}")
        return checked(dataset.at(number), output_types)


@op
class DatasetFingerprint(Op):
    """A number that pipelines of the same ops, data and functions have in common."""

    signature = "input_dataset: variant; -> fingerprint: uint64"
    differentiable = False

    def infer(self) -> Spec:
        return Spec(uint64, ())

    def kernel(self, input_dataset):
        return np.uint64(late.serializing.fingerprint(input_dataset))
