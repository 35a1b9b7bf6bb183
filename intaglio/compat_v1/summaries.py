"""Summaries as tensors, which sessions run and a `FileWriter` writes: `tf.compat.v1.summary`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/summary.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np

from intaglio.base.dtypes import float32, string
from intaglio.compat_v1 import logging
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.compat_v1.variable_scopes import GraphKeys, get_collection
from intaglio.graphdef.event_messages import SummaryDescription, SummaryMetadata
from intaglio.opdef import convert, raw
from intaglio.trace import scopes


def _clean(name: str) -> str:
    """The name with characters replaced that names of nodes cannot have."""
    cleaned = re.sub(r"[^-/\w.]", "_", name).lstrip("/")
    if cleaned != name:
        logging.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextmanager
def _scope(name: str, family: str | None) -> Generator[tuple[str, str]]:
    """A name scope for a summary: its tag, and the scope's name."""
    name = _clean(name)
    group = None if family is None else _clean(family)
    with scopes.name_scope(name if group is None else f"{group}/{name}") as scope:
        tag = scope.rstrip("/")
        yield (tag if group is None else f"{group}/{tag}"), scope


def _collected(summary: Any, collections: Any) -> Any:
    """The summary, which the graph's collections then have."""
    if not scopes.executing_eagerly():
        keys = [GraphKeys.SUMMARIES] if collections is None else collections
        get_default_graph().add_to_collections(keys, summary)
    return summary


def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Any:
    """A Summary message with a number, as a tensor of dtype string."""
    with _scope(name, family) as (tag, scope):
        summary = raw.ScalarSummary(convert.to_tensor(tag), convert.to_tensor(tensor), name=scope)
        return _collected(summary, collections)


def histogram(name: str, values: Any, collections: Any = None, family: str | None = None) -> Any:
    """A Summary message with the distribution of numbers. Running it raises InvalidArgumentError for NaNs."""
    with _scope(name, family) as (tag, scope):
        summary = raw.HistogramSummary(
            convert.to_tensor(tag), convert.to_tensor(values), name=scope
        )
        return _collected(summary, collections)


def image(
    name: str, tensor: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None
) -> Any:
    """A Summary message with the first images of a batch [n, height, width, 1, 3 or 4]."""
    with _scope(name, family) as (tag, scope):
        summary = raw.ImageSummary(
            convert.to_tensor(tag), convert.to_tensor(tensor), max_images=max_outputs, name=scope
        )
        return _collected(summary, collections)


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Any = None,
    family: str | None = None,
) -> Any:
    """A Summary message with the first sounds of a batch [n, frames, channels] or [n, frames]."""
    with _scope(name, family) as (tag, scope):
        summary = raw.AudioSummaryV2(
            convert.to_tensor(tag),
            convert.to_tensor(tensor, float32),
            convert.to_tensor(sample_rate, float32),
            max_outputs=max_outputs,
            name=scope,
        )
        return _collected(summary, collections)


def text(name: str, tensor: Any, collections: Any = None) -> Any:
    """A Summary message with texts. Raises ValueError for a tensor that has none."""
    tensor = convert.to_tensor(tensor)
    if tensor.dtype is not string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    return tensor_summary(name, tensor, summary_metadata=metadata, collections=collections)


def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: str | None = None,
    collections: Any = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Any:
    """A Summary message with a tensor, and metadata for the plugin that shows it."""
    metadata = SummaryMetadata()
    if summary_metadata is not None:
        metadata.CopyFrom(summary_metadata)
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with _scope(name, family) as (tag, scope):
        summary = raw.TensorSummaryV2(
            convert.to_tensor(tag),
            convert.to_tensor(tensor),
            convert.to_tensor(np.array(metadata.SerializeToString(), object), string),
            name=scope,
        )
        return _collected(summary, collections)


def merge(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    """One Summary message with the values of several.

    Raises RuntimeError eagerly; running it raises InvalidArgumentError for a tag that comes twice.
    """
    if scopes.executing_eagerly():
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution. Use tf.summary instead."
        )
    if isinstance(inputs, str):
        raise TypeError(f"Expected Tensor or Operation, got {inputs!r}")
    with scopes.name_scope(name or "Merge"):
        summary = raw.MergeSummary([convert.to_tensor(i, string) for i in inputs], name=name)
    get_default_graph().add_to_collections(collections or [], summary)
    return summary


def merge_all(key: Any = GraphKeys.SUMMARIES, scope: str | None = None, name: Any = None) -> Any:
    """One Summary message with all summaries of a collection of the graph; None if there is none.

    Raises RuntimeError eagerly.
    """
    if scopes.executing_eagerly():
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution. Use tf.summary instead."
        )
    found = get_collection(key, scope)
    return merge(found, name=name) if found else None


def get_summary_description(node_def: Any) -> Any:
    """The SummaryDescription message of a TensorSummary's node. Raises ValueError for other nodes."""
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    return SummaryDescription.FromString(node_def.attr["description"].s)


def all_v2_summary_ops() -> list[Any] | None:
    """The ops of the graph that write summaries of TensorFlow 2; None eagerly."""
    if scopes.executing_eagerly():
        return None
    return get_collection("_summary_v2")


def initialize(graph: Any = None, session: Any = None) -> None:
    """Does nothing: writers of summaries are ready when they are created."""
