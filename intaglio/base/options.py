"""Process-wide settings, which `tf.config` sets."""

from __future__ import annotations

import os
from typing import Any

BACKENDS = ("native", "xla")


def checked_backend(name: str) -> str:
    """The name of a backend. Raises ValueError for others."""
    if name not in BACKENDS:
        raise ValueError(f"a backend is one of {', '.join(map(repr, BACKENDS))}, not {name!r}")
    return name


class Options:
    """The options of the process. A layer that depends on an option reads it here.

    `run_functions_eagerly`: calls of a `tf.function` run its Python body.
    `calls_are_controlled`: a stance or a budget is active anywhere in the process.
    `special_calls`: either of these, so that calls look at one attribute.
    `data_debug_mode`: `tf.data` runs its functions eagerly.
    `deterministic`: ops must give the same results on every run.
    `threads_intra`, `threads_inter`: threads within an op, concurrent ops; 0 for the default.
    `soft_placement`: an op for a device that does not exist runs on one that does.
    `log_placement`: devices of ops are printed.
    `filter_tracebacks`: tracebacks leave this package's own frames out.
    `optimizer`: the graph optimisations set by name.
    `tensor_float_32`: large convolutions may be slightly less accurate; None is the default, False.
    `backend`: the compiler of functions with `jit_compile=True`, one of BACKENDS.
    `default_device`: the name of the device of ops for which the program names none; "" is the host.
    `structural_objects`: traced functions compare data classes by their fields.
    `device_policy`, `synchronous`: stored for compatibility, without effect on the host.
    """

    __slots__ = (
        "_controlled",
        "_run_eagerly",
        "backend",
        "data_debug_mode",
        "default_device",
        "deterministic",
        "device_policy",
        "filter_tracebacks",
        "log_placement",
        "optimizer",
        "soft_placement",
        "special_calls",
        "structural_objects",
        "synchronous",
        "tensor_float_32",
        "threads_inter",
        "threads_intra",
    )

    def __init__(self) -> None:
        self._run_eagerly = self._controlled = self.special_calls = False
        self.data_debug_mode = False
        self.structural_objects = False
        self.deterministic = False
        self.threads_intra = 0
        self.threads_inter = 0
        self.soft_placement = True
        self.log_placement = False
        self.filter_tracebacks = True
        self.optimizer: dict[str, Any] = {}
        self.device_policy = "silent"
        self.synchronous = True
        self.tensor_float_32: bool | None = None
        self.default_device = os.environ.get("INTAGLIO_DEFAULT_DEVICE", "")
        self.backend = checked_backend(os.environ.get("INTAGLIO_BACKEND", "native"))

    @property
    def run_functions_eagerly(self) -> bool:
        """True while calls of a `tf.function` run its Python body."""
        return self._run_eagerly

    @run_functions_eagerly.setter
    def run_functions_eagerly(self, value: bool) -> None:
        self._run_eagerly = value
        self.special_calls = self._run_eagerly or self._controlled

    @property
    def calls_are_controlled(self) -> bool:
        """True while a stance or a budget is active anywhere in the process."""
        return self._controlled

    @calls_are_controlled.setter
    def calls_are_controlled(self, value: bool) -> None:
        self._controlled = value
        self.special_calls = self._run_eagerly or self._controlled


OPTIONS = Options()


# TensorFlow's names of optimizations. Others are ignored, as it ignores them.
OPTIMIZATIONS = (
    "layout_optimizer",
    "constant_folding",
    "shape_optimization",
    "remapping",
    "arithmetic_optimization",
    "dependency_optimization",
    "loop_optimization",
    "function_optimization",
    "debug_stripper",
    "disable_model_pruning",
    "scoped_allocator_optimization",
    "pin_to_host_optimization",
    "implementation_selector",
    "auto_mixed_precision",
    "disable_meta_optimizer",
    "min_graph_nodes",
    "auto_parallel",
)


_ALWAYS_SHOWN = ("disable_model_pruning", "disable_meta_optimizer")


def get_experimental_options() -> dict[str, Any]:
    """The optimisations that were switched on or off by name.

    >>> isinstance(tf.config.optimizer.get_experimental_options(), dict)
    True
    """
    chosen = {k: v for k, v in OPTIONS.optimizer.items() if k in OPTIMIZATIONS}
    ordered = {name: chosen[name] for name in OPTIMIZATIONS if name in chosen}
    return {
        **{k: v for k, v in ordered.items() if k not in _ALWAYS_SHOWN},
        **{k: ordered.get(k, False) for k in _ALWAYS_SHOWN},
    }


def set_experimental_options(options: dict[str, Any]) -> None:
    """Switches optimisations on or off, by TensorFlow's names.

    >>> tf.config.optimizer.set_experimental_options({"constant_folding": True})
    >>> tf.config.optimizer.get_experimental_options()["constant_folding"]
    True
    """
    OPTIONS.optimizer.update({k: v for k, v in options.items() if k in OPTIMIZATIONS})


def get_jit() -> str:
    """`"autoclustering"` if every function is compiled, else `""`.

    >>> tf.config.optimizer.get_jit()
    ''
    """
    return OPTIONS.optimizer.get("jit", "")


def set_jit(enabled: bool | str) -> None:
    """Compiles every function if there is a compiler. Raises ValueError for other texts.

    >>> tf.config.optimizer.set_jit("autoclustering")
    >>> tf.config.optimizer.get_jit()
    'autoclustering'
    >>> tf.config.optimizer.set_jit(False)
    """
    if enabled not in (True, False, "autoclustering"):
        raise ValueError(f"set_jit takes True, False or 'autoclustering', not {enabled!r}")
    OPTIONS.optimizer["jit"] = "autoclustering" if enabled else ""


DEVICE_POLICIES = ("explicit", "warn", "silent", "silent_for_int32")


def set_device_policy(device_policy: str | None) -> None:
    """Sets what happens to inputs on another device. Raises ValueError for other names.

    >>> tf.config.experimental.set_device_policy("warn")
    >>> tf.config.experimental.get_device_policy()
    'warn'
    >>> tf.config.experimental.set_device_policy(None)
    """
    if device_policy is not None and device_policy not in DEVICE_POLICIES:
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. Please refer to "
            "https://www.tensorflow.org/api_docs/python/tf/config/experimental/"
            "set_device_policy for valid `device_policy` arguments."
        )
    OPTIONS.device_policy = device_policy or "silent"
