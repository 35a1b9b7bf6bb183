"""The paths of a kernel on jax: a condition on data selects results by `jnp.where`.

A path that ends in an error of the op is left out: XLA programs do not check their data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from intaglio.base.errors import OpError
from intaglio.runtime import kernel_paths
from intaglio.runtime.kernel_paths import MAX_RUNS, Undecided, without_paths
from intaglio.xla.values import Untraceable


def decided(condition: Any) -> bool:
    """The outcome of a condition that the program computes. Raises Untraceable outside of `selected`."""
    try:
        return kernel_paths.decided(condition)
    except Undecided as e:
        raise Untraceable(str(e)) from e


def selected(run: Callable[[], list[Any]]) -> list[Any]:
    """The results of a kernel, which is run once for each of its paths.

    Raises Untraceable if results of two paths differ in shape or dtype, or there are too many paths, and
    the op's own error where each path ends in one.
    """
    try:
        found = kernel_paths.explored(run, _chosen)
    except Undecided as e:
        raise Untraceable(str(e)) from e
    if isinstance(found, OpError):
        raise found
    return found


def _chosen(condition: Any, outcomes: list[Any]) -> Any:
    no, yes = outcomes
    if isinstance(yes, OpError) or isinstance(no, OpError):
        return no if isinstance(yes, OpError) else yes
    if [(v.shape, v.dtype) for v in yes] != [(v.shape, v.dtype) for v in no]:
        raise Untraceable("the shape of its result depends on data")
    condition = jnp.reshape(condition, ())
    return [jnp.where(condition, a, b) for a, b in zip(yes, no, strict=True)]


__all__ = ["MAX_RUNS", "decided", "selected", "without_paths"]
