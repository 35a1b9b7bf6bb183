"""The paddings of `tf.space_to_batch`, and the time of day.

Follows https://www.tensorflow.org/api_docs/python/tf/required_space_to_batch_paddings.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import int32
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(paddings, crops), each [N, 2], with which blocks of `block_shape` divide the input.

    At least `base_paddings` are padded; what goes beyond them is cropped again after
    `batch_to_space`.

    >>> paddings, crops = tf.required_space_to_batch_paddings([11, 4], [4, 3])
    >>> paddings.numpy()
    array([[0, 1],
           [0, 2]], dtype=int32)

    https://www.tensorflow.org/api_docs/python/tf/required_space_to_batch_paddings
    """
    with door.level().scoped(name or "required_space_to_batch_paddings"):
        sizes = convert.to_tensor(input_shape, int32)
        blocks = convert.to_tensor(block_shape, int32)
        if base_paddings is None:
            start, end = raw.ZerosLike(blocks), raw.ZerosLike(blocks)
        else:
            base = convert.to_tensor(base_paddings, int32)
            start, end = raw.Unpack(base, num=2, axis=1)
        whole = raw.AddV2(raw.AddV2(sizes, start), end)
        over = raw.FloorMod(raw.Sub(blocks, raw.FloorMod(whole, blocks)), blocks)
        paddings = raw.Pack([start, raw.AddV2(end, over)], axis=1)
        crops = raw.Pack([raw.ZerosLike(over), over], axis=1)
        return paddings, crops


@dispatchable
def timestamp(name: str | None = None) -> Tensor:
    """Seconds since the beginning of 1970 as float64, taken when the op runs.

    >>> bool(tf.timestamp() > 1.7e9)
    True

    https://www.tensorflow.org/api_docs/python/tf/timestamp
    """
    return raw.Timestamp(name=name)
