"""Options of datasets: said how, not what, is computed.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Options.
"""

from __future__ import annotations

import enum
from typing import Any


class AutotuneAlgorithm(enum.Enum):
    """Ways to choose parallelism and buffer sizes."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class AutoShardPolicy(enum.IntEnum):
    """Ways to share a dataset among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What to do about state outside of the pipeline."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class _Group:
    """Named settings of which each is None until it is set."""

    _names: tuple[str, ...] = ()
    _defaults: dict[str, Any] = {}

    def __init__(self) -> None:
        for name in self._names:
            object.__setattr__(self, name, None)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}."
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            getattr(self, n) == getattr(other, n) for n in self._names
        )

    __hash__ = None  # type: ignore[assignment]

    def merged(self, other: Any) -> Any:
        """These settings, and those that `other` has set in their place."""
        made = type(self)()
        for name in self._names:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, _Group):
                object.__setattr__(made, name, mine.merged(theirs))
            else:
                object.__setattr__(made, name, mine if theirs is None else theirs)
        return made


class AutotuneOptions(_Group):
    """How parallelism and buffer sizes are chosen."""

    _names = (
        "autotune_algorithm", "cpu_budget", "enabled", "initial_parallelism",
        "min_parallelism", "ram_budget",
    )  # fmt: skip


class DistributeOptions(_Group):
    """How a dataset is shared among workers."""

    _names = ("auto_shard_policy", "num_devices")


class OptimizationOptions(_Group):
    """Which rewrites of the pipeline are made."""

    _names = (
        "apply_default_optimizations", "filter_fusion", "filter_parallelization",
        "inject_prefetch", "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion",
        "map_parallelization", "noop_elimination", "parallel_batch", "seq_interleave_prefetch",
        "shuffle_and_repeat_fusion",
    )  # fmt: skip


class ThreadingOptions(_Group):
    """How many threads work on a pipeline."""

    _names = ("max_intra_op_parallelism", "private_threadpool_size")


class ServiceOptions(_Group):
    """How a data service is used."""

    _names = ("pinned",)


class Options(_Group):
    """Options of a dataset, for `Dataset.with_options`."""

    _names = (
        "autotune", "dataset_name", "deterministic", "distribute",
        "experimental_deterministic", "experimental_distribute",
        "experimental_external_state_policy", "experimental_optimization",
        "experimental_slack", "experimental_symbolic_checkpoint",
        "experimental_threading", "experimental_warm_start", "framework_type",
        "threading",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        put = object.__setattr__
        put(self, "autotune", AutotuneOptions())
        put(self, "experimental_distribute", DistributeOptions())
        put(self, "experimental_optimization", OptimizationOptions())
        threads = ThreadingOptions()
        put(self, "threading", threads)
        put(self, "experimental_threading", threads)

    def merge(self, options: Options) -> Options:
        """These options, with what `options` sets in their place."""
        made = self.merged(options)
        object.__setattr__(made, "experimental_threading", made.threading)
        return made
