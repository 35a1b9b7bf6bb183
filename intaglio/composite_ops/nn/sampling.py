"""Candidate samplers of `tf.nn` and `tf.random`, and the losses that use them.

Follows https://www.tensorflow.org/api_docs/python/tf/nn/sampled_softmax_loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import int64
from intaglio.composite_ops.nn.embeddings import embedding_lookup
from intaglio.composite_ops.nn.losses import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
)
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import random_state

ZERO = np.int32(0)


def _seeds(seed: int | None) -> dict[str, Any]:
    first, second = random_state.op_seeds(seed)
    return {"seed": first, "seed2": second}


@dispatchable
def uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """(sampled classes, expected counts of `true_classes` and of the sampled ones), all equally likely.

    `true_classes` is int64 [batch, num_true]; with `unique` no class is sampled twice.

    >>> len(tf.random.uniform_candidate_sampler([[1]], 1, 3, True, 10)[0])
    3

    https://www.tensorflow.org/api_docs/python/tf/random/uniform_candidate_sampler
    """
    return raw.UniformCandidateSampler(
        convert.to_tensor(true_classes, int64),
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        **_seeds(seed),
        name=name,
    )


@dispatchable
def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """As `uniform_candidate_sampler`, with probabilities that fall as 1 / class (Zipf's law).

    https://www.tensorflow.org/api_docs/python/tf/random/log_uniform_candidate_sampler

    >>> sampled, _, _ = tf.random.log_uniform_candidate_sampler([[1]], 1, 3, True, 10)
    >>> len(set(sampled.numpy().tolist()))
    3
    """
    return raw.LogUniformCandidateSampler(
        convert.to_tensor(true_classes, int64),
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        **_seeds(seed),
        name=name,
    )


@dispatchable
def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """As `uniform_candidate_sampler`, with frequencies learned from the `true_classes` of calls.

    At first all classes are equally likely; each time that a class is a true one makes it
    likelier in later calls. Calls with the same arguments learn together, and so do the calls of
    one call site in a `tf.function`.

    >>> for _ in range(2):
    ...     _, expected, _ = tf.random.learned_unigram_candidate_sampler(
    ...         [[1]], 1, 2, False, range_max=4, seed=5
    ...     )
    ...     print(expected.numpy())
    [[0.5]]
    [[0.8]]

    https://www.tensorflow.org/api_docs/python/tf/random/learned_unigram_candidate_sampler
    """
    return raw.LearnedUnigramCandidateSampler(
        convert.to_tensor(true_classes, int64),
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        **_seeds(seed),
        name=name,
    )


@dispatchable
def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Any = (),
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """As `uniform_candidate_sampler`, with the frequencies `unigrams` or those of a file.

    Frequencies are raised to the power `distortion`. The classes drawn are not TensorFlow's
    for the same seed; their distribution is.

    `vocab_file` is a file whose lines end with a frequency; `num_reserved_ids` classes before are
    never sampled. `num_shards` and `shard` sample a part of the classes.

    https://www.tensorflow.org/api_docs/python/tf/random/fixed_unigram_candidate_sampler

    >>> sampled, _, _ = tf.random.fixed_unigram_candidate_sampler(
    ...     [[1]], 1, 3, True, 3, unigrams=[1.0, 5.0, 2.0]
    ... )
    >>> sorted(sampled.numpy().tolist())
    [0, 1, 2]
    """
    return raw.FixedUnigramCandidateSampler(
        convert.to_tensor(true_classes, int64),
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_shards=num_shards,
        num_reserved_ids=num_reserved_ids,
        shard=shard,
        unigrams=unigrams,
        **_seeds(seed),
        name=name,
    )


def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """All classes, each once: for tests of what uses the other samplers.

    https://www.tensorflow.org/api_docs/python/tf/random/all_candidate_sampler

    >>> sampled, true_counts, counts = tf.random.all_candidate_sampler([[1]], 1, 3, True)
    >>> print(sampled.numpy(), true_counts.numpy())
    [0 1 2] [[1.]]
    """
    return raw.AllCandidateSampler(
        convert.to_tensor(true_classes, int64),
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        **_seeds(seed),
        name=name,
    )


@dispatchable
def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """(rows, indices among the sampled classes, weights to add) where a sampled class is a true one.

    https://www.tensorflow.org/api_docs/python/tf/nn/compute_accidental_hits

    >>> [
    ...     x.numpy().tolist()
    ...     for x in tf.nn.compute_accidental_hits(
    ...         tf.constant([[1], [4]], tf.int64), tf.constant([4, 2, 1], tf.int64), 1
    ...     )
    ... ][:2]
    [[0, 1], [2, 0]]
    """
    return raw.ComputeAccidentalHits(
        convert.to_tensor(true_classes, int64),
        sampled_candidates,
        num_true=num_true,
        **_seeds(seed),
        name=name,
    )


def _rows_products(rows: Tensor, inputs: Tensor, num_true: int) -> Tensor:
    """The products of each input with its own `num_true` rows: [batch, num_true]."""
    size = raw.Shape(inputs)[1:]
    shape = raw.ConcatV2([np.array([-1, num_true], np.int32), size], ZERO)
    grouped = raw.Reshape(rows, shape)
    return raw.Einsum([grouped, inputs], equation="bnd,bd->bn")


def _classes(labels: Any) -> Tensor:
    labels = convert.to_tensor(labels, dtype_hint=int64)
    return labels if labels.dtype is int64 else raw.Cast(labels, DstT=int64)


def _sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_true: int,
    sampled: Any,
    remove: bool,
    seed: int | None,
) -> tuple[Tensor, Tensor]:
    """(logits, labels) of the true and the sampled classes, [batch, num_true + num_sampled]."""
    inputs = convert.to_tensor(inputs)
    candidates, true_expected, sampled_expected = (raw.StopGradient(s) for s in sampled)
    flat = raw.Reshape(labels, np.array([-1], np.int32))
    ids = raw.ConcatV2([flat, candidates], ZERO)
    tables = weights if isinstance(weights, (list, tuple)) else [weights]
    rows = embedding_lookup(tables, ids)
    offsets = embedding_lookup(biases if isinstance(biases, (list, tuple)) else [biases], ids)
    count = raw.Size(flat)
    true_logits = _rows_products(rows[:count], inputs, num_true)
    true_offsets = raw.Reshape(offsets[:count], np.array([-1, num_true], np.int32))
    true_logits = raw.AddV2(true_logits, true_offsets)
    others = raw.MatMul(inputs, rows[count:], transpose_b=True)
    others = raw.AddV2(others, offsets[count:])
    if remove:
        hits = raw.ComputeAccidentalHits(
            raw.Reshape(labels, np.array([-1, num_true], np.int32)),
            candidates,
            num_true=num_true,
            **_seeds(seed),
        )
        indices = raw.Pack([hits.indices, raw.Cast(hits.ids, DstT="int32")], axis=1)
        weight = raw.Cast(hits.weights, DstT=others.dtype)
        others = raw.TensorScatterAdd(others, indices, weight)
    kind = others.dtype
    true_logits = raw.Sub(true_logits, raw.Log(raw.Cast(true_expected, DstT=kind)))
    others = raw.Sub(others, raw.Log(raw.Cast(sampled_expected, DstT=kind)))
    logits = raw.ConcatV2([true_logits, others], np.int32(1))
    share = raw.RealDiv(raw.OnesLike(true_logits), np.asarray(num_true, kind.numpy))
    return logits, raw.ConcatV2([share, raw.ZerosLike(others)], np.int32(1))


@dispatchable
def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str | None = "nce_loss",
) -> Tensor:
    """The noise-contrastive estimation losses [batch] of `inputs` [batch, dim].

    `weights` is [num_classes, dim] or a list of parts, `biases` [num_classes], `labels`
    int64 [batch, num_true]. Classes are sampled log-uniformly unless `sampled_values` is given.

    `remove_accidental_hits` leaves out samples that are among the true classes.

    https://www.tensorflow.org/api_docs/python/tf/nn/nce_loss

    >>> loss = tf.nn.nce_loss(
    ...     tf.zeros([5, 2]),
    ...     tf.zeros([5]),
    ...     tf.constant([[1], [3]], tf.int64),
    ...     tf.ones([2, 2]),
    ...     2,
    ...     5,
    ... )
    >>> loss.shape
    TensorShape([2])
    """
    with door.level().scoped(name or "nce_loss"):
        labels = _classes(labels)
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(
                labels, num_true, num_sampled, True, num_classes
            )
        logits, targets = _sampled_logits(
            weights, biases, labels, inputs, num_true, sampled_values, remove_accidental_hits, None
        )
        losses = sigmoid_cross_entropy_with_logits(targets, logits)
        return raw.Sum(losses, np.array([1], np.int32))


@dispatchable
def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str | None = "sampled_softmax_loss",
) -> Tensor:
    """The softmax losses [batch] over the true and some sampled classes; see `nce_loss`.

    `remove_accidental_hits` leaves out samples that are among the true classes.

    https://www.tensorflow.org/api_docs/python/tf/nn/sampled_softmax_loss

    >>> loss = tf.nn.sampled_softmax_loss(
    ...     tf.zeros([5, 2]),
    ...     tf.zeros([5]),
    ...     tf.constant([[1], [3]], tf.int64),
    ...     tf.ones([2, 2]),
    ...     2,
    ...     5,
    ... )
    >>> loss.shape
    TensorShape([2])
    """
    with door.level().scoped(name or "sampled_softmax_loss"):
        labels = _classes(labels)
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(
                labels, num_true, num_sampled, True, num_classes, seed
            )
        logits, targets = _sampled_logits(
            weights, biases, labels, inputs, num_true, sampled_values, remove_accidental_hits, seed
        )
        return softmax_cross_entropy_with_logits(raw.StopGradient(targets), logits)
