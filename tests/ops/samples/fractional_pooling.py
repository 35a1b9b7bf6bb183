"""Samples of fractional pooling."""

from tests.ops.samples import each, f32, f64, i32, i64, sample

TYPES = ("float32", "float64", "int32", "int64")
RATIO = [1.0, 1.44, 1.73, 1.0]
SEEDS = {"deterministic": True, "seed": 3, "seed2": 5}
ONCE = "TensorFlow has no second gradient"
WINDOWS = {"row_pooling_sequence": i64([0, 2, 3, 5]), "col_pooling_sequence": i64([0, 1, 3, 5, 6])}

for name in ("Max", "Avg"):
    for options in ({}, {"overlapping": True}, {"pseudo_random": True}):
        each(
            TYPES,
            f"Fractional{name}Pool",
            value=(2, 8, 9, 2),
            pooling_ratio=RATIO,
            **SEEDS,
            **options,
            domain=(-9.0, 9.0),
            grad2=ONCE,
            tol=1e-6,
        )
    sample(
        f"Fractional{name}Pool",
        value=f32(1, 20, 20, 1),
        pooling_ratio=[1.0, 2.3, 4.0, 1.0],
        **SEEDS,
        tol=1e-6,
    )
    sample(
        f"Fractional{name}Pool",
        value=f32(1, 3, 4, 1),
        pooling_ratio=[1.0, 1.0, 4.0, 1.0],
        **SEEDS,
        tol=1e-6,
    )
    # Without seeds the windows are others each time; their number is not.
    sample(
        f"Fractional{name}Pool",
        value=f32(1, 8, 9, 1),
        pooling_ratio=RATIO,
        nondeterministic=True,
        graph="drawn anew",
    )
    for ratio, kind, text in (
        ([2.0, 1.0, 1.0, 1.0], "UnimplementedError", "batch nor channel"),
        ([1.0, 0.5, 1.0, 1.0], "InvalidArgumentError", "cannot be smaller than 1"),
        ([1.0, 9.0, 1.0, 1.0], "InvalidArgumentError", "higher than input dimension"),
    ):
        sample(
            f"Fractional{name}Pool",
            value=f32(2, 4, 4, 1),
            pooling_ratio=ratio,
            **SEEDS,
            error=(kind, text),
        )
    sample(
        f"Fractional{name}Pool",
        value=f32(1, 8, 9, 1),
        pooling_ratio=RATIO,
        seed=3,
        error=("InvalidArgumentError", "deterministic is false"),
    )

for overlapping in (False, True):
    each(
        TYPES,
        "FractionalAvgPoolGrad",
        orig_input_tensor_shape=i64([2, 5, 6, 2]),
        out_backprop=(2, 3, 4, 2),
        **WINDOWS,
        overlapping=overlapping,
        grad=ONCE,
        tol=1e-6,
    )
sample(
    "FractionalAvgPoolGrad",
    orig_input_tensor_shape=i64([2, 5, 6]),
    out_backprop=f32(2, 3, 4, 2),
    **WINDOWS,
    error=("InvalidArgumentError", "4 elements"),
)

GRID = [[[[float((5 * i + 3 * j) % 7)] for j in range(5)] for i in range(5)]]
SQUARE = {"row_pooling_sequence": i64([0, 2, 3, 5]), "col_pooling_sequence": i64([0, 1, 3, 5])}


def maxima(overlapping):
    """What `GRID` has in the windows of `SQUARE`."""
    more = int(overlapping)
    rows, columns = ([0, 2, 3, 5], [0, 1, 3, 5])
    return [
        [
            [
                [
                    max(
                        GRID[0][i][j][0]
                        for i in range(rows[r], min(rows[r + 1] + more, 5))
                        for j in range(columns[c], min(columns[c + 1] + more, 5))
                    )
                ]
                for c in range(3)
            ]
            for r in range(3)
        ]
    ]


for make in (f32, f64, i32, i64):
    for overlapping in (False, True):
        sample(
            "FractionalMaxPoolGrad",
            orig_input=make(GRID),
            orig_output=make(maxima(overlapping)),
            out_backprop=make([[[[float(3 * r + c)] for c in range(3)] for r in range(3)]]),
            **SQUARE,
            overlapping=overlapping,
            grad=ONCE,
        )
sample(
    "FractionalMaxPoolGrad",
    orig_input=f32(GRID),
    orig_output=f32(1, 3, 3, 1),
    out_backprop=f32(1, 3, 3, 1),
    **SQUARE,
    error=("InvalidArgumentError", ""),
)
