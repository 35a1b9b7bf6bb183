"""Iterators of plain graphs, for sessions: `tf.compat.v1.data.make_initializable_iterator`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/data/Iterator.
"""

from __future__ import annotations

from typing import Any

from intaglio.base import nest
from intaglio.base.dtypes import string
from intaglio.base.shapes import TensorShape
from intaglio.data import element, iterating
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.opdef import convert, raw
from intaglio.trace import scopes
from intaglio.trace.variable_creation import nodes_above
from intaglio.type_specs.type_spec import TensorSpec


class HasElementParts:
    """The structure of elements in parts, as TensorFlow 1 has it, of a class with `element_spec`."""

    @property
    def output_types(self: Any) -> Any:
        """The dtypes of an element."""
        return nest.map_structure(lambda spec: spec.dtype, self.element_spec)

    @property
    def output_shapes(self: Any) -> Any:
        """The shapes of an element."""
        return nest.map_structure(lambda spec: spec.shape, self.element_spec)

    @property
    def output_classes(self: Any) -> Any:
        """The classes of the components of an element."""
        return nest.map_structure(lambda spec: spec.value_type, self.element_spec)


class Iterator(HasElementParts, iterating.Iterator[Any]):
    """Goes through the elements of a dataset: each run of `get_next`'s tensors is one step."""

    def __init__(self, handle: Any, element_spec: Any, initializer: Any = None) -> None:
        super().__init__(handle, element_spec)
        self._initializer = initializer

    @property
    def initializer(self) -> Any:
        """The operation that begins with the first element. Raises ValueError for iterators without one."""
        if self._initializer is None:
            raise ValueError(
                "The iterator does not have an initializer. This means it was likely created using "
                "`tf.data.Dataset.make_one_shot_iterator()`. For an initializable iterator, use "
                "`tf.data.Dataset.make_initializable_iterator()` instead."
            )
        return self._initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Any:
        """The operation that begins with the first element of a dataset. Raises TypeError for other elements."""
        for own, other in zip(
            nest.flatten(self.element_spec), nest.flatten(dataset.element_spec), strict=True
        ):
            if not own.is_compatible_with(other):
                raise TypeError(
                    f"Expected output types and shapes {self.element_spec!r} but got dataset with "
                    f"{dataset.element_spec!r}."
                )
        return _begin(dataset, self.handle_tensor, name)

    def get_next(self, name: str | None = None) -> Any:
        """The tensors of the next element; running them raises OutOfRangeError after the last."""
        tensors = raw.IteratorGetNext(
            self.handle_tensor, **element.output_attrs(self.element_spec), name=name
        )
        return element.packed(self.element_spec, tensors)

    def string_handle(self, name: str | None = None) -> Any:
        """A string tensor that stands for the iterator, to be fed to `from_string_handle`."""
        return raw.IteratorToStringHandle(self.handle_tensor, name=name)

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> Iterator:
        """The iterator for which a string stands when the graph runs: that of a session's `string_handle()`.

        Running it raises InvalidArgumentError for any other string, and for elements of other types.
        """
        spec = _spec(output_types, output_shapes)
        handle = raw.IteratorFromStringHandleV2(
            convert.to_tensor(string_handle, string), **element.output_attrs(spec)
        )
        return Iterator(handle, spec)

    @staticmethod
    def from_structure(
        output_types: Any,
        output_shapes: Any = None,
        shared_name: str | None = None,
        output_classes: Any = None,
    ) -> Iterator:
        """An iterator over elements of a structure, which `make_initializer` gives datasets."""
        spec = _spec(output_types, output_shapes)
        return Iterator(_named_handle(spec, shared_name), spec)


def _spec(output_types: Any, output_shapes: Any) -> Any:
    """The structure of specs of these dtypes and shapes; without shapes, of any."""
    shapes = output_shapes
    if shapes is None:
        shapes = nest.map_structure(lambda _: TensorShape(None), output_types)
    flat = nest.flatten_up_to(output_types, shapes)
    kinds = nest.flatten(output_types)
    specs = [TensorSpec(shape, kind) for shape, kind in zip(flat, kinds, strict=True)]
    return nest.pack_sequence_as(output_types, specs)


def make_one_shot_iterator(dataset: Any) -> Any:
    """An iterator that begins by itself, in each session once; eagerly one of Python.

    Raises ValueError for a dataset that takes placeholders or variables of the graph.
    """
    if scopes.executing_eagerly() or scopes.inside_function():
        return iter(dataset)
    handle = dataset.handle_tensor
    nodes: list[Any] = []
    if isinstance(handle, SymbolicTensor):
        nodes = list(nodes_above(handle))
        outside = [n for n in nodes if n.op in (raw.Placeholder, raw.VarHandleOp)]
        if outside:
            raise ValueError(
                "Failed to create a one-shot iterator for a dataset. `Dataset.make_initializable_iterator()` is more "
                f"suitable: the dataset takes {outside[0].name!r} of the graph."
            )
    factory = Graph("dataset_factory", [], nodes, [handle])
    handle = raw.OneShotIterator(
        dataset_factory=factory, **element.output_attrs(dataset.element_spec)
    )
    return Iterator(handle, dataset.element_spec)


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Iterator:
    """An iterator that its `initializer` begins, as often as it runs. Raises RuntimeError eagerly."""
    if scopes.executing_eagerly():
        raise RuntimeError(
            "`make_initializable_iterator()` is not supported in eager mode. Use Python-style iteration instead."
        )
    handle = _named_handle(dataset.element_spec, shared_name)
    return Iterator(handle, dataset.element_spec, _begin(dataset, handle, None))


def _named_handle(spec: Any, shared_name: str | None) -> Any:
    return raw.IteratorV2(shared_name=shared_name or "", container="", **element.output_attrs(spec))


def _begin(dataset: Any, handle: Any, name: str | None) -> Any:
    raw.MakeIterator(dataset.handle_tensor, handle, name=name)
    return handle.node.graph.nodes[-1]
