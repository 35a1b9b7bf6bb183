"""Finding the op that produced the first infinity or NaN, eagerly and in functions being traced.

Follows https://www.tensorflow.org/api_docs/python/tf/debugging/enable_check_numerics.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import origins
from intaglio.base.threads import Inherited
from intaglio.opdef import door, raw
from intaglio.opdef.op import Op
from intaglio.opdef.tensor import Tensor


class _Switch(Inherited):
    """Whether this thread checks, and the limits for the stacks in its messages."""

    def __init__(self) -> None:
        self.on = False
        self.height = 30
        self.width = 50


_switch = _Switch()
# The threads that have called `enable_check_numerics`.
_enabled_in: set[int] = set()


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Makes every op of this thread fail that returns an infinity or a NaN.

    Functions traced from now on check themselves whenever they run. The error is
    InvalidArgumentError, and names the op, its inputs, and where it was created:
    at most `stack_height_limit` frames, paths cut to `path_length_limit` characters.

    >>> tf.debugging.enable_check_numerics()
    >>> try:
    ...     _ = tf.math.log([-1.0])
    ... except tf.errors.InvalidArgumentError as e:
    ...     print("Detected Infinity or NaN" in e.message)
    ... finally:
    ...     tf.debugging.disable_check_numerics()
    True
    """
    _switch.height, _switch.width = stack_height_limit, path_length_limit
    if not _switch.on:
        _switch.on = True
        _enabled_in.add(threading.get_ident())
        if _inspect not in door.INSPECTORS:
            door.INSPECTORS.append(_inspect)
        door.STATE.shift(+1)


def disable_check_numerics() -> None:
    """Switches the check off for this thread; traced functions keep their checks.

    >>> tf.debugging.disable_check_numerics()
    >>> print(tf.math.log([-1.0]).numpy())
    [nan]
    """
    if _switch.on:
        _switch.on = False
        _enabled_in.discard(threading.get_ident())
        if not _enabled_in and _inspect in door.INSPECTORS:  # inspectors slow down every op
            door.INSPECTORS.remove(_inspect)
        door.STATE.shift(-1)


def _inspect(
    op: Op, attrs: dict[str, Any], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> Any:
    if not _switch.on or not op.numerics_checked or op.has_graphs:
        return outputs
    if not any(t.dtype.is_floating for t in outputs):
        return outputs
    eager = door.level().eager
    checked: list[Tensor] = []
    for index, tensor in enumerate(outputs):
        if not tensor.dtype.is_floating or (eager and _finite(tensor)):
            checked.append(tensor)
            continue
        text = (_eager_text if eager else _graph_text)(op, index, inputs, outputs)
        name = None if eager else f"{tensor.op.name}/CheckNumericsV2/"
        checked.append(raw.CheckNumericsV2(tensor, message=text, name=name))
    return checked


def _finite(tensor: Any) -> bool:
    return bool(np.isfinite(tensor._array).all())


def _head(op: Op, index: int, kind: str, outputs: Sequence[Tensor]) -> list[str]:
    tensor = outputs[index]
    return [
        f'\n\n!!! Detected Infinity or NaN in output {index} of {kind} op "{op.name}" '
        f"(# of outputs: {len(outputs)}) !!!",
        f"  dtype: {tensor.dtype}",
        f"  shape: {tensor.shape}",
    ]


def _inputs(inputs: Sequence[Tensor]) -> list[str]:
    if not inputs:
        return []
    if len(inputs) == 1:
        return ["", f"  Input tensor: {inputs[0]!s}"]
    lines = [f"         {i}: {tensor!s}" for i, tensor in enumerate(inputs)]
    return ["", f"  Input tensors ({len(inputs)}):", *lines]


def _eager_text(op: Op, index: int, inputs: Sequence[Tensor], outputs: Sequence[Any]) -> str:
    array = np.asarray(outputs[index]._array)
    faults = [
        ("-Inf", np.isinf(array) & (array < 0)),
        ("+Inf", np.isinf(array) & (array > 0)),
        ("+NaN", np.isnan(array)),
    ]
    counts = [
        f"  # of {name} elements: {int(found.sum())}" for name, found in faults if found.any()
    ]
    head = _head(op, index, "eagerly-executing", outputs)
    return "\n".join([*head, *counts, *_inputs(inputs), "", ""])


def _graph_text(op: Op, index: int, inputs: Sequence[Tensor], outputs: Sequence[Any]) -> str:
    node = outputs[index].op
    lines = [*_head(op, index, "graph", outputs), *_inputs(inputs)]
    lines.append(f'  Graph name: "{getattr(node.graph, "name", "")}"')
    frames = origins.frames(node.origin)[: _switch.height]
    if frames:
        lines += ["", '  Stack trace of op\'s creation ("->": inferred user code):']
    for frame in reversed(frames):
        path = frame.filename
        if len(path) > _switch.width:
            path = f"...{path[-_switch.width :]}"
        lines += [f"    + {path} (L{frame.lineno}) {frame.function}", f" -> |   {frame.source}"]
    return "\n".join([*lines, "", ""])


DUMP_MODES = (
    "UNSPECIFIED",
    "NO_TENSOR",
    "CURT_HEALTH",
    "CONCISE_HEALTH",
    "FULL_HEALTH",
    "SHAPE",
    "FULL_NUMERICS",
    "FULL_TENSOR",
    "REDUCE_INF_NAN_THREE_SLOTS",
)


def enable_dump_debug_info(
    dump_root: str,
    tensor_debug_mode: str = "NO_TENSOR",
    circular_buffer_size: int = 1000,
    op_regex: str | None = None,
    tensor_dtypes: Sequence[Any] | Callable[[Any], bool] | None = None,
) -> None:
    """Raises NotImplementedError: the dumps are TensorBoard's own format, written by TensorFlow.

    ValueError for a mode that does not exist. `tf.debugging.enable_check_numerics` finds the op
    that first gives an infinity or NaN; INTAGLIO_DUMP=folder writes every graph as text.

    https://www.tensorflow.org/api_docs/python/tf/debugging/experimental/enable_dump_debug_info
    """
    if tensor_debug_mode not in DUMP_MODES:
        raise ValueError(
            f"Invalid value in tensor_debug_mode ({tensor_debug_mode!r}). "
            f"Valid options are: {list(DUMP_MODES)}"
        )
    raise NotImplementedError(
        "enable_dump_debug_info writes no dumps: they are read by TensorBoard's debugger alone. "
        "Use tf.debugging.enable_check_numerics() to find where numbers go wrong, and "
        "INTAGLIO_DUMP=folder to get every graph as text."
    )


def disable_dump_debug_info() -> None:
    """Does nothing: there is no dump to end.

    >>> tf.debugging.experimental.disable_dump_debug_info()
    """
