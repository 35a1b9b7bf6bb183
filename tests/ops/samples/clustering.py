"""Samples of clustering."""

from tests.ops.samples import f32, i64, sample

POINTS = f32(12, 2, lo=-3, hi=3)
for seed in (0, 1, 9, -1, (1 << 40) + 5):
    for number, retries in ((1, 0), (3, 0), (5, 1), (10, 3), (4, -1), (7, 2)):
        sample(
            "KmeansPlusPlusInitialization",
            points=POINTS,
            num_to_sample=i64.of(number),
            seed=i64.of(seed),
            num_retries_per_sample=i64.of(retries),
        )
    for count in (1, 4, 10):
        sample("KMC2ChainInitialization", distances=f32(count, lo=0, hi=4), seed=i64.of(seed))
for number, phrase in ((0, "num_to_sample > 0"), (13, "<= points.rows")):
    sample(
        "KmeansPlusPlusInitialization",
        points=POINTS,
        num_to_sample=i64.of(number),
        seed=i64.of(1),
        num_retries_per_sample=i64.of(0),
        error=("InvalidArgumentError", phrase),
    )
for k in (0, 1, 2, 5):
    sample("NearestNeighbors", points=f32(4, 3), centers=f32(3, 3), k=i64.of(k), tol=1e-5)
sample(
    "NearestNeighbors",
    points=f32([[0.0, 0.0], [1.0, 1.0]]),
    centers=f32([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]),
    k=i64.of(3),
    tol=1e-5,
)
sample(
    "NearestNeighbors",
    points=f32(0, 3),
    centers=f32(3, 3),
    k=i64.of(2),
    error=("InvalidArgumentError", "points.rows() > 0"),
)
