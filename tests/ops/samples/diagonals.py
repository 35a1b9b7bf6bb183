"""Samples of diagonals and bands."""

from tests.ops.samples import NUMERIC, c64, c128, each, f32, f64, i32, i64, of, s, sample

INVALID = "InvalidArgumentError"
ALIGNS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")

for lower, upper in ((1, 0), (-1, 1), (0, -1)):
    each(
        (*NUMERIC, "bool"),
        "MatrixBandPart",
        input=(3, 4),
        num_lower=i64.of(lower),
        num_upper=i64.of(upper),
    )
sample("MatrixBandPart", input=f64(2, 3, 2), num_lower=i32.of(1), num_upper=i32.of(1))
sample(
    "MatrixBandPart",
    input=f32(2, 2),
    num_lower=i32.of(5),
    num_upper=i32.of(0),
    error=(INVALID, "num_lower must be negative or less or equal to number of rows (2) got: 5"),
)
each(NUMERIC, "MatrixDiagPartV3", wrt=("input",), input=(2, 3, 4), k=i32.of(0), padding_value=of(0))
for align in ALIGNS:
    sample(
        "MatrixDiagPartV3",
        wrt=("input",),
        input=f64(2, 3, 4),
        k=i32([-2, 2]),
        padding_value=f64.of(9),
        align=align,
    )
    sample(
        "MatrixDiagPartV3",
        wrt=("input",),
        input=f64(4, 3),
        k=i32([-1, 1]),
        padding_value=f64.of(0),
        align=align,
    )
    sample(
        "MatrixDiagV3",
        wrt=("diagonal",),
        diagonal=f64(2, 3, 4),
        k=i32([-1, 1]),
        num_rows=i32.of(4),
        num_cols=i32.of(4),
        padding_value=f64.of(0.5),
        align=align,
    )
    sample("MatrixSetDiagV3", input=f64(3, 4), diagonal=f64(3, 3), k=i32([-1, 1]), align=align)
sample("MatrixDiagPartV3", wrt=("input",), input=f64(3, 3), k=i32([1]), padding_value=f64.of(0))
sample(
    "MatrixDiagPartV3",
    input=f32(3, 3),
    k=i32([1, 0]),
    padding_value=f32.of(0),
    error=(INVALID, "must not be larger than"),
)
each(
    NUMERIC,
    "MatrixDiagV3",
    wrt=("diagonal",),
    diagonal=(2, 3),
    k=i32.of(0),
    num_rows=i32.of(-1),
    num_cols=i32.of(-1),
    padding_value=of(0),
)
for rows, columns in ((-1, -1), (4, -1), (-1, 5)):
    sample(
        "MatrixDiagV3",
        wrt=("diagonal",),
        diagonal=f64(3),
        k=i32.of(1),
        num_rows=i32.of(rows),
        num_cols=i32.of(columns),
        padding_value=f64.of(-1),
    )
each(NUMERIC, "MatrixSetDiagV3", input=(2, 3, 4), diagonal=(2, 3), k=i32.of(0))
sample(
    "MatrixSetDiagV3", input=f32(3, 3), diagonal=f32(2), k=i32.of(0), error=(INVALID, "diagonal")
)
each(NUMERIC, "MatrixDiag", diagonal=(2, 3))
each(NUMERIC, "MatrixDiagPart", input=(2, 3, 4))
each(NUMERIC, "MatrixSetDiag", input=(2, 3, 4), diagonal=(2, 3))
sample("Diag", diagonal=f64(3))
sample("Diag", diagonal=f64(2, 2))
sample("Diag", diagonal=c64(2))
sample("Diag", diagonal=i32(2))
sample("DiagPart", input=f64(3, 3))
sample("DiagPart", input=f64(2, 3, 2, 3))
sample("DiagPart", input=c128(2, 2))
sample("DiagPart", input=f32(2, 3), error=(INVALID, "2"))
sample("MatrixDiagPart", input=s(2, 2), parity="no kernel for strings")
each(NUMERIC, "MatrixDiagPartV2", wrt=("input",), input=(2, 3, 4), k=i32.of(0), padding_value=of(0))
sample(
    "MatrixDiagPartV2", wrt=("input",), input=f64(2, 3, 4), k=i32([-1, 2]), padding_value=f64.of(7)
)
