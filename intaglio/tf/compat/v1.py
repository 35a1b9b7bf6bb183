"""`tf.compat.v1`: what libraries still call of TensorFlow 1. There are no sessions.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.base.dimension import Dimension
from intaglio.compat_v1.namespaces import SPACES
from intaglio.composite_ops.array.where_v1 import where
from intaglio.sparse.placeholders import sparse_placeholder
from intaglio.tf import version
from intaglio.trace.placeholders import placeholder

if TYPE_CHECKING:
    from intaglio.graphdef.event_messages import Event as Event
    from intaglio.graphdef.event_messages import RunMetadata as RunMetadata
    from intaglio.graphdef.event_messages import Summary as Summary
    from intaglio.graphdef.event_messages import SummaryMetadata as SummaryMetadata
    from intaglio.graphdef.messages import AttrValue as AttrValue


# The messages are protocol buffers, which few programs pay for.
_EVENTS = "intaglio.graphdef.event_messages"
LATER = {
    name: f"{_EVENTS}:{name}" for name in ("Event", "RunMetadata", "Summary", "SummaryMetadata")
}
LATER["AttrValue"] = "intaglio.graphdef.messages:AttrValue"

if not TYPE_CHECKING:
    __path__ = []  # it has submodules, which are tables
    __getattr__, __dir__ = later.attributes(__name__, {**SPACES.origins(), **LATER})

__all__ = [
    "AttrValue",
    "Dimension",
    "Event",
    "RunMetadata",
    "Summary",
    "SummaryMetadata",
    "placeholder",
    "sparse_placeholder",
    "version",
    "where",
]
