"""Restoring: values of a bundle into live objects, now and when objects come later.

Follows https://www.tensorflow.org/guide/checkpoint, "Loading mechanics" and "Delayed
restorations".
"""

from __future__ import annotations

from typing import Any

from intaglio.base import errors, shapes
from intaglio.base.dtypes import DType
from intaglio.base.errors import UnsupportedFileError
from intaglio.graphdef.declarations import MalformedError, parsed
from intaglio.graphdef.saved_messages import TrackableObjectGraph
from intaglio.runtime.eager import from_array
from intaglio.saved_model import names
from intaglio.saved_model.bundle import Bundle
from intaglio.saved_model.object_graph import Children, ObjectGraph, is_trackable
from intaglio.state.tracking import AutoTrackable, when_set
from intaglio.state.variable import Variable
from intaglio.trace.scopes import init_scope


class LoadStatus:
    """What restoring has done so far, and assertions about it."""

    def __init__(self, prefix: str, root: Any, find: Children) -> None:
        self.root = root
        self._find = find
        self.bundle = Bundle(prefix)
        if names.OBJECT_GRAPH_KEY not in self.bundle:
            raise UnsupportedFileError(
                f"{prefix} has no object graph: it was written by tf.compat.v1.train.Saver, which is not read."
            )
        data = self.bundle.array(names.OBJECT_GRAPH_KEY)
        self.nodes = parsed(TrackableObjectGraph, data.item(), prefix).nodes
        self._check()
        self.matched: dict[int, Any] = {}  # objects by the number of their node
        self.restored: dict[int, Any] = {}  # variables by their id
        self._match(root, 0)

    def _check(self) -> None:
        for number, node in enumerate(self.nodes):
            for child in node.children:
                if not 0 <= child.node_id < len(self.nodes):
                    raise MalformedError(
                        f"object {number} of {self.bundle.prefix} has the child {child.node_id}, which does not exist"
                    )
        if not self.nodes:
            raise MalformedError(f"{self.bundle.prefix} has no objects")

    def _match(self, value: Any, number: int) -> None:
        """Restores an object from a node, and what both have children for."""
        work = [(value, number)]
        while work:
            value, number = work.pop()
            if number in self.matched:
                continue
            self.matched[number] = value
            if isinstance(value, Variable):
                self._restore(value, self.nodes[number])
                continue
            if hasattr(type(value), "_restore_checkpoint_values"):
                self._restore_values(value, self.nodes[number])
            found = self._find(value)
            numbers = {c.local_name: c.node_id for c in self.nodes[number].children}
            work += [(found[n], numbers[n]) for n in numbers if n in found]
            if isinstance(value, AutoTrackable) and any(n not in found for n in numbers):
                when_set(value, self._later(numbers))

    def _later(self, numbers: dict[str, int]) -> Any:
        def restore(owner: Any, name: str, value: Any) -> None:
            if name in numbers and is_trackable(value):
                # Variables created while a function is traced have their values before it runs.
                with init_scope():
                    self._match(value, numbers[name])

        return restore

    def _restore(self, variable: Variable, node: Any) -> None:
        for attribute in node.attributes:
            if attribute.name == names.VALUE:
                key = attribute.checkpoint_key
                stored, dims = self.bundle.dtype(key), self.bundle.dims(key)
                if stored is not variable.dtype:
                    raise errors.InvalidArgumentError(
                        None,
                        None,
                        f"tensor_name = {key}; expected dtype {_kind(variable.dtype)} does not equal original dtype {_kind(stored)}",
                    )
                if not shapes.compatible(variable._dims, dims):
                    raise ValueError(
                        f"Received incompatible tensor with shape {shapes.text(dims)} when attempting to restore variable with "
                        f"shape {shapes.text(variable._dims)} and name {variable.name}."
                    )
                variable.assign(from_array(self.bundle.array(key)))
                self.restored[id(variable)] = variable

    def _restore_values(self, value: Any, node: Any) -> None:
        """Restores an object that defines its own checkpoint values."""
        keys = {a.name: a.checkpoint_key for a in node.attributes}
        if keys:
            value._restore_checkpoint_values(
                {
                    name + stored[len(key) :]: self.bundle.array(stored)
                    for name, key in keys.items()
                    for stored in self.bundle
                    if stored == key or stored.startswith(f"{key}-")
                }
            )
            self.restored[id(value)] = value

    # -- assertions ----------------------------------------------------------------------

    def assert_consumed(self) -> LoadStatus:
        """Raises AssertionError unless all values were used and all variables restored."""
        self.assert_existing_objects_matched()
        for number, node in enumerate(self.nodes):
            if node.attributes and number not in self.matched:
                raise AssertionError(
                    f"Unresolved object in checkpoint {self._path(number)}: {node}"
                )
        return self

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Raises AssertionError if a variable of the objects was not restored."""
        graph = ObjectGraph(self.root, self._find)
        having = [*graph.variables(), *graph.holders()]
        left = [v for _, v in having if id(v) not in self.restored]
        if left:
            shown = left[:10]
            raise AssertionError(
                f"Found {len(left)} Python objects that were not bound to checkpointed values, likely due to changes in the "
                f"Python program. Showing {len(shown)} of {len(left)} unmatched objects: {shown}"
            )
        return self

    def assert_nontrivial_match(self) -> LoadStatus:
        """Raises AssertionError if nothing but the root object was found."""
        if not self.restored:
            raise AssertionError(
                f"Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint does "
                f"not match the Python program. The following objects have no matching checkpointed value: {[self.root]}"
            )
        return self

    def expect_partial(self) -> LoadStatus:
        """Says that not all values will be used."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Does nothing: values are restored already."""

    def initialize_or_restore(self, session: Any = None) -> None:
        """Does nothing: values are restored already."""

    def _path(self, wanted: int) -> str:
        paths, work = {0: "(root)"}, [0]
        for number in work:
            for child in self.nodes[number].children:
                if child.node_id not in paths:
                    paths[child.node_id] = f"{paths[number]}.{child.local_name}"
                    work.append(child.node_id)
        return paths.get(wanted, str(wanted))


class NothingToLoad:
    """The status of restoring from no checkpoint at all: every assertion fails."""

    def assert_consumed(self) -> Any:
        """Raises AssertionError."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> NothingToLoad:
        """Says that not all values will be used."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Raises AssertionError."""
        self.assert_consumed()

    def initialize_or_restore(self, session: Any = None) -> None:
        """Does nothing: variables have their first values."""


def _kind(dtype: DType) -> str:
    names_in_kernels = {"float32": "float", "float64": "double", "float16": "half"}
    return names_in_kernels.get(dtype.name, dtype.name)
