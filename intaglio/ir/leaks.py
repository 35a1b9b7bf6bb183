"""The error for a tensor of one graph that is used outside of it.

Follows https://www.tensorflow.org/guide/function, "All outputs of a tf.function must be return
values".
"""

from __future__ import annotations

from typing import Any

from intaglio.base.errors import InaccessibleTensorError
from intaglio.base.origins import PACKAGE
from intaglio.cpython.referrers import holders
from intaglio.opdef.levels import level


def leak_text(tensor: Any, here: Any = None) -> str:
    """TensorFlow's message, with the user's lines that created the tensor."""
    frames = tensor.node.frames
    lines = "\n".join([f"    {frame}\n      {frame.source}" for frame in reversed(frames)])
    where = "here" if here is None else repr(here)
    return (
        f"{tensor!r} is out of scope and cannot be used here. Use return values, explicit Python locals or "
        "TensorFlow collections to access it.\nPlease see https://www.tensorflow.org/guide/"
        "function#all_outputs_of_a_tffunction_must_be_return_values for more information.\n\n"
        f"{tensor!r} was defined here:\n{lines}\n\n"
        f"The tensor {tensor!r} cannot be accessed from {where}, because it was defined in "
        f"{tensor.graph!r}, which is out of scope."
    )


def leaked(tensor: Any, here: Any = None) -> Exception:
    """The error for a symbolic tensor that is used outside its graph.

    InaccessibleTensorError if the graph `here` encloses the tensor's graph, else TypeError, as in
    TensorFlow. A note names the objects that still refer to the tensor.
    """
    graph, kind = tensor.graph, TypeError
    while here is not None and graph is not None:
        graph = getattr(graph, "enclosing", None)
        if graph is here:
            kind = InaccessibleTensorError
    error: Exception = kind(leak_text(tensor, None if kind is TypeError else here))
    found = described_holders(tensor)
    if found:
        error.add_note(found)
    return error


def described_holders(tensor: Any) -> str:
    """Text that names the holders of a leaked tensor and the remedy; empty if no holder is found."""
    found = holders(tensor, PACKAGE)
    if not found:
        return ""
    return (
        f"The tensor is still held by {'; by '.join(found)}. Return it from the function instead, or keep it in a "
        "tf.Variable."
    )


def without_value(tensor: Any) -> str:
    """Text that explains why a graph's tensor has no value, and what to do instead."""
    if not level().eager:
        return (
            "While a tf.function is traced its tensors have no values: compute with ops of tf and return the result. "
            "tf.print(x) and intaglio.watch show the values of calls."
        )
    frame = tensor.node.frame
    line = "" if frame is None else f", {frame}: {frame.source}"
    return f"It is a tensor of the graph {tensor.graph.name}{line}. {described_holders(tensor)}".rstrip()
