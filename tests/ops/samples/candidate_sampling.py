"""Samples of the candidate samplers."""

from tests.ops.samples import i64, sample

TRUE = i64([[1, 2], [0, 6]])
SEEDS = {"seed": 3, "seed2": 4}

for name in ("Uniform", "LogUniform", "LearnedUnigram", "ThreadUnsafeUnigram"):
    for unique in (False, True):
        sample(
            f"{name}CandidateSampler",
            true_classes=TRUE,
            num_true=2,
            num_sampled=5,
            unique=unique,
            range_max=7,
            **SEEDS,
        )
    sample(
        f"{name}CandidateSampler",
        true_classes=TRUE,
        num_true=2,
        num_sampled=300,
        unique=True,
        range_max=10000,
        **SEEDS,
        tol=1e-6,
    )
    sample(
        f"{name}CandidateSampler",
        true_classes=TRUE,
        num_true=2,
        num_sampled=9,
        unique=True,
        range_max=7,
        **SEEDS,
        error=("InvalidArgumentError", "range is too small"),
    )
    sample(
        f"{name}CandidateSampler",
        true_classes=TRUE,
        num_true=3,
        num_sampled=2,
        unique=True,
        range_max=7,
        **SEEDS,
        error=("InvalidArgumentError", "num_true columns"),
    )
sample(
    "FixedUnigramCandidateSampler",
    true_classes=TRUE,
    num_true=2,
    num_sampled=5,
    unique=False,
    range_max=7,
    unigrams=[1.0, 2.0, 3.0, 4.0, 3.0, 2.0, 1.0],
    **SEEDS,
    nondeterministic=True,
)
sample(
    "FixedUnigramCandidateSampler",
    true_classes=TRUE,
    num_true=2,
    num_sampled=5,
    unique=True,
    range_max=7,
    num_reserved_ids=1,
    distortion=0.5,
    unigrams=[2.0, 3.0, 4.0, 3.0, 2.0, 1.0],
    **SEEDS,
    nondeterministic=True,
)
sample("AllCandidateSampler", true_classes=TRUE, num_true=2, num_sampled=7, unique=True)
sample(
    "ComputeAccidentalHits", true_classes=TRUE, sampled_candidates=i64([6, 3, 1, 2, 1]), num_true=2
)
