"""Samples of concatenation, packing and splitting."""

from tests.ops.samples import ORDINARY, each, f32, f64, i8, i32, i64, s, sample

INVALID = "InvalidArgumentError"

each(ORDINARY, "ConcatV2", values=[(2, 3), (1, 3)], axis=i32.of(0))
sample("ConcatV2", values=[f64(2, 1), f64(2, 3), f64(2, 0)], axis=i64.of(-1))
sample("ConcatV2", values=[i32([1, 2]), i32([3])], axis=i32.of(0))
sample("ConcatV2", values=[s(0), s(2)], axis=i32.of(0))
sample(
    "ConcatV2",
    values=[f32(2, 3), f32(2, 4)],
    axis=i32.of(0),
    error=(
        INVALID,
        "Dimension 1 in both shapes must be equal: shape[0] = [2,3] vs. shape[1] = [2,4]",
    ),
)
sample(
    "ConcatV2",
    values=[f32(2, 3), f32(2)],
    axis=i32.of(0),
    error=(INVALID, "Ranks of all input tensors should match: shape[0] = [2,3] vs. shape[1] = [2]"),
)
sample(
    "ConcatV2",
    values=[f32(2, 3), f32(2, 3)],
    axis=i32.of(2),
    error=(INVALID, "Expected concatenating dimensions in the range [-2, 2), but got 2"),
)
sample("Concat", concat_dim=i32.of(1), values=[f64(2, 1), f64(2, 2)])
sample("Concat", concat_dim=i32.of(0), values=[s(2), s(1)])
sample("ConcatOffset", concat_dim=i32.of(1), shape=[i32([2, 2]), i32([2, 3])])
sample("ConcatOffset", concat_dim=i32.of(0), shape=[i32([2, 7]), i32([3, 7]), i32([5, 7])])
sample("ConcatOffset", concat_dim=i32.of(-1), shape=[i32([2, 2]), i32([2, 3])])

each(ORDINARY, "Pack", values=[(2, 3), (2, 3)])
sample("Pack", values=[f64(2, 3), f64(2, 3), f64(2, 3)], axis=1)
sample("Pack", values=[f64(2), f64(2)], axis=-1)
sample("Pack", values=[s(), s()])
sample("Pack", values=[i32.of(3)])
sample(
    "Pack",
    values=[f32(2), f32(3)],
    error=(
        INVALID,
        "Shapes of all inputs must match: values[0].shape = [2] != values[1].shape = [3]",
    ),
)
sample("Pack", values=[f32(2), f32(2)], axis=2, error=(INVALID, "2 not in [-2, 2)"))

each(ORDINARY, "Unpack", value=(2, 3), num=2)
sample("Unpack", value=f64(2, 3), num=3, axis=1)
sample("Unpack", value=f64(2, 3), num=3, axis=-1)
sample("Unpack", value=s(2), num=2)
sample("Unpack", value=f32(0, 2), num=0)
sample("Unpack", value=f32(2), num=3, error=(INVALID, "must equal 3, got shape [2]"))

each(ORDINARY, "Split", axis=i32.of(1), value=(2, 4), num_split=2)
sample("Split", axis=i32.of(0), value=f64(3), num_split=3)
sample("Split", axis=i32.of(-1), value=f64(2, 2), num_split=1)
sample(
    "Split",
    axis=i32.of(0),
    value=f32(3),
    num_split=2,
    error=(
        INVALID,
        "Number of ways to split should evenly divide the split dimension, but got split_dim 0 (size = 3) and num_split 2",
    ),
)
sample(
    "Split",
    axis=i32.of(1),
    value=f32(3),
    num_split=2,
    error=(INVALID, "<= split_dim < input rank (1), but got 1"),
)

each(ORDINARY, "SplitV", value=(4, 2), size_splits=i64([1, 3]), axis=i32.of(0), num_split=2)
sample("SplitV", value=f64(2, 5), size_splits=i32([2, -1, 0]), axis=i32.of(-1), num_split=3)
sample("SplitV", value=f64(5), size_splits=i8([2, 3]), axis=i32.of(0), num_split=2)
sample(
    "SplitV",
    value=f32(4),
    size_splits=i32([1, 2]),
    axis=i32.of(0),
    num_split=2,
    error=(
        INVALID,
        "Determined shape must either match input shape along split_dim exactly if fully specified",
    ),
)
sample(
    "ParallelConcat",
    values=[f64(1, 2), f64(1, 2)],
    shape=[2, 2],
    parity="the op's place is taken by others before TensorFlow runs it",
)
