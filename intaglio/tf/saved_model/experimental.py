"""`tf.saved_model.experimental`: fingerprints of models, and resources that they keep.

Follows https://www.tensorflow.org/api_docs/python/tf/saved_model/experimental.
"""

from __future__ import annotations

from intaglio.saved_model.fingerprint import Fingerprint, read_fingerprint
from intaglio.saved_model.options import VariablePolicy
from intaglio.state.trackable_resource import TrackableResource

__all__ = ["Fingerprint", "TrackableResource", "VariablePolicy", "read_fingerprint"]
