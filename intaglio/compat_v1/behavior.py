"""Switches between TensorFlow 1 and 2. The behaviour is TensorFlow 2's."""

from __future__ import annotations

from typing import Any

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


def refuse(*_: Any, **__: Any) -> None:
    """Raises NotImplementedError: there is no program without eager execution."""
    raise NotImplementedError(
        "Ops run at once outside of tf.function: there are no sessions. Write the program as a "
        "tf.function, or record a graph with `with tf.Graph().as_default():`."
    )
