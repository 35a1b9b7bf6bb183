"""Switches between TensorFlow 1 and 2. What is switched is whether ops run at once."""

from __future__ import annotations

from typing import Any

from intaglio.compat_v1 import default_graphs
from intaglio.trace import scopes


def executing_eagerly_outside_functions() -> bool:
    """True: outside of functions ops run at once, unless a graph is being recorded."""
    if scopes.executing_eagerly():
        return True
    with scopes.init_scope():
        return scopes.executing_eagerly()


def already_so(*_: Any, **__: Any) -> None:
    """Changes nothing: TensorFlow 2's behaviour is what there is."""


def yes() -> bool:
    """True."""
    return True


def disable_v2_behavior() -> None:
    """Ops go to a default graph, which sessions run. The rest of TensorFlow 2's behaviour stays."""
    default_graphs.disable_eager_execution()


def enable_v2_behavior() -> None:
    """Ops run at once outside of graphs."""
    default_graphs.enable_eager_execution()
