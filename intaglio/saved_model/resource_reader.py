"""The resources of a model that is loaded: created, restored and filled by saved functions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from intaglio.function.concrete import ConcreteFunction
from intaglio.graphdef.declarations import MalformedError
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import from_array
from intaglio.saved_model import resources
from intaglio.saved_model.bundle import Bundle
from intaglio.saved_model.function_reader import FunctionReader
from intaglio.saved_model.resources import RestoredResource
from intaglio.state.trackable_resource import TrackableResource

_MODELS = itertools.count()


class ResourceReader:
    """The resources among the objects `wanted` of one model, by their numbers.

    Those that `objects` has already take the place of saved ones.
    """

    def __init__(
        self, nodes: Sequence[Any], objects: dict[int, Any], wanted: Iterable[int]
    ) -> None:
        self.nodes = nodes
        self.resources: dict[int, TrackableResource] = {}
        for number in wanted:
            node = nodes[number]
            if node.WhichOneof("kind") == "resource" and number in objects:
                if resources.is_resource(objects[number]):
                    self.resources[number] = objects[number]
            elif node.WhichOneof("kind") == "resource":
                restored = RestoredResource(node.resource.device)
                objects[number] = self.resources[number] = restored
        # Loaded twice, a model has two tables of a shared name.
        self.suffix = f"_load_{next(_MODELS)}" if self.resources else ""

    def make(self, reader: FunctionReader) -> None:
        """Makes the resources, so that functions can capture them."""
        for number, resource in self.resources.items():
            for child in self.nodes[number].children if not resource.is_created else ():
                if child.local_name == resources.CREATE:
                    function = self.nodes[child.node_id].function
                    for name in function.concrete_functions[:1]:
                        creator = reader.concrete(name, function.function_spec)
                        if isinstance(creator, ConcreteFunction):
                            resource._resource_handle = _handle(creator, name)

    def restore(self, reader: FunctionReader, bundle: Bundle, stored: Mapping[int, Any]) -> None:
        """Gives the resources the values that the checkpoint has of them."""
        for number, resource in self.resources.items():
            for name, saves in self.nodes[number].saveable_objects.items():
                key = stored.get(number, {}).get(name)
                if key is None or not resource.is_created:
                    continue
                save, restore = [
                    self._bare(reader, n) for n in (saves.save_function, saves.restore_function)
                ]
                if save is None or restore is None:
                    continue
                # What the resource would save by which names, and thus has to be given.
                parts = save(from_array(np.array(key.encode(), object)))
                values = [bundle.array(part["name"].numpy().decode()) for part in parts]
                restore(*map(from_array, values))

    def _bare(self, reader: FunctionReader, number: int) -> ConcreteFunction | None:
        if not 0 <= number < len(self.nodes):
            raise MalformedError(f"there is no function {number}")
        bare = self.nodes[number].bare_concrete_function
        found = reader.concrete(
            bare.concrete_function_name,
            bare.function_spec if bare.HasField("function_spec") else None,
            bare.argument_keywords,
        )
        return found if isinstance(found, ConcreteFunction) else None

    def fill(self) -> None:
        """Carries out the functions that fill the resources."""
        for resource in self.resources.values():
            if resource.is_created:
                resource._initialize()


def _handle(creator: ConcreteFunction, name: str) -> Tensor:
    handle = creator()
    if not isinstance(handle, Tensor) or handle.dtype.name != "resource":
        raise MalformedError(f"the function '{name}' makes no resource")
    return handle
