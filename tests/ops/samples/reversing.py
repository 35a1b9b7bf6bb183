"""Samples of reversing and rolling."""

from tests.ops.samples import ORDINARY, each, f32, f64, i32, i64, sample

INVALID = "InvalidArgumentError"

each(ORDINARY, "ReverseV2", tensor=(2, 3), axis=i32([1]))
sample("ReverseV2", tensor=f64(2, 3, 2), axis=i64([0, -1]))
sample("ReverseV2", tensor=f64(2), axis=i32([]))
sample("ReverseV2", tensor=f32(2, 2), axis=i32([2]), error=(INVALID, "out of valid range"))
sample("ReverseV2", tensor=f32(2, 2), axis=i32([0, 0]), error=(INVALID, "specified more than once"))
each(ORDINARY, "ReverseSequence", input=(3, 4), seq_lengths=i64([0, 2, 4]), seq_dim=1, batch_dim=0)
sample("ReverseSequence", input=f64(4, 2, 3), seq_lengths=i32([3, 1]), seq_dim=0, batch_dim=1)
sample("ReverseSequence", input=f64(2, 2, 3), seq_lengths=i32([3, 2]), seq_dim=2)
sample(
    "ReverseSequence",
    input=f32(2, 3),
    seq_lengths=i32([4, 1]),
    seq_dim=1,
    error=(INVALID, "seq_lens(0) > input.dims(1)"),
)
sample(
    "ReverseSequence",
    input=f32(2, 3),
    seq_lengths=i32([1, 1, 1]),
    seq_dim=1,
    error=(INVALID, "(3 vs. 2)"),
)
each(ORDINARY, "Roll", input=(3, 4), shift=i32.of(1), axis=i32.of(1))
sample("Roll", input=f64(3, 4), shift=i64([1, -6]), axis=i64([0, -1]))
sample("Roll", input=f64(5), shift=i32([1, 2]), axis=i32([0, 0]))
sample("Roll", input=f32(3), shift=i32.of(1), axis=i32.of(1), error=(INVALID, "axis"))
