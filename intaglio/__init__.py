"""Intaglio: `tf.function` without TensorFlow."""

import warnings

from intaglio import ops
from intaglio.runtime import direct_calls, eager, random_state

__version__ = "0.1.0"

eager.install_fast_operators()

# log(-1) is NaN and 1e30 in float16 is infinity, without a word, as in TensorFlow.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"intaglio\.")

__all__ = ["__version__", "direct_calls", "ops", "random_state"]
