"""Options of datasets: how elements are computed, not which.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Options.
"""

from __future__ import annotations

import ast
import enum
import threading
from typing import Any

# Set once functions given to datasets run as Python, and one after the other.
DEBUGGED = threading.Event()


class AutotuneAlgorithm(enum.Enum):
    """Algorithms that select parallelism and buffer sizes."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class AutoShardPolicy(enum.IntEnum):
    """Policies for sharding a dataset among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """Policies for state outside of the pipeline."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class _Group:
    """Named settings, each None until it is set; `_kinds` has their types.

    Only what is set is stored: every dataset has options, and few have any that are set.
    """

    _kinds: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in self._kinds:
            raise AttributeError(f"Cannot get the property {name} on {type(self).__name__}.")
        kind = self._kinds[name]
        if not (isinstance(kind, type) and issubclass(kind, _Group)):
            return None
        group = kind()
        if "_is_frozen" in self.__dict__:
            group._freeze()
        object.__setattr__(self, name, group)
        return group

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._kinds})

    def _stored(self) -> list[str]:
        """The names of settings that may differ from their defaults."""
        return [n for n in self.__dict__ if n in self._kinds]

    def __setattr__(self, name: str, value: Any) -> None:
        if "_is_frozen" in self.__dict__:
            raise ValueError(
                "Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no "
                "effect. Use `tf.data.Dataset.with_options(options)` to set or update dataset "
                "options."
            )
        if name not in self._kinds:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        kind = self._kinds[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError(
                f'Property "{name}" must be of type {kind}, got: {value} (type: {type(value)})'
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            getattr(self, n) == getattr(other, n) for n in self._kinds
        )

    __hash__ = None  # type: ignore[assignment]  # as Python has it for what compares by value

    def merged(self, other: Any) -> Any:
        """These settings, overridden by those that `other` has set."""
        group = type(self)()
        for name in dict.fromkeys([*self._stored(), *other._stored()]):
            own, others = getattr(self, name), getattr(other, name)
            if isinstance(own, _Group):
                object.__setattr__(group, name, own.merged(others))
            else:
                object.__setattr__(group, name, own if others is None else others)
        return group

    def frozen(self) -> Any:
        """The same settings, which cannot be changed."""
        group = self.merged(type(self)())
        group._freeze()
        return group

    def _freeze(self) -> None:
        for value in self.__dict__.values():
            if isinstance(value, _Group):
                value._freeze()
        object.__setattr__(self, "_is_frozen", True)

    def settings(self) -> dict[str, Any]:
        """The settings that have been set, as plain values."""
        found: dict[str, Any] = {}
        for name in [n for n in self._kinds if n in self.__dict__]:
            value = getattr(self, name)
            if isinstance(value, _Group):
                value = value.settings() or None
            if value is not None:
                found[name] = value.value if isinstance(value, enum.Enum) else value
        return found

    def adopt(self, settings: dict[str, Any]) -> None:
        """Sets what the `settings` of another group of the same type have set."""
        for name, value in settings.items():
            kind = self._kinds[name]
            own = getattr(self, name)
            if isinstance(own, _Group):
                own.adopt(value)
            else:
                is_enum = isinstance(kind, type) and issubclass(kind, enum.Enum)
                object.__setattr__(self, name, kind(value) if is_enum else value)


class AutotuneOptions(_Group):
    """Options for the selection of parallelism and buffer sizes."""

    _kinds = {
        "autotune_algorithm": AutotuneAlgorithm,
        "cpu_budget": int,
        "enabled": bool,
        "initial_parallelism": int,
        "min_parallelism": int,
        "ram_budget": int,
    }


class DistributeOptions(_Group):
    """Options for sharding a dataset among workers."""

    _kinds = {"auto_shard_policy": AutoShardPolicy, "num_devices": int}

    def __init__(self) -> None:
        super().__init__()
        self.auto_shard_policy = AutoShardPolicy.AUTO

    def merged(self, other: Any) -> Any:
        """These settings, overridden by those that `other` has changed."""
        group = super().merged(other)
        if other.auto_shard_policy is AutoShardPolicy.AUTO:
            group.auto_shard_policy = self.auto_shard_policy
        return group

    def settings(self) -> dict[str, Any]:
        """What has been changed, as plain values."""
        found = super().settings()
        if self.auto_shard_policy is AutoShardPolicy.AUTO:
            del found["auto_shard_policy"]
        return found


_REWRITES = (
    "apply_default_optimizations",
    "filter_fusion",
    "filter_parallelization",
    "inject_prefetch",
    "map_and_batch_fusion",
    "map_and_filter_fusion",
    "map_fusion",
    "map_parallelization",
    "noop_elimination",
    "parallel_batch",
    "seq_interleave_prefetch",
    "shuffle_and_repeat_fusion",
)


class OptimizationOptions(_Group):
    """Options for TensorFlow's rewrites of pipelines; here pipelines are not rewritten."""

    _kinds = dict.fromkeys(_REWRITES, bool)


class ThreadingOptions(_Group):
    """The number of threads of a pipeline."""

    _kinds = {"max_intra_op_parallelism": int, "private_threadpool_size": int}


class ServiceOptions(_Group):
    """Options for the data service."""

    _kinds = {"pinned": bool}


class Options(_Group):
    """Options of a dataset, for `Dataset.with_options`.

    `deterministic`, `threading.private_threadpool_size`, `autotune.enabled`,
    `autotune.cpu_budget` and `experimental_warm_start` have an effect: parallel stages may
    return elements out of order, the number of threads, the value of `AUTOTUNE`, threads
    that start before the first element is requested. The others are stored without effect.
    """

    _kinds = {
        "autotune": AutotuneOptions,
        "dataset_name": str,
        "deterministic": bool,
        "experimental_distribute": DistributeOptions,
        "experimental_external_state_policy": ExternalStatePolicy,
        "experimental_optimization": OptimizationOptions,
        "experimental_service": ServiceOptions,
        "experimental_slack": bool,
        "experimental_symbolic_checkpoint": bool,
        "experimental_warm_start": bool,
        "framework_type": list,
        "threading": ThreadingOptions,
    }
    # Older names of options.
    _renamed = {
        "experimental_deterministic": "deterministic",
        "experimental_threading": "threading",
    }

    def __getattr__(self, name: str) -> Any:
        if name in self._renamed:
            return getattr(self, self._renamed[name])
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(self._renamed.get(name, name), value)

    def merge(self, options: Options) -> Options:
        """These options, overridden by what `options` sets."""
        return self.merged(options)

    def to_text(self) -> str:
        """The settings that have been set, as the text that graphs store."""
        settings = self.settings()
        return repr(settings) if settings else ""

    @classmethod
    def from_text(cls, text: str) -> Options:
        """The options that `to_text` wrote."""
        options = cls()
        if text:
            options.adopt(ast.literal_eval(text))
        return options
