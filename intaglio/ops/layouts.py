"""Ops that state how their operand is divided among the devices of a mesh: `tf.experimental.dtensor`.

Where a graph runs on one device they return their operand.
"""

from __future__ import annotations

from typing import Any

from intaglio.base import dtypes
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec


class Laid(Op):
    """output = input, with a layout."""

    T = dtypes.ALL
    internal = True
    sets_layout = True

    def infer(self, input: Spec) -> Any:
        return input

    def kernel(self, input):
        return input

    def gradient(self, doutput):
        return doutput


@op
class _Relayout(Laid):
    """The operand with the layout that a text states."""

    signature = "input: T; layout: str -> output: T"


@op
class _RelayoutLike(Laid):
    """The operand with the layout of another tensor."""

    U = dtypes.ALL
    signature = "input: T, layout_input: U -> output: T"

    def gradient(self, doutput):
        return doutput, None
