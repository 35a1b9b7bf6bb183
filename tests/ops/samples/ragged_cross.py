"""Feature crosses of ragged, sparse and dense columns."""

from tests.ops.samples import i64, s, sample

KEY = 0xDECAFCAFFE
WORDS = {
    "ragged_values": [s(["a", "b", "c"]), i64([7, 8])],
    "ragged_row_splits": [i64([0, 1, 3]), i64([0, 2, 2])],
    "sparse_indices": [i64([[0, 0], [1, 0], [1, 1]])],
    "sparse_values": [s(["p", "q", "r"])],
    "sparse_shape": [i64([2, 2])],
    "dense_inputs": [i64([[1, 2], [3, 4]]), s([["x"], ["y"]])],
}
NONE = {
    "ragged_values": [],
    "ragged_row_splits": [],
    "sparse_indices": [],
    "sparse_values": [],
    "sparse_shape": [],
    "dense_inputs": [],
}

sample(
    "RaggedCross",
    **{
        **WORDS,
        "ragged_values": WORDS["ragged_values"][:1],
        "ragged_row_splits": WORDS["ragged_row_splits"][:1],
    },
    input_order="RSDD",
    hashed_output=False,
    num_buckets=0,
    hash_key=KEY,
    out_values_type="string",
    out_row_splits_type="int64",
)
for _buckets in (0, 10):
    sample(
        "RaggedCross",
        **WORDS,
        input_order="DRSRD",
        hashed_output=True,
        num_buckets=_buckets,
        hash_key=KEY,
        out_values_type="int64",
        out_row_splits_type="int64",
    )
sample(
    "RaggedCross",
    **NONE,
    input_order="",
    hashed_output=True,
    num_buckets=0,
    hash_key=1,
    out_values_type="int64",
    out_row_splits_type="int64",
)
sample(
    "RaggedCross",
    **{**NONE, "dense_inputs": [i64([1, 2])]},
    input_order="D",
    hashed_output=True,
    num_buckets=0,
    hash_key=1,
    out_values_type="int64",
    out_row_splits_type="int64",
    error=("InvalidArgumentError", "rank=2"),
)
sample(
    "RaggedCross",
    **{**NONE, "dense_inputs": [i64([[1]]), i64([[1], [2]])]},
    input_order="DD",
    hashed_output=True,
    num_buckets=0,
    hash_key=1,
    out_values_type="int64",
    out_row_splits_type="int64",
    error=("InvalidArgumentError", "batch dimension"),
)
