"""Samples of the ops that arrange the same elements otherwise."""

from tests.ops.samples import ORDINARY, c64, c128, each, f32, f64, i32, i64, sample

INVALID = "InvalidArgumentError"

each(ORDINARY, "Reshape", tensor=(2, 3), shape=i32([3, 2]))
sample("Reshape", tensor=f64(2, 3, 4), shape=i64([-1, 6]))
sample("Reshape", tensor=f32(1), shape=i32([]))
sample("Reshape", tensor=f32(0, 3), shape=i32([5, 0]))
sample("Reshape", tensor=f32(0, 3), shape=i32([-1, 3]))
sample("Reshape", tensor=f32(0, 4, 5), shape=i32([0, -1]))
sample("Reshape", tensor=f32(0, 4, 5), shape=i64([-1, 0]))
sample("Reshape", tensor=f32(3, 0, 7), shape=i32([2, 0, -1]))
sample("Reshape", tensor=f32(2, 3), shape=i32([0, -1]), error=(INVALID, "has 0"))
sample(
    "Reshape",
    tensor=f32(3),
    shape=i32([4]),
    error=(INVALID, "Input to reshape is a tensor with 3 values, but the requested shape has 4"),
)
sample(
    "Reshape",
    tensor=f32(3),
    shape=i32([-1, 2]),
    error=(INVALID, "3 values, but the requested shape requires a multiple of 2"),
)
sample("Reshape", tensor=f32(4), shape=i32([-1, -1]), error=(INVALID, "-1, not both 0 and 1"))
sample("Reshape", tensor=f32(4), shape=i32([-2, -2]), error=(INVALID, "-2"))

each(ORDINARY, "ExpandDims", input=(2, 3), axis=i32.of(1))
for axis in (0, 2, -1, -3):
    sample("ExpandDims", input=f64(2, 3), axis=i64.of(axis))
sample("ExpandDims", input=f32(), axis=i32.of(0))
sample(
    "ExpandDims",
    input=f32(2, 3),
    axis=i32.of(3),
    error=(INVALID, "Tried to expand dim index 3 for tensor with 2 dimensions"),
)

each(ORDINARY, "Squeeze", input=(1, 3, 1))
sample("Squeeze", input=f64(1, 3, 1), axis=[0])
sample("Squeeze", input=f64(1, 3, 1), axis=[-1])
sample("Squeeze", input=f64(1, 1), axis=[0, 1])
sample("Squeeze", input=f32(2))
sample(
    "Squeeze",
    input=f32(1, 3),
    axis=[1],
    error=(INVALID, "Can not squeeze dim[1], expected a dimension of 1, got 3"),
)
sample(
    "Squeeze",
    input=f32(1, 3),
    axis=[2],
    error=(INVALID, "Tried to squeeze dim index 2 for tensor with 2 dimensions"),
)

each(ORDINARY, "Transpose", x=(2, 3), perm=i32([1, 0]))
sample("Transpose", x=f64(2, 3, 4), perm=i64([2, 0, 1]))
sample("Transpose", x=f32(), perm=i32([]))
sample("Transpose", x=f32(2, 0, 3), perm=i32([1, 2, 0]))
sample("Transpose", x=f32(2, 3), perm=i32([0]), error=(INVALID, "vector of size"))
sample("Transpose", x=f32(2, 3), perm=i32([0, 0]), error=(INVALID, "1 is missing"))
sample("Transpose", x=f32(2, 3), perm=i32([0, 5]), error=(INVALID, "5 is out of range"))
each(ORDINARY, "ConjugateTranspose", x=(2, 3), perm=i32([1, 0]))
sample("ConjugateTranspose", x=f64(2, 3, 2), perm=i32([2, 1, 0]))
sample("ConjugateTranspose", x=c128(2, 2, 2), perm=i32([0, 2, 1]))
sample("ConjugateTranspose", x=c64(2, 2), perm=i64([1, 0]))

each(ORDINARY, "BroadcastTo", input=(2, 1, 3), shape=i32([2, 4, 3]))
sample("BroadcastTo", input=f64(3), shape=i64([2, 3]))
sample("BroadcastTo", input=f64(), shape=i32([2, 2]))
sample("BroadcastTo", input=f64(2), shape=i32([2]))
sample("BroadcastTo", input=f32(1), shape=i32([0]))
sample(
    "BroadcastTo", input=f32(2), shape=i32([3]), error=(INVALID, "Incompatible shapes: [2] vs. [3]")
)

UNTILED = ("uint16",)
each([t for t in ORDINARY if t not in UNTILED], "Tile", input=(2, 3), multiples=i32([2, 1]))
each(
    UNTILED,
    "Tile",
    input=(2, 3),
    multiples=i32([2, 1]),
    parity="TensorFlow has no kernel for the type",
)
sample("Tile", input=f64(2, 1), multiples=i64([1, 3]))
sample("Tile", input=f64(2), multiples=i32([0]))
sample("Tile", input=f64(), multiples=i32([]))
sample(
    "Tile",
    input=f32(2, 3),
    multiples=i32([2]),
    error=(INVALID, "Expected multiples argument to be a vector of length 2 but got length 1"),
)
sample(
    "Tile",
    input=f32(2),
    multiples=i32([-1]),
    error=(INVALID, "Expected multiples[0] >= 0, but got -1"),
)

sample("InvertPermutation", x=i32([3, 0, 2, 1]))
sample("InvertPermutation", x=i64([]))
sample("InvertPermutation", x=i32([0, 2]), error=(INVALID, "2 is not between 0 and 2"))
sample("InvertPermutation", x=i32([0, 0]), error=(INVALID, "0 is duplicated"))
