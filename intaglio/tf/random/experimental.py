"""`tf.random.experimental`.

Follows https://www.tensorflow.org/api_docs/python/tf/random/experimental.
"""

from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.composite_ops.random.stateless import fold_in as stateless_fold_in
from intaglio.composite_ops.random.stateless import split as stateless_split
from intaglio.composite_ops.random.stateless import stateless_shuffle
from intaglio.ops.random.algorithm import Algorithm
from intaglio.state.random_generator import (
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)

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

# Names that are imported on first access: see `intaglio.base.later`.
LATER: dict[str, str] = {
    "index_shuffle": "intaglio.composite_ops.random.index_shuffles:index_shuffle"
}
__all__ += [*LATER]

if TYPE_CHECKING:
    from intaglio.composite_ops.random.index_shuffles import index_shuffle as index_shuffle
else:
    __getattr__, __dir__ = later.attributes(__name__, LATER)
