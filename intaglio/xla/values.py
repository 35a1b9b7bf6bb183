"""What the evaluator knows of a value: numbers, known while a program is traced, or a tracer of jax.

`Untraceable` is raised wherever a program would have to know the elements of a tracer.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np


class Untraceable(Exception):
    """An op cannot be part of an XLA program; the message is the reason."""


def is_traced(value: Any) -> bool:
    """True for an array whose elements are known only when the program runs."""
    return isinstance(value, jax.Array)


def known(value: Any, what: str) -> np.ndarray:
    """The elements of a value that must be known when the program is compiled.

    Raises Untraceable if they are computed by the program; `what` names the value.
    """
    if is_traced(value):
        raise Untraceable(f"{what} must be known when the program is compiled")
    return np.asarray(value)
