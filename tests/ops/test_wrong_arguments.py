"""Samples with one argument of another shape or value, in graphs that know nothing of the shapes.

Kernels are written for what inference has let through; where it sees no shapes, a kernel gets anything.
The error is one of `tf.errors` then, as TensorFlow's is, not what Python says of a step of ours.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.dtypes import from_numpy
from tests.ops import calls

CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "a number": lambda a: a.reshape(-1)[:1].reshape(()) if a.size else np.zeros((), a.dtype),
    "one more dimension": lambda a: a[None],
    "a last dimension": lambda a: a[..., None],
    "one less dimension": lambda a: a[0] if a.ndim and len(a) else a,
    "no elements": lambda a: a[:0] if a.ndim else np.zeros((0,), a.dtype),
    "negative": lambda a: -a - np.ones((), a.dtype) if a.dtype.kind in "if" else a,
    "twice as long": lambda a: np.concatenate([a, a]) if a.ndim else a[None],
    "transposed": lambda a: a.T,
}


def _changed(sample: Any, rng: random.Random) -> dict[str, Any] | None:
    """The sample's inputs, one of them changed; None if there is none to change."""
    inputs = calls.inputs_of(sample)
    names = [k for k, v in inputs.items() if isinstance(v, np.ndarray)]
    if not names or not all(isinstance(a, np.ndarray) for a in calls.flat([*inputs.values()])):
        return None
    name, change = rng.choice(names), rng.choice([*CHANGES.values()])
    return {**inputs, name: np.asarray(change(inputs[name]), inputs[name].dtype)}


def _run(sample: Any, inputs: dict[str, Any]) -> None:
    arrays = calls.flat([*inputs.values()])

    def call(*tensors: Any) -> Any:
        left = list(tensors)
        given = {
            k: [left.pop(0) for _ in v] if isinstance(v, list) else left.pop(0)
            for k, v in inputs.items()
        }
        return calls.call(sample, given)

    specs = [tf.TensorSpec(None, from_numpy(a.dtype)) for a in arrays]
    with np.errstate(all="ignore"):
        tf.function(call, input_signature=specs, autograph=False)(*arrays)


@pytest.mark.parametrize("part", range(8))
def test_errors_are_those_of_tensorflow(part: int) -> None:
    rng = random.Random(part)
    refused = 0
    for name in sorted(calls.ALL_SAMPLES)[part::8]:
        samples = calls.samples_of(name)
        for sample in rng.sample(samples, min(2, len(samples))):
            inputs = _changed(sample, rng)
            if inputs is None:
                continue
            try:
                _run(sample, inputs)
            except (tf.errors.OpError, NotImplementedError):
                refused += 1
            except (ValueError, TypeError) as e:
                # While the graph is recorded the classes are Python's, but the words are ours.
                assert "in user code:" in str(e) or hasattr(e, "raised_by_package"), (sample, e)
                refused += 1
    assert refused > 20


SHAPED = [
    (lambda x, p: tf.pad(x, p), [np.ones([2, 3], np.float32), np.int32(3)], "rank 2 but is rank 0"),
    (
        lambda x, a: tf.gather(x, [0], axis=a),
        [np.ones([2, 3]), np.int32([1])],
        "axis must be scalar",
    ),
    (
        lambda x, a: tf.linalg.band_part(x, a, 1),
        [np.eye(3), np.int32([1])],
        "must be scalar is not",
    ),
    (lambda x, y: tf.pow(x, y), [np.ones(3), np.ones(2)], r"Incompatible shapes: \[3\] vs. \[2\]"),
    (lambda x, y: x + y, [np.ones(3), np.ones(2)], r"Incompatible shapes: \[3\] vs. \[2\]"),
    (
        lambda x, c: tf.raw_ops.BatchToSpaceND(input=x, block_shape=[2, 1], crops=c),
        [np.ones([4, 4, 2]), np.int32([0, 0])],
        r"crops should have shape \[2, 2\] instead of \[2\]",
    ),
    (
        lambda x, s: tf.raw_ops.StridedSlice(input=x, begin=[0, 0], end=[1, 1], strides=s),
        [np.ones([4, 4, 2]), np.int32([1])],
        r"Expected begin, end, and strides to be 1D equal size tensors, but got shapes \[2\], \[2\], and \[1\]",
    ),
]


@pytest.mark.parametrize(("call", "arguments", "said"), SHAPED)
def test_what_is_said(call: Any, arguments: list[Any], said: str) -> None:
    arrays = [np.asarray(a) for a in arguments]
    specs = [tf.TensorSpec(None, from_numpy(a.dtype)) for a in arrays]
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        tf.function(call, input_signature=specs)(*arrays)
