"""The state of a `tf.random.Generator`: read and moved on in one step.

The state is a variable of int64: two counters, low half first, and for Philox a key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.random.algorithm import Algorithm
from intaglio.ops.random.philox import MASK64, RESERVED

MASK32 = (1 << 32) - 1
STATE_SIZE = 3


@op
class RngReadAndSkip(Op):
    """The state; advances it by `delta` numbers."""

    signature = "resource: resource, alg: int32, delta: uint64 -> value: int64"
    stateful = True
    differentiable = False

    def infer(self, alg: Spec, delta: Spec) -> Spec:
        for spec in (alg, delta):
            if spec.rank not in (None, 0):
                raise ShapeError(f"Shape must be rank 0 but is rank {spec.rank}")
        return Spec(int64, (STATE_SIZE,))

    def kernel(self, resource, alg, delta):
        return moved_on(resource, int(alg), int(delta))


def moved_on(resource: Any, algorithm: int, numbers: int) -> np.ndarray:
    """The state of a generator; advances it by that many numbers."""
    if algorithm not in (Algorithm.PHILOX.value, Algorithm.AUTO_SELECT.value):
        raise invalid_argument(f"Unsupported algorithm id: {algorithm}")
    before: list[np.ndarray] = []

    def skip(state: np.ndarray) -> None:
        _check_state(state)
        before.append(state.copy())
        words = state.view(np.uint64)
        words[0], words[1] = _advanced(int(words[0]), int(words[1]), numbers * RESERVED & MASK64)

    with resource.lock:
        resource.modify(skip)
    return before[0]


def _advanced(low: int, high: int, count: int) -> tuple[int, int]:
    """A counter of two words, `count` blocks later, by additions of 32 bits as TensorFlow does them.

    A carry into the upper half of `count` is lost to the second word if that half overflows: so
    negative counts, which are large ones, go back.
    """
    half = count >> 32
    if (low & MASK32) + (count & MASK32) > MASK32:
        half = half + 1 & MASK32
    if (low >> 32) + half > MASK32:
        high = high + 1 & MASK64
    return low + count & MASK64, high


def _check_state(state: np.ndarray) -> None:
    if state.dtype != np.int64 or state.ndim != 1 or len(state) < STATE_SIZE:
        raise invalid_argument(
            "The state of a generator must be a vector of int64 with at least "
            f"{STATE_SIZE} elements, not {state.dtype} of shape {list(state.shape)}"
        )
