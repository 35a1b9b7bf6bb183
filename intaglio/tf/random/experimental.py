"""`tf.random.experimental`.

Follows https://www.tensorflow.org/api_docs/python/tf/random/experimental.
"""

from intaglio.ops.random_algorithm import Algorithm
from intaglio.tf.random.generator import (
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from intaglio.tf.random.stateless import fold_in as stateless_fold_in
from intaglio.tf.random.stateless import split as stateless_split
from intaglio.tf.random.stateless import stateless_shuffle

__all__ = [
    "Algorithm",
    "Generator",
    "create_rng_state",
    "get_global_generator",
    "set_global_generator",
    "stateless_fold_in",
    "stateless_shuffle",
    "stateless_split",
]
