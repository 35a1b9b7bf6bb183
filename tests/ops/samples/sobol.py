"""Samples of Sobol's sequence."""

from tests.ops.samples import i32, sample

for dtype in ("float32", "float64"):
    for dim, count, skip in ((1, 9, 0), (3, 8, 1), (40, 20, 1000), (2100, 2, 5), (21200, 1, 77777)):
        sample(
            "SobolSample",
            dim=i32.of(dim),
            num_results=i32.of(count),
            skip=i32.of(skip),
            dtype=dtype,
            ulp=0,
        )
for dim, count, skip, text in (
    (0, 1, 0, "dim must be at least one"),
    (21201, 1, 0, "dim must be at most 21200"),
    (1, 0, 0, "num_results must be at least one"),
    (1, 1, -1, "skip must be non-negative"),
):
    sample(
        "SobolSample",
        dim=i32.of(dim),
        num_results=i32.of(count),
        skip=i32.of(skip),
        error=("InvalidArgumentError", text),
    )
