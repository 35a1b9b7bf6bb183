"""Samples of gathering."""

from tests.ops.samples import ORDINARY, each, f32, f64, i16, i32, i64, s, sample

INVALID = "InvalidArgumentError"

each(ORDINARY, "GatherV2", params=(4, 3), indices=i32([[0, 3], [1, 1]]), axis=i32.of(0))
for axis in (0, 1, 2, -1):
    sample("GatherV2", params=f64(2, 3, 4), indices=i64([1, 0, 1]), axis=i64.of(axis))
sample("GatherV2", params=f64(2, 3), indices=i32.of(1), axis=i32.of(0))
sample("GatherV2", params=f64(2, 3), indices=i32([]), axis=i32.of(0))
sample("GatherV2", params=s(3), indices=i32.of(2), axis=i32.of(0))
sample("GatherV2", params=f32(3), indices=i16([2, 0]), axis=i32.of(0))
for axis, batch in ((1, 1), (2, 1), (2, 2), (-1, 1)):
    sample(
        "GatherV2",
        params=f64(2, 3, 4),
        axis=i32.of(axis),
        batch_dims=batch,
        indices=i32([[[1, 0], [0, 2], [1, 1]], [[0, 1], [2, 0], [0, 0]]]),
    )
sample("GatherV2", params=f64(2, 3), indices=i32([[0], [2]]), axis=i32.of(1), batch_dims=-1)
sample(
    "GatherV2",
    params=f32(1),
    indices=i32([1]),
    axis=i32.of(0),
    error=(INVALID, "indices[0] = 1 is not in [0, 1)"),
)
sample(
    "GatherV2",
    params=f32(3, 2),
    indices=i32([[0, 1], [-1, 5]]),
    axis=i32.of(0),
    error=(INVALID, "indices[1,0] = -1 is not in [0, 3)"),
)
sample(
    "GatherV2",
    params=f32(3, 2),
    indices=i32([0]),
    axis=i32.of(2),
    error=(INVALID, "Shape must be at least rank 3 but is rank 2"),
)
sample("Gather", params=f64(4, 3), indices=i32([2, 0, 2]))
sample("Gather", params=s(4), indices=i64([[2], [0]]))
sample(
    "Gather", params=f32(2), indices=i32([2]), error=(INVALID, "indices[0] = 2 is not in [0, 2)")
)

each(ORDINARY, "GatherNd", params=(3, 4), indices=i32([[0, 3], [2, 1]]))
sample("GatherNd", params=f64(3, 4), indices=i64([[0], [2], [0]]))
sample("GatherNd", params=f64(2, 3, 2), indices=i32([[[0, 1]], [[1, 2]]]))
sample("GatherNd", params=f64(2, 3), indices=i32([1, 2]))
sample("GatherNd", params=s(2), indices=i32([1]))
sample(
    "GatherNd",
    params=f32(3),
    indices=i32([[3]]),
    error=(INVALID, "indices[0] = [3] does not index into param shape [3]"),
)
sample(
    "GatherNd",
    params=f32(3, 2),
    indices=i32([[[0, 0], [1, 2]]]),
    error=(INVALID, "indices[0,1] = [1, 2] does not index into param shape [3,2]"),
)
sample("GatherNd", params=f32(3), indices=i32([[0, 0]]), error=(INVALID, "must be <= params rank"))
sample("GatherV2", params=f64(2, 3, 0), indices=i32([0, 2]), axis=i32.of(1))
sample(
    "GatherV2", params=f64(2, 3, 2), indices=i32([[0, 2], [1, 1]]), axis=i32.of(-2), batch_dims=1
)
