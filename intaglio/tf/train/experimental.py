"""`tf.train.experimental`: Python objects in checkpoints.

Follows https://www.tensorflow.org/api_docs/python/tf/train/experimental.
"""

from __future__ import annotations

from intaglio.state.python_state import PythonState

__all__ = ["PythonState"]
