"""Samples of blocks moved between space, depth and batch."""

from tests.ops.samples import REAL, each, f32, f64, i32, i64, s, sample

INVALID = "InvalidArgumentError"
NONE = i32([[0, 0], [0, 0]])
STRINGS = "TensorFlow has no kernel for strings"
NCHW = "TensorFlow's CPU kernel takes NHWC only"

each(REAL, "SpaceToDepth", input=(1, 4, 6, 2), block_size=2)
sample("SpaceToDepth", input=f64(2, 2, 4, 1), block_size=2)
sample("SpaceToDepth", input=f64(1, 2, 4, 4), block_size=2, data_format="NCHW", parity=NCHW)
sample("SpaceToDepth", input=f32(1, 3, 4, 1), block_size=2, error=(INVALID, "divisible"))
each(REAL, "DepthToSpace", input=(1, 2, 3, 8), block_size=2)
sample("DepthToSpace", input=f64(2, 1, 2, 9), block_size=3)
sample("DepthToSpace", input=f64(1, 8, 2, 2), block_size=2, data_format="NCHW", parity=NCHW)
sample("DepthToSpace", input=f32(1, 3, 4, 3), block_size=2, error=(INVALID, "divisible"))
each(REAL, "SpaceToBatchND", input=(1, 4, 2, 1), block_shape=i32([2, 2]), paddings=NONE)
sample("SpaceToBatchND", input=f64(2, 3, 2), block_shape=i64([2]), paddings=i64([[1, 2]]))
sample(
    "SpaceToBatchND", input=f64(2, 4, 6, 2), block_shape=i32([2, 3]), paddings=i32([[0, 2], [1, 2]])
)
sample("SpaceToBatchND", input=s(1, 2, 2), block_shape=i32([2, 2]), paddings=NONE, parity=STRINGS)
sample(
    "SpaceToBatchND",
    input=f32(1, 3, 2),
    block_shape=i32([2, 2]),
    paddings=NONE,
    error=(INVALID, "is not divisible by block_shape[0]=2"),
)
each(REAL, "BatchToSpaceND", input=(4, 2, 1, 1), block_shape=i32([2, 2]), crops=NONE)
sample("BatchToSpaceND", input=f64(4, 3, 2), block_shape=i64([2]), crops=i64([[1, 2]]))
sample(
    "BatchToSpaceND", input=f64(6, 2, 2, 2), block_shape=i32([2, 3]), crops=i32([[0, 2], [1, 2]])
)
sample(
    "BatchToSpaceND",
    input=f32(3, 2, 2),
    block_shape=i32([2, 2]),
    crops=NONE,
    error=(INVALID, "divisible"),
)
sample("SpaceToBatch", input=f64(1, 2, 4, 2), paddings=i32([[0, 0], [1, 1]]), block_size=2)
sample("BatchToSpace", input=f64(4, 1, 3, 2), crops=i32([[0, 0], [1, 1]]), block_size=2)
