"""Hashes of strings: numbers of buckets that are the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import ALL, int64, uint8
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.text import native_strings
from intaglio.ops.text.hash_functions import fingerprints, murmurs, siphashes
from intaglio.ops.text.strings import filled


def _hashes(name: str, array: Any, buckets: int = 0, key: Sequence[int] = ()) -> Any:
    """Hashes in a row, modulo a number of buckets unless that is 0."""
    found = native_strings.hashes(name, array, buckets, key)
    if found is not None:
        return found
    flat = np.asarray(array).reshape(-1).tolist()
    if name == "siphash":
        found = siphashes(flat, key)
    else:
        found = fingerprints(flat) if name == "fingerprint" else murmurs(flat)
    return found % np.uint64(buckets) if buckets else found


def _buckets(name: str, array: Any, num_buckets: int, key: Sequence[int] = ()) -> np.ndarray:
    if num_buckets < 1:
        raise invalid_argument(
            f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 1"
        )
    numbers = _hashes(name, array, num_buckets, key)
    return numbers.view(np.int64).reshape(np.shape(array))


@op
class StringToHashBucketStrong(Op):
    """A keyed hash modulo the number of buckets: collisions cannot be constructed."""

    signature = "input: string; num_buckets: int, key: list(int) -> output: int64"
    differentiable = False
    batching = "leading"

    def infer(self, input: Spec, key: Any) -> Spec:
        if len(key) != 2:
            raise ShapeError("Key must have 2 elements")
        return Spec(int64, input.shape)

    def kernel(self, input, num_buckets, key):
        if len(key) != 2:
            raise invalid_argument("Key must have 2 elements")
        return _buckets("siphash", input, num_buckets, key)


@op
class StringToHashBucketFast(Op):
    """A quick hash modulo the number of buckets, the same on every machine."""

    signature = "input: string; num_buckets: int -> output: int64"
    differentiable = False
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(int64, input.shape)

    def kernel(self, input, num_buckets):
        return _buckets("fingerprint", input, num_buckets)


@op
class StringToHashBucket(Op):
    """A hash modulo the number of buckets."""

    signature = "string_tensor: string; num_buckets: int -> output: int64"
    differentiable = False

    def infer(self, string_tensor: Spec) -> Spec:
        return Spec(int64, string_tensor.shape)

    def kernel(self, string_tensor, num_buckets):
        return _buckets("murmurhash", string_tensor, num_buckets)


@op
class Fingerprint(Op):
    """Eight bytes for each row: the FarmHash fingerprint of its bytes.

    A row of one string has the string's own; one of several the fingerprint of theirs.
    """

    signature = "data: T, method: string -> fingerprint: uint8"
    T = ALL
    differentiable = False

    def infer(self, data: Spec, method: Spec) -> Spec:
        if data.rank == 0:
            raise ShapeError("Shape must be at least rank 1 but is rank 0")
        if method.rank not in (0, None):
            raise ShapeError(f"Shape must be rank 0 but is rank {method.rank}")
        count = None if data.shape is None else data.shape[0]
        return Spec(uint8, (count, 8))

    def kernel(self, data, method):
        if np.ndim(data) == 0:
            raise invalid_argument("`data` should have at least one dimension: []")
        if np.ndim(method) != 0:
            raise invalid_argument(f"`method` should be a scalar string: {list(np.shape(method))}")
        name = np.asarray(method).item()
        if name != b"farmhash64":
            raise invalid_argument(
                f"Unsupported fingerprint method: {name.decode(errors='replace')}; "
                "the method there is is 'farmhash64'"
            )
        numbers = _hashes("fingerprint", _rows_as_bytes(data)).astype("<u8", copy=False)
        return numbers.view(np.uint8).reshape(-1, 8)


def _rows_as_bytes(data: Any) -> Any:
    """What each row is hashed by: an array of bytes."""
    if data.dtype.kind == "O":
        if data.size == len(data):
            return data.reshape(-1)
        own = _hashes("fingerprint", data)
        data = own.astype("<u8", copy=False).reshape(data.shape)
    return filled([row.tobytes() for row in data], -1)
