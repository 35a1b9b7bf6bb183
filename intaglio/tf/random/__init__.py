"""Random numbers: `tf.random`, TensorFlow's own numbers for the same seeds and shapes.

Follows https://www.tensorflow.org/api_docs/python/tf/random and
https://www.tensorflow.org/guide/random_numbers.
"""

from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.composite_ops.random.stateful import (
    categorical,
    normal,
    set_seed,
    shuffle,
    truncated_normal,
    uniform,
)
from intaglio.composite_ops.random.stateless import (
    fold_in,
    split,
    stateless_categorical,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)
from intaglio.ops.random.algorithm import Algorithm
from intaglio.state.random_generator import (
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from intaglio.tf.random import experimental

__all__ = [
    "Algorithm",
    "Generator",
    "categorical",
    "create_rng_state",
    "experimental",
    "fold_in",
    "get_global_generator",
    "normal",
    "set_global_generator",
    "set_seed",
    "shuffle",
    "split",
    "stateless_categorical",
    "stateless_normal",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]

# Names that are imported on first access: see `intaglio.base.later`.
LATER: dict[str, str] = {
    "all_candidate_sampler": "intaglio.composite_ops.nn.sampling:all_candidate_sampler",
    "fixed_unigram_candidate_sampler": "intaglio.composite_ops.nn.sampling:fixed_unigram_candidate_sampler",
    "log_uniform_candidate_sampler": "intaglio.composite_ops.nn.sampling:log_uniform_candidate_sampler",
    "uniform_candidate_sampler": "intaglio.composite_ops.nn.sampling:uniform_candidate_sampler",
    "gamma": "intaglio.composite_ops.random.distributions:gamma",
    "poisson": "intaglio.composite_ops.random.distributions:poisson",
    "stateless_binomial": "intaglio.composite_ops.random.distributions:stateless_binomial",
    "stateless_gamma": "intaglio.composite_ops.random.distributions:stateless_gamma",
    "stateless_parameterized_truncated_normal": "intaglio.composite_ops.random.distributions:stateless_parameterized_truncated_normal",
    "stateless_poisson": "intaglio.composite_ops.random.distributions:stateless_poisson",
    "learned_unigram_candidate_sampler": "intaglio.composite_ops.nn.sampling:learned_unigram_candidate_sampler",
}
__all__ += [*LATER]

if TYPE_CHECKING:
    from intaglio.composite_ops.nn.sampling import all_candidate_sampler as all_candidate_sampler
    from intaglio.composite_ops.nn.sampling import (
        fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    )
    from intaglio.composite_ops.nn.sampling import (
        learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
    )
    from intaglio.composite_ops.nn.sampling import (
        log_uniform_candidate_sampler as log_uniform_candidate_sampler,
    )
    from intaglio.composite_ops.nn.sampling import (
        uniform_candidate_sampler as uniform_candidate_sampler,
    )
    from intaglio.composite_ops.random.distributions import gamma as gamma
    from intaglio.composite_ops.random.distributions import poisson as poisson
    from intaglio.composite_ops.random.distributions import stateless_binomial as stateless_binomial
    from intaglio.composite_ops.random.distributions import stateless_gamma as stateless_gamma
    from intaglio.composite_ops.random.distributions import (
        stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal,
    )
    from intaglio.composite_ops.random.distributions import stateless_poisson as stateless_poisson
else:
    __getattr__, __dir__ = later.attributes(__name__, LATER)
