"""Switches between TensorFlow 1 and 2. What is switched is whether ops run at once."""

from __future__ import annotations

from typing import Any

from intaglio.autograph import api
from intaglio.base.shapes import STYLE
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


def disable_v2_tensorshape() -> None:
    """Sizes of a TensorShape are `Dimension` objects for the program, whose `value` is the number or None."""
    STYLE.dimensions = True


def enable_v2_tensorshape() -> None:
    """Sizes of a TensorShape are numbers or None."""
    STYLE.dimensions = False


def disable_v2_behavior() -> None:
    """Ops go to a default graph, which sessions run, and sizes of shapes are objects.

    The rest of TensorFlow 2's behaviour stays.
    """
    default_graphs.disable_eager_execution()
    disable_v2_tensorshape()


def enable_v2_behavior() -> None:
    """Ops run at once outside of graphs, and sizes of shapes are numbers or None."""
    default_graphs.enable_eager_execution()
    enable_v2_tensorshape()


def to_graph(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    experimental_optional_features: Any = None,
) -> Any:
    """`tf.autograph.to_graph`; values and types of arguments are accepted and not used."""
    return api.to_graph(entity, recursive, experimental_optional_features)


def to_code(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    indentation: str = "  ",
    experimental_optional_features: Any = None,
) -> str:
    """`tf.autograph.to_code`; values and types of arguments are accepted and not used."""
    return api.to_code(entity, recursive, experimental_optional_features)
