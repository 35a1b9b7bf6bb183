"""`tf.config.optimizer`: which graph optimisations run.

Follows https://www.tensorflow.org/api_docs/python/tf/config/optimizer.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.options import OPTIONS

# TensorFlow's names. Others are ignored, as it ignores them.
NAMES = (
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
_ALWAYS = ("disable_model_pruning", "disable_meta_optimizer")


def get_experimental_options() -> dict[str, Any]:
    """The optimisations that were switched on or off by name.

    >>> isinstance(tf.config.optimizer.get_experimental_options(), dict)
    True
    """
    chosen = {k: v for k, v in OPTIONS.optimizer.items() if k in NAMES}
    ordered = {name: chosen[name] for name in NAMES if name in chosen}
    return {
        **{k: v for k, v in ordered.items() if k not in _ALWAYS},
        **{k: ordered.get(k, False) for k in _ALWAYS},
    }


def set_experimental_options(options: dict[str, Any]) -> None:
    """Switches optimisations on or off by TensorFlow's names.

    >>> tf.config.optimizer.set_experimental_options({"constant_folding": True})
    >>> tf.config.optimizer.get_experimental_options()["constant_folding"]
    True
    """
    OPTIONS.optimizer.update({k: v for k, v in options.items() if k in NAMES})


def get_jit() -> str:
    """`"autoclustering"` if every function is to be compiled, else nothing.

    >>> tf.config.optimizer.get_jit()
    ''
    """
    return OPTIONS.optimizer.get("jit", "")


def set_jit(enabled: bool | str) -> None:
    """Compiles every function, where a compiler is there. Raises ValueError for other texts.

    >>> tf.config.optimizer.set_jit("autoclustering")
    >>> tf.config.optimizer.get_jit()
    'autoclustering'
    >>> tf.config.optimizer.set_jit(False)
    """
    if enabled not in (True, False, "autoclustering"):
        raise ValueError(f"set_jit takes True, False or 'autoclustering', not {enabled!r}")
    OPTIONS.optimizer["jit"] = "autoclustering" if enabled else ""


__all__ = ["get_experimental_options", "get_jit", "set_experimental_options", "set_jit"]
