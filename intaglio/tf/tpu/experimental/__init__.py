"""`tf.tpu.experimental`: embedding tables, and what hardware can do.

Follows https://www.tensorflow.org/api_docs/python/tf/tpu/experimental.
"""

from intaglio.distribute.unsupported import initialize_tpu_system, shutdown_tpu_system
from intaglio.feature_columns.tpu_embedding import HardwareFeature
from intaglio.tf.tpu.experimental import embedding

__all__ = ["HardwareFeature", "embedding", "initialize_tpu_system", "shutdown_tpu_system"]
