"""Fingerprints of tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/fingerprint.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def fingerprint(data: Any, method: Any = "farmhash64", name: str | None = None) -> Tensor:
    """Eight bytes (uint8 [n, 8]) for each row of `data`, the same everywhere and for ever.

    `data` is of any dtype and at least one dimension; the one `method` is "farmhash64". A row of
    one string has the string's own fingerprint. Raises InvalidArgumentError for a scalar and for
    another method.

    >>> tf.fingerprint(["a", "bc"]).shape
    TensorShape([2, 8])
    """
    return raw.Fingerprint(data, method, name=name)


__all__ = ["fingerprint"]
