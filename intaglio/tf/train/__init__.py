"""`tf.train`: checkpoints, records of features, averages, threads and clusters by name.

Follows https://www.tensorflow.org/api_docs/python/tf/train.
"""

from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.tf.train.checkpoints import (
    Checkpoint,
    CheckpointManager,
    CheckpointOptions,
    get_checkpoint_state,
    latest_checkpoint,
    list_variables,
    load_checkpoint,
    load_variable,
)

if TYPE_CHECKING:
    from intaglio.distribute.clusters import ClusterDef as ClusterDef
    from intaglio.distribute.clusters import ClusterSpec as ClusterSpec
    from intaglio.distribute.clusters import JobDef as JobDef
    from intaglio.distribute.clusters import ServerDef as ServerDef
    from intaglio.graphdef.example_messages import BytesList as BytesList
    from intaglio.graphdef.example_messages import Example as Example
    from intaglio.graphdef.example_messages import Feature as Feature
    from intaglio.graphdef.example_messages import FeatureList as FeatureList
    from intaglio.graphdef.example_messages import FeatureLists as FeatureLists
    from intaglio.graphdef.example_messages import Features as Features
    from intaglio.graphdef.example_messages import FloatList as FloatList
    from intaglio.graphdef.example_messages import Int64List as Int64List
    from intaglio.graphdef.example_messages import SequenceExample as SequenceExample
    from intaglio.runtime.coordinator import Coordinator as Coordinator
    from intaglio.saved_model.views import CheckpointView as CheckpointView
    from intaglio.saved_model.views import TrackableView as TrackableView
    from intaglio.saved_model.watching import checkpoints_iterator as checkpoints_iterator
    from intaglio.state.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
    from intaglio.tf.train import experimental as experimental

__all__ = [
    "Checkpoint",
    "CheckpointManager",
    "CheckpointOptions",
    "get_checkpoint_state",
    "latest_checkpoint",
    "list_variables",
    "load_checkpoint",
    "load_variable",
]

# The messages are declared on first access.
LATER = {
    **{
        name: f"intaglio.graphdef.example_messages:{name}"
        for name in (
            "BytesList",
            "Example",
            "Feature",
            "FeatureList",
            "FeatureLists",
            "Features",
            "FloatList",
            "Int64List",
            "SequenceExample",
        )
    },
    **{
        name: f"intaglio.distribute.clusters:{name}"
        for name in ("ClusterDef", "ClusterSpec", "JobDef", "ServerDef")
    },
    "CheckpointView": "intaglio.saved_model.views:CheckpointView",
    "TrackableView": "intaglio.saved_model.views:TrackableView",
    "experimental": "intaglio.tf.train.experimental",
    "Coordinator": "intaglio.runtime.coordinator:Coordinator",
    "ExponentialMovingAverage": "intaglio.state.moving_averages:ExponentialMovingAverage",
    "checkpoints_iterator": "intaglio.saved_model.watching:checkpoints_iterator",
}
__all__ += [*LATER]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(__name__, LATER)
