"""Functions of whole lists, called on a growing list of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.type_specs.grown_list import GrownList


def _stack(values: GrownList, axis: Any = 0, name: str | None = None) -> Any:
    return values.stack(axis)


def _concat(values: GrownList, axis: Any = 0, name: str | None = None) -> Any:
    return values.concat(axis)


def _add_n(inputs: GrownList, name: str | None = None) -> Any:
    return inputs.total()


def _sum(values: GrownList, start: Any = 0) -> Any:
    return values.total() + start


_OURS: dict[str, Callable[..., Any]] = {"stack": _stack, "concat": _concat, "add_n": _add_n}


def of_list(function: Any) -> Callable[..., Any] | None:
    """The counterpart of `tf.stack`, `tf.concat`, `tf.add_n` or `sum` for a growing list, or None."""
    if function is sum:
        return _sum
    if (getattr(function, "__module__", None) or "").startswith("intaglio."):
        return _OURS.get(function.__name__)
    return None


__all__ = ["of_list"]
