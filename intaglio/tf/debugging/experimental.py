"""`tf.debugging.experimental`: dumps for TensorBoard's debugger, which are not written here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

MODES = (
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
    if tensor_debug_mode not in MODES:
        raise ValueError(
            f"Invalid value in tensor_debug_mode ({tensor_debug_mode!r}). "
            f"Valid options are: {list(MODES)}"
        )
    raise NotImplementedError(
        "enable_dump_debug_info writes no dumps: they are read by TensorBoard's debugger alone. "
        "Use tf.debugging.enable_check_numerics() to find where numbers go wrong, and "
        "INTAGLIO_DUMP=folder to get every graph as text."
    )


def disable_dump_debug_info() -> None:
    """Nothing is being dumped, and that stays so.

    >>> tf.debugging.experimental.disable_dump_debug_info()
    """


__all__ = ["disable_dump_debug_info", "enable_dump_debug_info"]
