"""Rejection resampling of datasets to a target distribution of classes.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Dataset#rejection_resample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import int64
from intaglio.data import selecting
from intaglio.opdef import convert, raw
from intaglio.runtime.random_state import op_seeds

_SMOOTHING = 10  # how often each class counts as seen before the first element


def resampled(
    dataset: Any, class_func: Callable[..., Any], target: Any, initial: Any, seed: Any
) -> Any:
    """(class, element) pairs, some of which are dropped to reach the target distribution.

    An element of class i is taken from the dataset as it is with probability m, and else from
    one in which it stays with probability a[i]: m * p + (1 - m) * a * p / sum is the target
    for the largest m, so that no more is left out than must be.
    """
    wanted = convert.to_tensor(target)
    zip_ = type(dataset).zip
    single = type(dataset.element_spec) is not tuple

    def with_class(*parts: Any) -> Any:
        return class_func(*parts), parts[0] if single else parts

    classes = dataset.map(class_func)
    pairs = dataset.map(with_class)
    if initial is None:
        shares = _estimated(classes, wanted)
    else:
        known = convert.to_tensor(initial, wanted.dtype)
        shares = type(dataset).from_tensors(known).repeat()
    odds = shares.map(lambda p: _acceptance(p, wanted))
    first, second = op_seeds(seed)

    def stays(accept: Any, pair: Any) -> Any:
        number = raw.RandomUniform(
            np.zeros(0, np.int32), dtype=wanted.dtype, seed=first, seed2=second
        )
        return raw.Less(number, raw.GatherV2(accept, pair[0], np.int32(0)))

    thinned = zip_((odds.map(lambda a, m: a), pairs)).filter(stays)
    thinned = thinned.map(lambda a, pair: pair)

    def weights(accept: Any, keep: Any) -> Any:
        return raw.Pack([keep, raw.Sub(_one(keep), keep)])

    return selecting.sampled([pairs, thinned], odds.map(weights), seed, stop=True, rerandomize=None)


def _one(like: Any) -> Any:
    return convert.to_tensor(1.0, like.dtype)


def _estimated(classes: Any, wanted: Any) -> Any:
    """The estimated distribution of classes, from the elements so far."""
    if not wanted.dims:
        raise ValueError(f"target_dist must be a vector, not of shape {wanted.shape}")
    count = wanted.dims[0]

    def seen(counts: Any, number: Any) -> Any:
        one = raw.OneHot(
            number, np.int32(count), convert.to_tensor(1, int64), convert.to_tensor(0, int64)
        )
        counts = raw.AddV2(counts, one)
        total = raw.Sum(counts, np.int32(0), keep_dims=False)
        shares = raw.RealDiv(
            raw.Cast(counts, DstT=wanted.dtype), raw.Cast(total, DstT=wanted.dtype)
        )
        return counts, shares

    return classes.scan(np.full(count, _SMOOTHING, np.int64), seen)


def _acceptance(shares: Any, wanted: Any) -> Any:
    """The acceptance probability of each class, and the share of elements accepted unconditionally."""
    tiny = convert.to_tensor(np.finfo(wanted.dtype.numpy).tiny, wanted.dtype)
    ratios = raw.RealDiv(wanted, raw.Maximum(shares, tiny))
    ratios = raw.SelectV2(raw.Greater(wanted, raw.ZerosLike(wanted)), ratios, raw.ZerosLike(ratios))
    axis = np.int32(0)
    most, least = (raw.Max(ratios, axis, keep_dims=False), raw.Min(ratios, axis, keep_dims=False))
    range = raw.Sub(most, least)
    even = raw.Equal(range, raw.ZerosLike(range))
    safe = raw.SelectV2(even, _one(range), range)
    accept = raw.RealDiv(raw.Sub(ratios, least), safe)
    return accept, least
