"""The error for a tensor of one graph that is used outside of it.

Follows https://www.tensorflow.org/guide/function, "All outputs of a tf.function must be return
values".
"""

from __future__ import annotations

from typing import Any

from intaglio.base.errors import InaccessibleTensorError
from intaglio.base.origins import PACKAGE
from intaglio.cpython.referrers import holders


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

    InaccessibleTensorError where the graph `here` encloses the tensor's graph, TypeError
    everywhere else, as in TensorFlow. A note names who still holds it.
    """
    graph, kind = tensor.graph, TypeError
    while here is not None and graph is not None:
        graph = getattr(graph, "outer_graph", None)
        if graph is here:
            kind = InaccessibleTensorError
    error: Exception = kind(leak_text(tensor, None if kind is TypeError else here))
    found = holders(tensor, PACKAGE)
    if found:
        error.add_note(
            f"The tensor is still held by {'; by '.join(found)}. Return it from the function instead, or keep it in a "
            "tf.Variable."
        )
    return error
