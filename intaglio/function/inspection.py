"""The inspection methods of functions and their traces, which call the views of `insight/`."""

from __future__ import annotations

from typing import Any

from intaglio.base.hooks import ShownInNotebooks
from intaglio.function.hooks import HOOKS


class Inspected(ShownInNotebooks):
    """The views that functions and traces share. TensorFlow has none of them."""

    def to_text(self) -> str:
        """The graph of each trace as text, with the user's lines: `intaglio.graph_of_text` reads it.

        Raises ValueError for a function without traces.
        """
        return HOOKS.to_text(self)

    def to_python(self) -> Any:
        """The last trace as a Python program that imports NumPy alone, a `str`.

        Its attribute `missing` names the ops that have no NumPy form; the program raises
        NotImplementedError where it comes to one. Raises ValueError for a function without traces.
        """
        return HOOKS.to_python(self)
