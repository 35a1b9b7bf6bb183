"""Feature crosses of sparse and dense columns."""

from tests.ops.samples import i64, s, sample

A = i64([[0, 0], [0, 2], [1, 1]])
SHAPE = i64([2, 3])
COLUMNS = {
    "indices": [A, A],
    "values": [s(["p", "q", "r"]), i64([4, 5, 6])],
    "shapes": [SHAPE, SHAPE],
}

for _dense in ([], [i64([[7, 8], [9, 1]])], [s([["u"], ["v"]])]):
    sample("SparseCrossV2", **COLUMNS, dense_inputs=_dense, sep=s.of("_Y_"))
    for _buckets in (0, 10):
        sample(
            "SparseCross",
            **COLUMNS,
            dense_inputs=_dense,
            hashed_output=True,
            num_buckets=_buckets,
            hash_key=956888297470,
            out_type="int64",
            internal_type="int64",
        )
sample(
    "SparseCrossV2",
    **COLUMNS,
    dense_inputs=[s([["u"]])],
    sep=s.of("_Y_"),
    error=("InvalidArgumentError", "Expected batch size 2 got 1"),
)
