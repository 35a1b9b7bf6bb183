"""What the processes of a cluster bring together in a graph that each of them runs."""

from __future__ import annotations

from typing import Any

from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.control_flow.python_call import as_list, function_of, translated


@op
class _Exchange(Op):
    """output = what all processes have of each input, as the object says that `token` names.

    The object is a function of the arrays of this process, which waits for the others. Its method `traced`
    is the same for an XLA program that all processes run together.
    """

    signature = "input: *Tin; token: str, shapes: list(shape), Tout: list(type) -> output: *Tout"
    internal = True
    stateful = True
    differentiable = False

    def infer(self, shapes, Tout) -> Any:
        return [[Spec(d, s) for d, s in zip(Tout, shapes, strict=True)]]

    def kernel(self, input, token) -> Any:
        try:
            return as_list(function_of(token).function(*input))
        except Exception as e:
            raise translated(e) from e
