"""`tensorflow.python.saved_model`, as far as Keras 2 saves and loads its models object by object."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from intaglio.saved_model import reader, writer
from intaglio.tensorflow_name.identity_collections import ObjectIdentityDictionary


class TrackableReference(NamedTuple):
    """A part of a trackable object, with its name there."""

    name: str
    ref: Any


def save_and_return_nodes(
    obj: Any,
    export_dir: Any,
    signatures: Any = None,
    options: Any = None,
    experimental_skip_checkpoint: bool = False,
) -> tuple[list[Any], ObjectIdentityDictionary]:
    """Saves the model; returns its objects by number, and the names that lead to each.

    Raises NotImplementedError for a model without the values of its variables.
    """
    if experimental_skip_checkpoint:
        raise NotImplementedError(
            "experimental_skip_checkpoint=True is not supported: save the model with its variables."
        )
    graph = writer.save_and_return_graph(obj, export_dir, signatures, options)
    paths = ObjectIdentityDictionary()
    for value, path in zip(graph.objects, graph.paths, strict=True):
        number, found = 0, list[TrackableReference]()
        for name in path:
            number = dict(graph.children[number])[name]
            found.append(TrackableReference(name, graph.objects[number]))
        paths[value] = tuple(found)
    return list(graph.objects), paths


def load_partial(
    export_dir: Any, filters: Mapping[str, Any], tags: Any = None, options: Any = None
) -> dict[str, Any]:
    """The objects at these paths; see `intaglio.saved_model.reader.load_parts`, which says what it raises."""
    return reader.load_parts(export_dir, filters, tags, options)


def parse_saved_model(export_dir: Any) -> Any:
    """The SavedModel message of a folder. Raises OSError if there is none, MalformedError."""
    return reader.read_message(os.fsdecode(export_dir))
