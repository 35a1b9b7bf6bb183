"""Serialized Examples taken apart."""

from tests.ops.samples import b1, f32, i64, s, sample

X = b"\n\x0e\n\x0c\n\x01x\x12\x07\x1a\x05\n\x03\x03\x04\x05"
Y = b"\n\r\n\x0b\n\x01y\x12\x06\n\x04\n\x02ab"
NONE = {
    "names": s([]),
    "num_sparse": 0,
    "sparse_types": [],
    "ragged_value_types": [],
    "ragged_split_types": [],
    "sparse_keys": s([]),
    "ragged_keys": s([]),
}

for _given in (s([X, Y]), s([X]), s.of(X)):
    sample(
        "ParseExampleV2",
        serialized=_given,
        names=s([]),
        sparse_keys=s(["x"]),
        dense_keys=s(["q"]),
        ragged_keys=s(["y"]),
        dense_defaults=[f32([0.5, 0.25])],
        num_sparse=1,
        sparse_types=["int64"],
        ragged_value_types=["string"],
        ragged_split_types=["int32"],
        dense_shapes=[[2]],
    )
sample(
    "ParseExampleV2",
    **NONE,
    serialized=s([X]),
    dense_keys=s(["x"]),
    dense_defaults=[i64([])],
    dense_shapes=[[3]],
)
sample(
    "ParseExampleV2",
    **NONE,
    serialized=s([X]),
    dense_keys=s(["x"]),
    dense_defaults=[i64([])],
    dense_shapes=[[2]],
    error=("InvalidArgumentError", "Values size: 3 but output shape: [2]"),
)
sample(
    "ParseExampleV2",
    **NONE,
    serialized=s([Y]),
    dense_keys=s(["x"]),
    dense_defaults=[i64([])],
    dense_shapes=[[3]],
    error=("InvalidArgumentError", "is required but could not be found"),
)

# context {c: int64 [9]}, lists {l: [[1, 2], [3]]}
SEQUENCE = (
    b"\n\x0c\n\n\n\x01c\x12\x05\x1a\x03\n\x01\t\x12\x17\n\x15\n\x01l\x12\x10"
    b"\n\x06\x1a\x04\n\x02\x01\x02\n\x06\x1a\x04\n\x02\x03\x04"
)
LISTS = {
    "debug_name": s([]),
    "context_sparse_keys": s([]),
    "context_ragged_keys": s([]),
    "context_dense_keys": s(["c"]),
    "context_dense_defaults": [i64([])],
    "context_dense_shapes": [[1]],
}
for _given in (s([SEQUENCE, SEQUENCE]), s.of(SEQUENCE)):
    sample(
        "ParseSequenceExampleV2",
        **LISTS,
        serialized=_given,
        feature_list_sparse_keys=s(["l"]),
        feature_list_sparse_types=["int64"],
        Nfeature_list_sparse=1,
        feature_list_dense_keys=s([]),
        feature_list_ragged_keys=s([]),
        feature_list_dense_missing_assumed_empty=b1([]),
    )
    sample(
        "ParseSequenceExampleV2",
        **LISTS,
        serialized=_given,
        feature_list_sparse_keys=s([]),
        feature_list_dense_keys=s(["l"]),
        feature_list_dense_types=["int64"],
        Nfeature_list_dense=1,
        feature_list_dense_shapes=[[2]],
        feature_list_ragged_keys=s([]),
        feature_list_dense_missing_assumed_empty=b1([False]),
    )
sample(
    "ParseSequenceExampleV2",
    **LISTS,
    serialized=s([SEQUENCE]),
    feature_list_sparse_keys=s([]),
    feature_list_dense_keys=s(["q"]),
    feature_list_dense_types=["int64"],
    Nfeature_list_dense=1,
    feature_list_dense_shapes=[[2]],
    feature_list_ragged_keys=s([]),
    feature_list_dense_missing_assumed_empty=b1([False]),
    error=("InvalidArgumentError", "is required but could not be found"),
)
