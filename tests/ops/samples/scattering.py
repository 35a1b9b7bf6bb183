"""Samples of scattering."""

from tests.ops.samples import INTEGRAL, NUMERIC, REAL, each, f32, f64, i32, i64, s, sample

INVALID = "InvalidArgumentError"
TWICE = i32([[1], [3], [1]])

each(NUMERIC, "ScatterNd", indices=i32([[1], [3], [0]]), updates=(3, 2), shape=i32([4, 2]))
each(("float32", "float64", *INTEGRAL), "ScatterNd", indices=TWICE, updates=(3,), shape=i32([4]))
sample("ScatterNd", indices=TWICE, updates=f64(3, 2), shape=i32([4, 2]))
sample("ScatterNd", indices=i64([[0, 1], [1, 0], [0, 1]]), updates=f64(3, 2), shape=i64([2, 2, 2]))
sample("ScatterNd", indices=i32([[0]]), updates=s(1), shape=i32([2]))
sample(
    "ScatterNd",
    indices=i32([[4]]),
    updates=f32(1),
    shape=i32([3]),
    error=(INVALID, "indices[0] = [4] does not index into shape [3]"),
)
sample(
    "ScatterNd",
    indices=i32([[0], [1]]),
    updates=f32(3),
    shape=i32([3]),
    error=(INVALID, "must match"),
)

for name in ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub"):
    each(NUMERIC, name, tensor=(4, 2), indices=i32([[1], [3], [0]]), updates=(3, 2))
    sample(name, tensor=f64(2, 2), indices=i64([[0, 1], [1, 0]]), updates=f64(2))
    sample(
        name,
        tensor=f32(3),
        indices=i32([[3]]),
        updates=f32(1),
        error=(INVALID, "indices[0] = [3] does not index into shape [3]"),
    )
sample("TensorScatterUpdate", tensor=s(3), indices=i32([[1]]), updates=s(1))
sample("TensorScatterAdd", tensor=f64(4, 2), indices=TWICE, updates=f64(3, 2))
sample("TensorScatterSub", tensor=f64(4), indices=TWICE, updates=f64(3))
for name in ("TensorScatterMin", "TensorScatterMax"):
    each(REAL, name, tensor=(4, 2), indices=i32([[1], [3], [0]]), updates=(3, 2))
    sample(name, tensor=f64(4), indices=TWICE, updates=f64(3))
sample("ScatterNdNonAliasingAdd", input=f64(4), indices=TWICE, updates=f64(3))
sample("ScatterNdNonAliasingAdd", input=f32(2, 2), indices=i32([[1]]), updates=f32(1, 2))
