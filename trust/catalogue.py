"""The ops of the catalogue that random programs call, each with the samples that calls are like."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio import tf
from tests.ops import calls

MAX_ELEMENTS = 600
# Ops of the catalogue whose results two correct implementations need not share: those that are
# unique up to signs; exp(x) - 1 as TensorFlow computes it, which loses its digits near zero; and
# results that nobody uses, which are scalars where TensorFlow infers [0].
NOT_UNIQUE = {
    "Svd", "SelfAdjointEigV2", "Eig", "Qr", "Elu", "Selu",
    "FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3",
}  # fmt: skip
# Those whose inputs are results of each other: what others give is not defined.
CONSISTENT = {
    "MaxPoolGrad", "MaxPoolGradV2", "MaxPoolGradGrad", "MaxPoolGradGradV2", "MaxPool3DGrad",
    "MaxPool3DGradGrad", "LRNGrad", "FractionalMaxPoolGrad", "_ReluMaxPoolGrad",
}  # fmt: skip

Sampled = list[tuple[str, list[Any]]]


@functools.cache
def pure() -> Sampled:
    """Ops without effects, and their samples of numbers; results may be strings."""
    return _found(lambda s: not _op(s).stateful and not _given_strings(s))


@functools.cache
def numeric() -> Sampled:
    """Ops that are the same whenever they run, and their samples of numbers alone."""
    return _found(lambda s: _is_repeatable(s) and not _has_strings(s))


@functools.cache
def textual() -> Sampled:
    """Ops that are the same whenever they run, and their samples with strings."""
    return _found(lambda s: _is_repeatable(s) and _has_strings(s))


def has_noise(name: str) -> bool:
    """Whether some inputs make the op draw numbers that no seed decides."""
    return any(s.nondeterministic for s in calls.samples_of(name))


@functools.cache
def sorted_inputs(name: str) -> frozenset[str]:
    """The inputs that are in order in all samples of an op: most such ops rely on it."""
    given = [calls.inputs_of(s) for s in calls.samples_of(name) if not s.error]
    arrays = {key: [g[key] for g in given if key in g] for key in calls.CATALOGUE[name].input_names}
    return frozenset([key for key, found in arrays.items() if _in_order(found)])


def _in_order(arrays: list[Any]) -> bool:
    rows = [a for a in arrays if isinstance(a, np.ndarray) and a.ndim and a.dtype.kind in "iuf"]
    grow = [a for a in rows if a.shape[-1] > 2 and np.any(a[..., 1:] > a[..., :-1])]
    return bool(grow) and all(np.all(a[..., 1:] >= a[..., :-1]) for a in rows)


def _found(fits: Callable[[Any], bool]) -> Sampled:
    found: Sampled = []
    for name in calls.NAMES:
        if name in calls.UNSAMPLED or name in NOT_UNIQUE or name.startswith("_"):
            continue
        op = calls.CATALOGUE[name]
        if op.reaches_outside or not op.sig.outputs or not hasattr(tf.raw_ops, name):
            continue
        samples = [s for s in calls.samples_of(name) if not s.error and _is_small(s) and fits(s)]
        if samples:
            found.append((name, samples))
    return found


def _op(sample: Any) -> Any:
    return calls.CATALOGUE[sample.op]


def _is_repeatable(sample: Any) -> bool:
    return not (_op(sample).is_random or sample.nondeterministic)


def _arrays(sample: Any) -> list[Any]:
    return calls.flat(list(calls.inputs_of(sample).values()))


def _is_small(sample: Any) -> bool:
    return all(isinstance(a, np.ndarray) and a.size <= MAX_ELEMENTS for a in _arrays(sample))


def _given_strings(sample: Any) -> bool:
    return any(a.dtype.kind == "O" for a in _arrays(sample))


def _has_strings(sample: Any) -> bool:
    given = calls.flat(list(calls.attrs_of(sample).values()))
    returned = [output.dtype for output in _op(sample).sig.outputs]
    return _given_strings(sample) or any(value is tf.string for value in [*given, *returned])
