"""Kernels of other modules in a native function: their steps as calls, with its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.native.held import Held
from intaglio.native.lanes import Unsupported, kind_of
from intaglio.native.writer import Writer


def stepped(w: Writer, node: Node, run: Any, inputs: Sequence[Held]) -> list[Held]:
    """The results of a kernel, which takes those of the inputs that it names.

    Raises Unsupported if there is none, or if it does more than to call machine code.
    """
    steps = getattr(run, "steps", [])
    if not steps:
        raise Unsupported(f"{node.op.name} of {', '.join([str(h.shape) for h in inputs])}")  # fmt: skip
    places = [w.pointer(inputs[i]) for i in getattr(run, "takes", range(len(inputs)))]
    for step in steps[:-1]:  # each but the last makes what the next one takes
        ((shape, dtype),) = step.results
        place = w.scratch(int(np.prod(shape)) * np.dtype(dtype).itemsize)
        w.call_step(step, places, [place])
        places = [place]
    made = [
        w.room(value, kind_of(dtype), shape)
        for value, (shape, dtype) in zip(node.outputs, steps[-1].results, strict=True)
    ]
    w.long = True
    w.call_step(steps[-1], places, [h.pointer for h in made])
    w.how = "kernel"
    return made
