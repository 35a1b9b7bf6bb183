"""Patches of volumes: `tf.extract_volume_patches`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def extract_volume_patches(
    input: Any, ksizes: Sequence[int], strides: Sequence[int], padding: str, name: str | None = None
) -> Tensor:
    """Patches of volumes [batch, planes, rows, columns, depth], each flat in the last dimension.

    `ksizes` and `strides` have five elements, the first and last of them 1; `padding` is "SAME"
    or "VALID". Raises InvalidArgumentError for others.

    https://www.tensorflow.org/api_docs/python/tf/extract_volume_patches

    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> tf.extract_volume_patches(volume, [1, 1, 2, 2, 1], [1, 1, 1, 1, 1], "VALID").numpy()[0, :, 0, 0]
    array([[0., 1., 2., 3.],
           [4., 5., 6., 7.]], dtype=float32)
    """
    return raw.ExtractVolumePatches(
        input, ksizes=ksizes, strides=strides, padding=padding, name=name
    )


__all__ = ["extract_volume_patches"]
